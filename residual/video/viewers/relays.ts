import { isIP } from 'node:net';
import {
  Candidate,
  candidateFoundation,
  candidatePriority,
  classes,
  createTurnClient,
  Message,
  methods,
  StunOverTurnProtocol,
} from 'werift';
import { deferred } from '../../../shared/async/deferred.ts';
import { within } from '../../../shared/async/within.ts';
import { classifyAddress } from '../../../shared/auth/address.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { IceServer } from '../../../shared/rpc/video.ts';
import { type IceUrl, parseIceUrl } from '../../../shared/schemas/addresses.ts';
import { isOneHost } from './unproven.ts';

/**
 * Allocations on TURN servers (RFC 8656). werift takes one address of one server and waits 6 s before it tries TCP; here every
 * server gets one allocation by the first of its addresses that answers, all at the same time.
 */

const LIMITS = {
  /** Before the next address of the same server is tried beside the first (RFC 8305). */
  staggerMs: 250,
  connectMs: 3000,
  /** One address, from the name to the relayed address. */
  allocateMs: 5000,
  /** The answer waits so long for the servers. */
  waitMs: 1500,
  /** When one relay is there, for those that are as near. */
  othersMs: 200,
  releaseMs: 500,
  /** Where UDP did not come through, STUN is not asked so long. */
  noUdpMs: 60_000,
} as const;

/** Seconds, of an allocation; it is renewed at five sixths. */
const ALLOCATION_S = 600;
/** A permission lasts 300 s (RFC 8656 9), and a channel only as long as its permission on coturn; werift renews after 500. */
const CHANNEL_S = 200;

/** The local preferences of relayed candidates (RFC 8445 5.1.2.1). */
const PREFERENCE = { udp: 3, tcp: 2, tls: 1 } as const;

/** An allocation; `close` gives it back. */
type Relay = StunOverTurnProtocol;

interface RelaysOptions {
  /** Steady, ms. */
  readonly now: () => number;
  readonly log: Logger;
}

/** What one connection gets from the servers. */
interface Gathering {
  /** For werift's own gathering; null: none, or none that answers. */
  readonly stun: string | null;
  /** One for each server with TURN. */
  readonly relays: readonly Coming[];
}

interface Coming {
  /** Null where no address of the server answered. */
  readonly relay: Promise<Relay | null>;
  /** Worth waiting for: it is not the one that did not answer last time. */
  readonly expected: boolean;
}

/** Remembers between viewers which address of a server works. */
export class Relays {
  readonly #options: RelaysOptions;
  /** By the first address of a server; as many as the config has. */
  readonly #worked = new Map<string, string>();
  /** By the first address too: nothing of it answered last time. */
  readonly #silent = new Set<string>();
  readonly #told = new Map<string, string>();
  #noUdpUntil = -Infinity;

  constructor(options: RelaysOptions) {
    this.#options = options;
  }

