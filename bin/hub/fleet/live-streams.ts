import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { every } from '../../../shared/async/every.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { topics } from '../../../shared/fleet/topics.ts';
import { type Caller, hasPlace } from '../../../shared/hub-api/caller.ts';
import type { LiveQuery } from '../../../shared/hub-api/schemas.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Signer } from '../keys/signer.ts';
import type { Fleet } from './fleet.ts';
import type { FleetLink } from './fleet-link.ts';

/** How often a node is told that somebody looks, and for how long it believes it, s. */
const TELL_MS = 3000;
const WATCH_S = 10;
const STREAMS = { all: 100, each: 8, kept: 20 } as const;
/** A stream ends by itself and is opened again by whoever still looks: one that went without a word costs its nodes no more than this. */
const LIFE_MS = 5 * 60_000;
const CHECK_MS = 5000;
/** So long after one question is the telemetry of a node heard for the next. */
const GLANCE_MS = 30_000;
const MAX_GLANCES = 500;
/** A node that sends more pictures than it was asked for is not passed on. */
const PICTURE_GAP_MS = 100;

interface Picture {
  /** When the hub got it, ms since 1970. */
  readonly at: number;
  readonly jpeg: Buffer;
}

interface Looker {
  readonly caller: Caller;
  readonly res: ServerResponse;
  readonly nodes: ReadonlySet<string>;
  readonly telemetryHz: number;
  readonly picturesHz: number;
  /** What is due, `telemetry <id>` and `picture <id>`: of each the newest is sent once the client reads again. */
  readonly due: Set<string>;
  readonly until: number;
}

interface LiveStreamsOptions {
  readonly fleetId: string;
  readonly fleet: Fleet;
  readonly signer: Signer;
  readonly link: Pick<FleetLink, 'look' | 'sendOnce'>;
  /** Whether a credential still counts. */
  readonly isValid: (caller: Caller) => Promise<boolean>;
  /** Wall clock, and monotonic, ms. */
  readonly now: () => number;
  readonly monotonic: () => number;
  readonly log: Logger;
}

/**
 * GET /v1/live: what nodes say while somebody looks at them, at the rate that the looker asks for: server-sent events `telemetry`
 * {id, telemetry, telemetry_at} and `picture` {id, at, jpeg}. The nodes are told so under the hub's signature, again and again, and
 * fall back by themselves. A client that reads slowly gets fewer and newer ones.
 */
export class LiveStreams {
  readonly #options: LiveStreamsOptions;
  readonly #lookers = new Set<Looker>();
  /** Nodes that somebody asked for once, until when (monotonic, ms). */
  readonly #glances = new Map<string, number>();
  /** Of nodes whose pictures somebody wants. */
  readonly #pictures = new Map<string, Picture>();
  #timers: readonly NodeJS.Timeout[] = [];
  #unlisten: () => void = () => undefined;

  constructor(options: LiveStreamsOptions) {
    this.#options = options;
  }

