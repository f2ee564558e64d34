import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Command, Errors, Flags } from '@oclif/core';
import { fingerprintIn, shownFingerprint } from '../../shared/certificates/fingerprint.ts';
import { ApiError, codeOf, messageOf } from '../../shared/errors.ts';
import { KnownNodes, knownNodesFile } from '../../shared/http/known-nodes.ts';
import {
  namedNode,
  type ReachedNode,
  reachNode,
  type Stranger,
  Untrusted,
} from '../../shared/http/reach-node.ts';
import type { Paths } from '../../shared/paths.ts';
import { plainText } from '../../shared/plain-text.ts';
import type { OnProgress, Progress } from '../../shared/routes/handler.ts';
import type { Answer, RequestOf, Route } from '../../shared/routes/typed-row.ts';
import {
  type Ask,
  callNode,
  type NodeAddress,
  noAnswer,
  streamNode,
  workNode,
} from '../client/local-client.ts';
import { demoFolder, nodePaths } from '../places.ts';
import { terminalLine } from '../terminal/terminal-line.ts';
import { EXIT } from './exit-codes.ts';
import { personWords } from './person-words.ts';

/** The ground station on this machine, for --via. */
const HERE = 'here';
const CLEAR_LINE = '\r\u001b[K';

/** Names another demo node of this checkout. */
export const demoFlag = Flags.custom({
  parse: async (name) => {
    if (/^[a-z][a-z0-9-]*(?:\/[a-z][a-z0-9-]*)?$/.test(name) && existsSync(join(demoFolder(name), 'etc')))
      return Promise.resolve(name);
    throw new Errors.CLIError(
      `There is no demo node ${name} here. \`npm run start:ground\` makes the node ground, \`npm run start:pair\` makes pair/drone and pair/ground.`,
      { exit: EXIT.usage },
    );
  },
})({
  summary: 'another demo node of this checkout: ground, pair/drone, pair/ground',
  helpGroup: 'GLOBAL',
  exclusive: ['host'],
});

/** Of what changes the node in a way that it refuses while the vehicle is armed. */
export const forceFlag = {
  force: Flags.boolean({ summary: 'also while the vehicle is armed', default: false }),
};

/** What a request says besides its route, as the row has it; left out where the row needs nothing. */
export type Asking<R extends Route> =
  object extends RequestOf<R> ? readonly [ask?: Checked<R>] : readonly [ask: Checked<R>];
type Checked<R extends Route> = RequestOf<R> & Omit<Ask, 'params' | 'query' | 'body'>;

/** What of oclif's parser keeps the order. */
interface Typed {
  readonly raw: readonly { readonly type: 'arg' | 'flag'; readonly input: string }[];
  readonly nonExistentFlags: readonly string[];
}

/**
 * A command about a node: the one on this machine, or with --host another one. Exit codes: exit-codes.ts.
 */
export abstract class NodeCommand extends Command {
  static override enableJsonFlag = true;
  static override baseFlags = {
    host: Flags.string({
      summary: 'another node: name or address, with a port if it is not 8080; or https://…, http://…',
      helpGroup: 'GLOBAL',
    }),
    fingerprint: Flags.string({
      summary: 'of a node that is reached the first time; on it: svc node fingerprint',
      helpValue: 'SHA256',
      helpGroup: 'GLOBAL',
    }),
    key: Flags.string({ summary: 'its pairing key', env: 'SVC_KEY', helpGroup: 'GLOBAL' }),
    demo: demoFlag,
    via: Flags.string({
      summary: 'a drone behind its ground station: GROUND/DEVICE, or GROUND for its active drone',
      description:
        'GROUND is the name or address of the ground station, with a port if it is not 8080, or `here` for the one on this machine. The key is that of the ground station.',
      helpValue: 'GROUND[/DEVICE]',
      helpGroup: 'GLOBAL',
      exclusive: ['host'],
    }),
  };
  #address: NodeAddress | null = null;
  #name: string | null = null;
  #fingerprint: string | null = null;
  /** The nodes that this person knows. */
  protected readonly known = new KnownNodes(knownNodesFile(homedir()));