  /** Asks all servers. It takes no time: what comes, comes later. */
  gather(servers: readonly IceServer[]): Gathering {
    const urls = servers.flatMap((server) => server.urls.map(parseIceUrl)).filter((url) => url !== null);
    // A TURN server answers STUN as well.
    const stun =
      urls.find(({ kind }) => kind === 'stun') ?? urls.find(({ transport }) => transport === 'udp');
    return {
      stun: stun === undefined || this.#options.now() < this.#noUdpUntil ? null : `stun:${authority(stun)}`,
      relays: servers.flatMap((server) => {
        const turn = this.#ordered(server);
        if (turn.length === 0) return [];
        const expected = !this.#silent.has(firstOf(server));
        return [{ relay: this.#allocate(turn, server), expected }];
      }),
    };
  }

  /** The address that worked last time comes first. */
  #ordered({ urls }: IceServer): readonly string[] {
    const turn = urls.filter((url) => parseIceUrl(url)?.kind === 'turn');
    const worked = this.#worked.get(urls[0] ?? '');
    return worked === undefined ? turn : [worked, ...turn.filter((url) => url !== worked)];
  }

  async #allocate(urls: readonly string[], server: IceServer): Promise<Relay | null> {
    const { username, credential } = server;
    const { promise, resolve } = deferred<Relay | null>();
    let won = false;
    let failed = 0;
    const begin = (at: number): void => {
      const url = urls[at];
      const parsed = parseIceUrl(url ?? '');
      if (won || url === undefined || parsed === null) return;
      let passed = false;
      const next = (): void => {
        clearTimeout(timer);
        if (!passed) begin(at + 1);
        passed = true;
      };
      const timer = setTimeout(next, LIMITS.staggerMs);
      allocate(parsed, username ?? '', credential ?? '').then(
        (relay) => {
          clearTimeout(timer);
          if (won) return closed(relay, this.#options.log);
          won = true;
          this.#note(server, url, parsed);
          resolve(relay);
        },
        (error: unknown) => {
          this.#tell(url, reasonOf(error));
          failed += 1;
          next();
          if (failed === urls.length) {
            this.#worked.delete(firstOf(server));
            this.#silent.add(firstOf(server));
            resolve(null);
          }
        },
      );
    };
    begin(0);
    return promise;
  }

  #note(server: IceServer, url: string, { transport }: IceUrl): void {
    this.#tell(url, 'it relays');
    this.#worked.set(firstOf(server), url);
    this.#silent.delete(firstOf(server));
    const viaUdp = server.urls.some((each) => parseIceUrl(each)?.transport === 'udp');
    if (transport === 'udp') this.#noUdpUntil = -Infinity;
    else if (viaUdp) this.#noUdpUntil = this.#options.now() + LIMITS.noUdpMs;
  }

  /** Once a change: every viewer asks anew. */
  #tell(url: string, what: string): void {
    if (this.#told.get(url) === what) return;
    this.#told.set(url, what);
    this.#options.log.info(`turn: ${url}: ${what}`);
  }
}

function firstOf({ urls: [first = ''] }: IceServer): string {
  return first;
}

/**
 * Puts the relays into the connection as they come.
 * @param connection werift's, of one transport
 * @param isOver whether the viewer has gone meanwhile
 * @returns when the answer need not wait any longer; those that come later are tried all the same
 */
export async function join(
  connection: unknown,
  relays: readonly Coming[],
  isOver: () => boolean,
  log: Logger,
): Promise<void> {
  const { promise: enough, resolve } = deferred();
  const timers = [setTimeout(resolve, LIMITS.waitMs)];
  const take = async ({ relay: coming }: Coming): Promise<void> => {
    const relay = await coming;
    if (relay === null) return;
    if (isOver()) return closed(relay, log);
    put(connection, relay);
    timers.push(setTimeout(resolve, LIMITS.othersMs));
  };
  const all = relays.map(async (each) => {
    await take(each).catch((error: unknown) => log.error(`turn: ${messageOf(error)}`));
    return each;
  });
  const expected = all.filter((_, at) => relays[at]?.expected === true);
  const first = expected.length > 0 ? Promise.all(expected) : Promise.race(all);
  if (all.length > 0) await Promise.race([first, enough]);
  for (const timer of timers) clearTimeout(timer);
}

/** Takes all relays out of the connection, before its ICE restarts: they may be what has failed. */
export function takeOut(connection: unknown, log: Logger): void {
  const { protocols } = insidesOf(connection);
  for (const protocol of protocols.filter((each) => each instanceof StunOverTurnProtocol)) {
    protocols.splice(protocols.indexOf(protocol), 1);
    closed(protocol, log);
  }
}

/**
 * Whether a check is worth it, and leads to one host: a relay on the internet reaches no private address, and each refusal takes a
 * round trip.
 */
export function isWorthTrying(
  local: Pick<Candidate, 'type' | 'host'>,
  remote: Pick<Candidate, 'host'>,
): boolean {
  if (!isOneHost(remote.host)) return false;
  return local.type !== 'relay' || !isPrivate(remote.host) || isPrivate(local.host);
}

const FAR = { local: undefined, isRoutable: () => false } as const;

function isPrivate(host: string): boolean {
  return isIP(host) === 0 || classifyAddress(host, FAR) !== 'remote';
}

