import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { CallStatement } from '../../shared/schemas/fleet-statements.ts';
import { askAgain, worksAtLast } from '../support/ask-again.ts';
import { KEY } from '../support/edge.ts';
import {
  newJti,
  newSigner,
  readReply,
  type Signer,
  signCall,
  signConfirm,
  type UnsignedCall,
} from '../support/fleet-hand.ts';
import { TestHub } from '../support/hub.ts';
import { TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';
import type { Result } from './result.ts';

/** As many as the hub takes of one person in one go. */
const COMMANDS = 150;
/** Each way, between the node and its broker: 150 ms there and back, as a modem has. */
const WAY_MS = 75;
const GOAL_MS = 400;
/** As the hub's page: an older nonce is asked for while a button begins to be held. */
const FRESH_MS = 5000;
/** Of no boot: the node says its own. */
const NO_NONCE = '00000000.0';

type Body = Readonly<Record<string, unknown>>;

/**
 * A command as the hub's page sends it: signed, confirmed by the operator's key, carried by hub and broker to the node, and answered
 * there after the vehicle's acknowledgement. Hub, broker, node and simulated vehicle are real; the caller is this process.
 */
export async function benchHubCommand(): Promise<readonly Result[]> {
  return [...(await commands('no delay', 0)), ...(await commands('150 ms round trip', WAY_MS))];
}

async function commands(name: string, wayMs: number): Promise<readonly Result[]> {
  const [operator, signer] = await Promise.all([newSigner(), newSigner()]);
  const [hub, node] = await Promise.all([
    TestHub.start(),
    TestNode.start({
      pairing: { key: KEY },
      config: `fleet:\n  scopes: [read, safe_write, admin, flight]\n  operators: ['ada ${operator.jwk.x}']\n`,
    }),
  ]);
  let cable: Server | null = null;
  try {
    const { body: code } = await hub.call('POST', '/v1/codes');
    await svc(node.paths, 'fleet', 'enroll', `https://127.0.0.1:${hub.httpsPort}`, String(code['code']));
    await hub.streamed((_name, { online, status }) => online === true && status !== null);
    cable = await slowCable(node, wayMs);
    const caller = await Caller.open(hub, signer, operator);
    const took: number[] = [];
    // Its acknowledgement is the vehicle's answer at once; a change of mode is seen with the next heartbeat, up to 200 ms later.
    for (let count = 0; count < COMMANDS; count++) took.push(await caller.command({ cmd: 'setHome' }));
    const sorted = took.toSorted((a, b) => a - b);
    const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
    const goal = wayMs === 0 ? {} : { goal: GOAL_MS };
    return [
      { name: `command to acknowledgement, ${name}, p50`, value: at(0.5), unit: 'ms' },
      { name: `command to acknowledgement, ${name}, p99`, value: at(0.99), unit: 'ms', ...goal },
    ];
  } finally {
    cable?.close();
    await Promise.all([hub.stop(), node.stop()]);
  }
}

/** Puts a cable between the node and its broker that takes so long each way. */
async function slowCable(node: TestNode, wayMs: number): Promise<Server> {
  const enrolment = JSON.parse(await readFile(node.paths.fleet, 'utf8')) as { broker: string };
  const target = Number(new URL(enrolment.broker).port);
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    const join = (from: Socket, to: Socket): void => {
      from.setNoDelay(true);
      from.on('data', (chunk) => setTimeout(() => to.writable && to.write(chunk), wayMs));
      from.on('close', () => to.destroy());
      from.on('error', () => to.destroy());
    };
    join(near, far);
    join(far, near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const broker = `mqtts://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await writeFile(node.paths.fleet, JSON.stringify({ ...enrolment, broker }), { mode: 0o600 });
  await node.killAndAwaitSuccessor('svc-control');
  await worksAtLast('svc-control', async () => node.json('/api/status', { headers: { 'x-svc-key': KEY } }));
  await node.killAndAwaitSuccessor('svc-fleet');
  await askAgain(
    'the node is connected by the slow cable',
    async () => (await node.json('/api/fleet', { headers: { 'x-svc-key': KEY } })).body,
    ({ link }) => (link as Body | null)?.['connected'] === true && server.listening,
  );
  return server;
}

/** A person's browser, as far as it calls. */
class Caller {
  readonly #hub: TestHub;
  readonly #signer: Signer;
  readonly #operator: Signer;
  readonly #token: string;
  readonly #node: Body;
  #nonce = { text: NO_NONCE, at: -Infinity };

  private constructor(hub: TestHub, signer: Signer, operator: Signer, token: string, node: Body) {
    this.#hub = hub;
    this.#signer = signer;
    this.#operator = operator;
    this.#token = token;
    this.#node = node;
  }

  static async open(hub: TestHub, signer: Signer, operator: Signer): Promise<Caller> {
    const { body } = await hub.call('POST', '/v1/me/token', { body: { key: signer.jwk } });
    const { body: list } = await hub.call('GET', '/v1/nodes');
    const [node = {}] = list['nodes'] as readonly Body[];
    return new Caller(hub, signer, operator, String(body['token']), node);
  }

  /** @returns how long it took, ms */
  async command(body: unknown): Promise<number> {
    if (performance.now() - this.#nonce.at > FRESH_MS) {
      const { body: told } = await this.#call({ method: 'GET', path: '/healthz', nonce: NO_NONCE }, false);
      this.#nonce = { text: String((told as Body)['nonce']), at: performance.now() };
    }
    const begun = performance.now();
    const { status, body: said } = await this.#call(
      { method: 'POST', path: '/api/command', nonce: this.#nonce.text, body },
      true,
    );
    const took = performance.now() - begun;
    if (status !== 200 || (said as Body)['status'] !== 'accepted') throw new Error(JSON.stringify(said));
    return took;
  }

  async #call(call: Pick<CallStatement, 'method' | 'path' | 'nonce' | 'body'>, held: boolean) {
    const id = String(this.#node['id']);
    const statement: UnsignedCall = { ...call, node: id, jti: newJti() };
    const confirm = held ? await signConfirm(this.#operator, statement, 'hold') : undefined;
    const jws = await signCall({ signer: this.#signer, token: this.#token }, statement, confirm);
    const { body } = await this.#hub.call('POST', `/v1/nodes/${id}/calls`, { body: { call: jws } });
    if (typeof body['reply'] !== 'string') throw new Error(JSON.stringify(body));
    return readReply(body['reply'], this.#node['signing_key'] as Signer['jwk']);
  }
}
