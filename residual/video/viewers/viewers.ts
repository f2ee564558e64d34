import { createHash } from 'node:crypto';
import { every } from '../../../shared/async/every.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import type { AccessUnit } from '../../../shared/media/picture.ts';
import { packetize, rtpTimestamp } from '../../../shared/media/rtp-h264.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { ParamsOf } from '../../../shared/rpc/contract.ts';
import type { IceServer, Trickled, VIDEO, ViewerOpened, ViewerStatus } from '../../../shared/rpc/video.ts';
import type { Encode } from './adaptation.ts';
import type { IceServers } from './ice-servers.ts';
import { MainNeed } from './main-need.ts';
import type { Viewer, ViewerHooks } from './viewer.ts';

/** One set of hooks a viewer. @param servers with credentials for the node itself */
export type OpenViewer = (
  offer: string,
  hooks: ViewerHooks,
  servers: readonly IceServer[],
) => Promise<Viewer>;

interface ViewersOptions {
  readonly open: OpenViewer;
  readonly servers: Pick<IceServers, 'list'>;
  /** The next picture of that encode is to be a key frame. */
  readonly requestKey: (encode: Encode) => void;
  /** The rate of the small encode that the viewers need now, kbit/s; null while none needs it. */
  readonly onSmall: (kbps: number | null) => void;
  /** A viewer came or went. */
  readonly onChange: () => void;
  /** Steady, ms. */
  readonly now: () => number;
  readonly log: Logger;
}

const LIMITS = {
  /** From the answer to the first connection. */
  connectMs: 10_000,
  /** A browser reports about every second; a silent one is dropped within ten. */
  silenceMs: 8000,
  /** As long as a dashboard session. */
  lifeMs: 24 * 3600 * 1000,
  watchMs: 500,
  /** How often the viewers' paths are looked at: as often as a browser reports. */
  adaptMs: 50,
} as const;

interface Session {
  readonly id: string;
  readonly owner: ViewerStatus['owner'];
  readonly viewer: Viewer;
  readonly openedAt: number;
  /** When its connection, or the last restart of it, began. */
  begunAt: number;
  heardAt: number;
  /** Removes our listener from the connection that it was opened on. */
  readonly release: () => void;
}

/** The WebRTC playbacks: their owners, their time limits, and their pictures. */
export class Viewers {
  readonly #options: ViewersOptions;
  readonly #sessions = new Map<string, Session>();
  readonly #need = new MainNeed();
  #watch: NodeJS.Timeout | null = null;
  #adapting: NodeJS.Timeout | null = null;

  constructor(options: ViewersOptions) {
    this.#options = options;
  }

  get watched(): boolean {
    return this.#sessions.size > 0;
  }