/** What of werift's ICE connection nobody but itself is meant to call: it has no other way for a second TURN server. */
interface Insides {
  readonly protocols: unknown[];
  readonly generation: number;
  readonly localUsername: string;
  readonly ensureProtocol: (protocol: unknown) => void;
  readonly pairLocalProtocol: (protocol: unknown) => void;
  readonly appendLocalCandidate: (candidate: unknown) => void;
}

function hasInsides(connection: unknown): connection is Insides {
  return (
    typeof connection === 'object' &&
    connection !== null &&
    'protocols' in connection &&
    Array.isArray(connection.protocols) &&
    ['ensureProtocol', 'pairLocalProtocol', 'appendLocalCandidate'].every(
      (name) => typeof Reflect.get(connection, name) === 'function',
    )
  );
}

function insidesOf(connection: unknown): Insides {
  if (!hasInsides(connection)) throw new Error('this version of werift cannot take relays');
  return connection;
}

/** Beside those that werift gathers meanwhile. */
function put(connection: unknown, relay: Relay): void {
  const inside = insidesOf(connection);
  Object.assign(relay.localCandidate, { generation: inside.generation, ufrag: inside.localUsername });
  inside.ensureProtocol(relay);
  inside.protocols.push(relay);
  inside.pairLocalProtocol(relay);
  inside.appendLocalCandidate(relay.localCandidate);
}

function closed(relay: Relay, log: Logger): void {
  relay.close().catch((error: unknown) => log.warn(`turn: closing: ${messageOf(error)}`));
}

async function allocate(url: IceUrl, username: string, credential: string): Promise<Relay> {
  const { host, port, transport: kind } = url;
  const coming = createTurnClient(
    { address: [host, port], username, password: credential },
    {
      lifetime: ALLOCATION_S,
      transport: kind,
      connectTimeoutMs: LIMITS.connectMs,
      tlsOptions: isIP(host) === 0 ? { servername: host } : {},
    },
  );
  let late = false;
  coming.then(
    (turn) => (late ? turn.close() : undefined),
    () => undefined, // said below
  );
  const turn = await within(coming, LIMITS.allocateMs, () => {
    late = true;
    return new Error('it does not answer');
  });
  const leave = turn.close.bind(turn);
  Object.assign(turn, {
    channelRefreshTime: CHANNEL_S,
    /** Gives the allocation back, instead of leaving it on the server for ten minutes. */
    close: async () => {
      const request = new Message(methods.REFRESH, classes.REQUEST).setAttribute('LIFETIME', 0);
      const released = turn.requestWithRetry(request, turn.server, AbortSignal.timeout(LIMITS.releaseMs));
      await released.catch(() => undefined); // a server that does not answer lets it end by itself
      await leave();
    },
  });
  // werift binds one channel after the other, a round trip each, and the right one may be the last.
  Object.defineProperty(turn, 'channelBindQueue', {
    get: async () => undefined,
    set: () => {
      // nothing to wait for
    },
  });
  const relay = new StunOverTurnProtocol(turn);
  const [relayed, relayedPort] = turn.relayedAddress;
  relay.localCandidate = new Candidate(
    candidateFoundation('relay', 'udp', `${kind} ${host} ${relayed}`),
    1,
    'udp',
    candidatePriority('relay', PREFERENCE[kind]),
    relayed,
    relayedPort,
    'relay',
    ...turn.mappedAddress,
  );
  return relay;
}

function authority({ host, port }: IceUrl): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** In words: what a TURN server refuses comes as a number (RFC 8656 19, RFC 8489 14.8). */
function reasonOf(error: unknown): string {
  const response = error instanceof Error && 'response' in error ? error.response : null;
  if (!(response instanceof Message)) return `it cannot be reached: ${messageOf(error)}`;
  const [code]: readonly unknown[] = response.getAttributeValue('ERROR-CODE');
  if (code === 401) return 'it refuses the credentials (401): the secret, or a clock, is wrong';
  if (code === 486) return 'this user has too many allocations there (486)';
  return `it refuses (${String(code)})`;
}