  start(): void {
    const { fleet } = this.#options;
    const unlisten = [
      fleet.onTelemetry((id) => this.#came('telemetry', id)),
      // Whoever may see it no longer hears nothing more of it.
      fleet.onChange((id) => {
        for (const { caller, res, nodes } of this.#lookers)
          if (nodes.has(id) && !(fleet.has(id) && fleet.sees(caller, id))) res.end();
      }),
    ];
    this.#unlisten = () => {
      for (const each of unlisten) each();
    };
    this.#timers = [
      every(TELL_MS, 'live', async () => this.#tell(this.#wanted())),
      every(CHECK_MS, 'live', async () => {
        this.#hear();
        await this.#check();
      }),
    ];
  }

  stop(): void {
    this.#unlisten();
    for (const timer of this.#timers) clearInterval(timer);
    for (const { res } of this.#lookers) res.end();
  }

  /** @throws ApiError E_NOT_FOUND, also for a node that this caller may not see; E_RATE_LIMITED */
  open(
    caller: Caller,
    { nodes, telemetry_hz: telemetryHz, pictures_hz: picturesHz }: LiveQuery,
    res: ServerResponse,
    headers: Readonly<Record<string, string>>,
  ): void {
    const { fleet, monotonic } = this.#options;
    const ids = new Set(nodes.split(','));
    for (const id of ids)
      if (!fleet.sees(caller, id) || !fleet.has(id))
        throw new ApiError('E_NOT_FOUND', `There is no node ${id}.`);
    if (!hasPlace(this.#lookers, caller, STREAMS))
      throw new ApiError('E_RATE_LIMITED', 'Too many streams are open.', {}, { 'retry-after': '5' });
    res.writeHead(200, { ...headers, 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    res.flushHeaders();
    res.socket?.setNoDelay(true);
    const due = new Set([...ids].map((id) => `telemetry ${id}`));
    const until = monotonic() + LIFE_MS;
    const looker: Looker = { caller, res, nodes: ids, telemetryHz, picturesHz, due, until };
    this.#lookers.add(looker);
    this.#hear();
    res.once('close', () => {
      this.#lookers.delete(looker);
      this.#hear();
      for (const id of this.#pictures.keys()) if (!this.#wantsPicture(id)) this.#pictures.delete(id);
    });
    res.on('drain', () => this.#flush(looker));
    this.#flush(looker);
    void this.#tell(ids).catch((error: unknown) => this.#options.log.error(`live: ${messageOf(error)}`));
  }

  /** Somebody has asked for the newest of this node, and may again: its telemetry is heard for a while. */
  glance(id: string): void {
    this.#glances.delete(id); // the map keeps the order of use
    this.#glances.set(id, this.#options.monotonic() + GLANCE_MS);
    const [oldest] = this.#glances.keys();
    if (this.#glances.size > MAX_GLANCES && oldest !== undefined) this.#glances.delete(oldest);
    this.#hear();
  }

  /** Of nodes that nobody looks at no telemetry is heard. */
  #hear(): void {
    const now = this.#options.monotonic();
    for (const [id, until] of this.#glances) if (until < now) this.#glances.delete(id);
    this.#options.link.look(new Set([...this.#wanted(), ...this.#glances.keys()]));
  }

  /** Ends those of a credential that counts no longer. */
  end(id: string): void {
    for (const { caller, res } of this.#lookers) if (caller.id === id) res.end();
  }

  /** A node has sent one. */
  picture(id: string, jpeg: Buffer): void {
    const { now } = this.#options;
    const before = this.#pictures.get(id);
    if (!this.#wantsPicture(id) || (before !== undefined && now() - before.at < PICTURE_GAP_MS)) return;
    this.#pictures.set(id, { at: now(), jpeg });
    this.#came('picture', id);
  }

  #wantsPicture(id: string): boolean {
    return [...this.#lookers].some(({ nodes, picturesHz }) => picturesHz > 0 && nodes.has(id));
  }

  #came(what: 'telemetry' | 'picture', id: string): void {
    for (const looker of this.#lookers) {
      if (!looker.nodes.has(id) || (what === 'picture' && looker.picturesHz === 0)) continue;
      looker.due.add(`${what} ${id}`);
      this.#flush(looker);
    }
  }

  #flush(looker: Looker): void {
    const { res, due } = looker;
    for (const name of due) {
      if (res.writableEnded || res.writableNeedDrain) return;
      due.delete(name);
      const [what, id = ''] = name.split(' ');
      const text = what === 'picture' ? this.#pictureEvent(id) : this.#telemetryEvent(id);
      if (text !== null) res.write(text);
    }
  }

  #telemetryEvent(id: string): string | null {
    const { telemetry, telemetry_at } = this.#options.fleet.telemetryOf(id);
    return telemetry === null ? null : event('telemetry', { id, telemetry, telemetry_at });
  }

  #pictureEvent(id: string): string | null {
    const picture = this.#pictures.get(id);
    return picture === undefined
      ? null
      : event('picture', { id, at: picture.at, jpeg: picture.jpeg.toString('base64') });
  }

  #wanted(): ReadonlySet<string> {
    return new Set([...this.#lookers].flatMap(({ nodes }) => [...nodes]));
  }

  /** Tells nodes that somebody looks, and how often they should speak: as the one who wants the most. */
  async #tell(ids: ReadonlySet<string>): Promise<void> {
    const { fleet, fleetId, signer, link } = this.#options;
    for (const node of ids) {
      const nonce = fleet.nonceOf(node);
      const lookers = [...this.#lookers].filter(({ nodes }) => nodes.has(node));
      if (nonce === null || lookers.length === 0) continue; // one that never told a status is not there yet
      const watch = {
        node,
        nonce,
        jti: randomBytes(18).toString('base64url'),
        telemetry_hz: Math.max(...lookers.map(({ telemetryHz }) => telemetryHz)),
        pictures_hz: Math.max(...lookers.map(({ picturesHz }) => picturesHz)),
        seconds: WATCH_S,
      };
      link.sendOnce(topics.watch(fleetId, node), await signer.sign('svc-watch', watch));
    }
  }

  async #check(): Promise<void> {
    const { isValid, monotonic } = this.#options;
    for (const { caller, res, until } of this.#lookers) {
      if (monotonic() > until || !(await isValid(caller))) res.end();
      else if (!res.writableNeedDrain) res.write(': still here\n\n');
    }
  }
}

function event(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