  get list(): readonly ViewerStatus[] {
    return [...this.#sessions.values()].map(({ id, owner, viewer }) => ({ id, owner, path: viewer.path }));
  }

  /**
   * @param connection aborted when the caller disconnects: then the playback could not be ended with its owner any more
   * @throws ApiError E_BAD_REQUEST
   */
  async open(
    { id, owner, offer }: ParamsOf<typeof VIDEO, 'viewer_open'>,
    connection: AbortSignal,
  ): Promise<ViewerOpened> {
    const { now, open, requestKey, servers, log } = this.#options;
    const hear = (): void => {
      const session = this.#sessions.get(id);
      if (session !== undefined) session.heardAt = now();
    };
    const hooks: ViewerHooks = {
      onKeyWanted: requestKey,
      needKbps: () => this.#need.kbps(now() * 1000),
      now,
      onConnected: () => {
        hear();
        requestKey('main');
      },
      onHeard: hear,
      onGone: (why) => this.#end(id, why),
    };
    const viewer = await open(offer, hooks, await servers.list());
    if (connection.aborted || this.#sessions.has(id)) {
      await viewer.close();
      throw new ApiError('E_BAD_REQUEST', `There is a playback ${id} already.`);
    }
    const hungUp = (): void => this.#end(id, 'the node cannot end it any more');
    connection.addEventListener('abort', hungUp);
    const release = (): void => connection.removeEventListener('abort', hungUp);
    const at = now();
    this.#sessions.set(id, { id, owner, viewer, openedAt: at, begunAt: at, heardAt: at, release });
    log.info(`whep: ${owner.kind} ${owner.id} watches, ${this.#sessions.size} in all`);
    this.#changed();
    return { answer: viewer.answer, etag: etagOf(id, viewer), ice_servers: await servers.list() };
  }

  /**
   * Takes the client's further candidates; begins ICE anew for an If-Match of `*` (RFC 9725 4.3).
   * @param ifMatch the header, null without one
   * @throws ApiError E_NOT_FOUND, E_BAD_REQUEST, E_BUSY, E_PRECONDITION for candidates of another ICE session
   */
  async trickle(id: string, text: string, ifMatch: string | null): Promise<Trickled> {
    const session = this.#sessions.get(id);
    if (session === undefined) throw new ApiError('E_NOT_FOUND', `No playback ${id}.`);
    const { viewer } = session;
    const fragment = viewer.fragment(text);
    if (ifMatch === '*') {
      const { now, servers } = this.#options;
      session.begunAt = session.heardAt = now();
      const restarted = await viewer.restart(fragment, await servers.list());
      session.begunAt = session.heardAt = now();
      return { restarted, etag: etagOf(id, viewer), ice_servers: await servers.list() };
    }
    if (ifMatch !== null && ifMatch !== etagOf(id, viewer)) throw new ApiError('E_PRECONDITION');
    if (!viewer.isSameIce(fragment.ufrag))
      throw new ApiError('E_PRECONDITION', 'An ICE restart needs If-Match: *.');
    for (const candidate of fragment.candidates) await viewer.addCandidate(candidate);
    return { restarted: null, etag: etagOf(id, viewer), ice_servers: [] };
  }

  /** Ends those that exist. */
  end(ids: readonly string[], why: string): void {
    for (const id of ids) this.#end(id, why);
  }

  push(encode: Encode, unit: AccessUnit): void {
    if (encode === 'main') this.#need.push(unit);
    if (this.#sessions.size === 0) return;
    const parts = packetize(unit.data);
    const timestamp = rtpTimestamp(unit.at);
    for (const { viewer } of this.#sessions.values()) viewer.send(encode, parts, timestamp, unit.key);
  }

  stop(): void {
    this.end([...this.#sessions.keys()], 'the node stops');
  }

  #end(id: string, why: string): void {
    const session = this.#sessions.get(id);
    if (session === undefined) return;
    this.#sessions.delete(id);
    const { log } = this.#options;
    const { owner, viewer } = session;
    session.release();
    viewer.close().catch((error: unknown) => log.warn(`whep: closing: ${messageOf(error)}`));
    log.info(`whep: ${owner.kind} ${owner.id} is gone (${why}), ${this.#sessions.size} left`);
    this.#changed();
  }

  #changed(): void {
    const watched = this.#sessions.size > 0;
    this.#options.onChange();
    if (watched) {
      this.#watch ??= every(LIMITS.watchMs, 'whep', () => this.#dropGone());
      this.#adapting ??= every(LIMITS.adaptMs, 'whep paths', () => this.#adapt());
      return;
    }
    for (const timer of [this.#watch, this.#adapting]) if (timer !== null) clearInterval(timer);
    this.#watch = null;
    this.#adapting = null;
    this.#options.onSmall(null);
  }

  /** The thinnest path decides over the one small encode. */
  #adapt(): void {
    let small: number | null = null;
    for (const { viewer } of this.#sessions.values()) {
      viewer.adapt();
      const wanted = viewer.smallKbps;
      if (wanted !== null) small = Math.min(small ?? wanted, wanted);
    }
    this.#options.onSmall(small);
  }

  #dropGone(): void {
    const now = this.#options.now();
    for (const { id, viewer, openedAt, begunAt, heardAt } of this.#sessions.values()) {
      if (!viewer.connected) {
        if (now - begunAt > LIMITS.connectMs) this.#end(id, 'it never connected');
      } else if (now - heardAt > LIMITS.silenceMs) this.#end(id, 'it fell silent');
      else if (now - openedAt > LIMITS.lifeMs) this.#end(id, 'its time is over');
    }
  }
}

/** Of the ICE session, which a restart makes anew (RFC 9725 4.3.1). */
function etagOf(id: string, { localUfrag }: Viewer): string {
  return `"${createHash('sha256').update(`${id} ${localUfrag}`).digest('hex').slice(0, 16)}"`;
}