  protected get paths(): Paths {
    return nodePaths(process.env, this.#name);
  }

  /** Asks for a row, by its route. @throws ApiError as callNode */
  protected async call<R extends Route>(route: R, ...[ask]: Asking<R>): Promise<Answer<R>> {
    return callNode(this.address, route, ask);
  }

  /** Long work: shows its progress on a terminal until the answer is there. @throws ApiError as callNode */
  protected async work<R extends Route>(route: R, ...[ask]: Asking<R>): Promise<Answer<R>> {
    return shownWork(this.address, route, ask);
  }

  /** The answer's bytes as they come. */
  protected stream<R extends Route>(route: R, ...[ask]: Asking<R>): AsyncGenerator<Buffer> {
    return streamNode(this.address, route, ask);
  }

  /** Whether --host or --via names the node; files on this machine are then of no use. */
  protected get isElsewhere(): boolean {
    return this.#address !== null;
  }

  protected get address(): NodeAddress {
    return this.#address ?? { socketPath: this.paths.controlSocket };
  }

  /** Every command has the flags with the address of the node. */
  override async init(): Promise<void> {
    await super.init();
    const { flags: own, args, strict } = this.ctor;
    // oclif would take an argument that is not there from stdin, and swallow the rest of the script that the command is in.
    for (const arg of Object.values(args)) arg.ignoreStdin = true;
    const { flags } = await this.parse({
      flags: own,
      args,
      strict,
      baseFlags: NodeCommand.baseFlags,
      enableJsonFlag: true,
    });
    const { host, key, demo, via, fingerprint }: { readonly [name: string]: string | undefined } = flags;
    this.#name = demo ?? null;
    this.#fingerprint = fingerprint ?? null;
    if (host !== undefined) this.#address = await this.#remote('--host', host, key ?? null);
    if (via !== undefined) this.#address = await this.#behind(via, key ?? null);
  }

  /**
   * The free arguments, as they were typed. `argv` of oclif is sorted by the first place of each text, so that of equal ones the
   * others move; a test forbids it.
   */
  protected typed({ raw, nonExistentFlags }: Typed): readonly string[] {
    const [stray] = nonExistentFlags;
    if (stray !== undefined)
      this.error(`There is no flag ${stray}; an argument that begins with - goes after --`, {
        exit: EXIT.usage,
      });
    return raw.flatMap(({ type, input }) => (type === 'arg' ? [input] : []));
  }

  /** The address of a drone behind its ground station. @throws ApiError as callNode */
  async #behind(via: string, key: string | null): Promise<NodeAddress> {
    const [ground = '', device, ...more] = via.split('/');
    if (more.length > 0 || device === '')
      this.error(`--via ${via} is not GROUND or GROUND/DEVICE`, { exit: EXIT.usage });
    const station = ground === HERE ? this.address : await this.#remote('--via', ground, key);
    if (device !== undefined) return { ...station, drone: device };
    const { active } = await callNode(station, 'GET /api/v1/ground-station/drones');
    if (active === null)
      throw new ApiError(
        'E_NOT_FOUND',
        `The ground station has no active drone. Name one of \`svc gs drones\`: --via ${ground}/DEVICE`,
      );
    return { ...station, drone: active };
  }

  async #remote(flag: string, text: string, key: string | null): Promise<NodeAddress> {
    return { ...(await this.reach(flag, text)), key, known: this.known };
  }

  /**
   * How a node is spoken to that the person names.
   * @param always by HTTPS also on this machine
   * @throws Untrusted; ApiError E_UPSTREAM_DOWN if nobody answers
   */
  protected async reach(flag: string, text: string, always = false): Promise<ReachedNode> {
    const named = namedNode(text);
    if (named === null) this.error(`${flag} ${text} is not a host or host:port`, { exit: EXIT.usage });
    return reachNode(named, this.known, async (stranger) => this.#meet(text, stranger), always).catch(
      (error: unknown) => {
        if (error instanceof ApiError || codeOf(error) === null) throw error;
        throw noAnswer(error, named);
      },
    );
  }

  /** The first time: a person compares the fingerprint, or has told it. */
  async #meet(text: string, { at, deviceId, sha256 }: Stranger): Promise<void> {
    const shown = shownFingerprint(sha256);
    const told = this.#fingerprint;
    if (told !== null) {
      const digits = fingerprintIn(told);
      if (digits === null)
        this.error('--fingerprint is 64 hexadecimal digits, or the 32 that are shown', { exit: EXIT.usage });
      if (sha256.startsWith(digits)) return;
      throw new Untrusted(`The node at ${at} is not the one of --fingerprint: it shows ${shown}.`);
    }
    const first = `The node at ${at} (${deviceId}) is reached for the first time. Its fingerprint:`;
    if (!process.stdin.isTTY)
      throw new Untrusted(
        `${first} ${shown}. Compare it with \`svc node fingerprint\` on the node, then repeat this with --fingerprint ${sha256}, or run \`svc known-nodes add ${text}\` in a terminal.`,
      );
    const how = 'On the node itself `svc node fingerprint` prints it; the two must be the same.';
    process.stderr.write(`${plainText(first)}\n\n    ${shown}\n\n${how}\n`);
    const answer = await terminalLine('Are they? [y/N] ', true);
    if (!/^y(?:es)?$/i.test(answer.trim())) throw new Untrusted('Then this node is not spoken to.');
  }

  /**
   * One line. The text may come from vehicles, peers and logs: it must neither control the terminal nor go on in a line of its own, that
   * looks like one of ours. JSON escapes it anyway.
   */
  override log(message = '', ...args: string[]): void {
    super.log(plainText(message), ...args.map(plainText));
  }

  /** As people read it. Within JSON no text has lines. */
  protected logPretty(value: unknown): void {
    for (const line of JSON.stringify(value, null, 2).split('\n')) this.log(line);
  }

  override warn(input: Error | string): Error | string {
    return super.warn(plainText(messageOf(input)));
  }

  /** oclif would print itself whole. */
  protected override toErrorJson(error: unknown): unknown {
    return { code: 'E_BAD_REQUEST', detail: messageOf(error) };
  }

  /** What a person reads of a refusal of the node. */
  protected words(error: ApiError): string {
    return plainText(personWords(error, new Set(Object.keys({ ...this.ctor.flags }))));
  }

  protected override async catch(error: Error): Promise<unknown> {
    if (error instanceof ApiError) {
      if (this.jsonEnabled()) {
        this.logJson(error.body());
        this.exit(exitCode(error));
      }
      this.error(this.words(error), { exit: exitCode(error), code: error.code });
    }
    if (!('oclif' in error) && !this.jsonEnabled())
      this.error(plainText(messageOf(error)), { exit: EXIT.refused });
    return super.catch(error);
  }
}

/** As workNode, with the progress on a terminal. */
export async function shownWork<R extends Route>(
  address: NodeAddress,
  route: R,
  ask: Ask = {},
): Promise<Answer<R>> {
  const { stderr } = process;
  let shown = false;
  const onProgress: OnProgress = (progress) => {
    if (!stderr.isTTY) return;
    stderr.write(`${CLEAR_LINE}${progressLine(progress)}`);
    shown = true;
  };
  try {
    return await workNode(address, route, ask, onProgress);
  } finally {
    if (shown) stderr.write(CLEAR_LINE);
  }
}

const BAR = 24;

/** `sending [#####     ] 21 %`, or with what is known of it. */
function progressLine({ done, total, text }: Progress): string {
  const words = plainText(text);
  if (total === null || total <= 0) return done === 0 ? `${words}…` : `${words} ${Math.round(done)}`;
  const part = Math.min(1, done / total);
  const bar = '#'.repeat(Math.round(part * BAR)).padEnd(BAR);
  return `${words} [${bar}] ${Math.round(part * 100)} %`;
}

function exitCode(error: ApiError): number {
  return error.code === 'E_UPSTREAM_DOWN' ? EXIT.noNode : EXIT.refused;
}
