import type { ParamValue } from '../../../shared/mavlink/decode.ts';
import type { ParamWriteRequest } from '../../../shared/rpc/link.ts';
import type { ParamsSnapshot, ParamWriteResult } from '../../../shared/rpc/link-answers.ts';
import type { ParamsProgress } from '../../../shared/rpc/link-state.ts';
import { FTP_PRIORITY, type FtpClient } from '../ftp/ftp-client.ts';
import type { ComponentMetadata } from '../metadata/component-metadata.ts';
import type { Methods, Part, SessionReason } from '../part.ts';
import type { Speaking } from '../speaking.ts';
import { Descriptions } from './descriptions.ts';
import { ListTransfer } from './list-transfer.ts';
import type { MetadataStore } from './metadata-store.ts';
import { type ParamEncoding, paramFromBits, paramToBits } from './param-encoding.ts';
import { readParamPack } from './param-pack.ts';
import type { ParamStore, StoredParams } from './param-store.ts';
import { MAX_PARAMS, NOT_IN_LIST, type ParamEntry, ParamTable } from './param-table.ts';
import { ParamWrites } from './param-writes.ts';
import { resetParams } from './reset.ts';

/** MAV_PROTOCOL_CAPABILITY_FTP */
const CAPABILITY_FTP = 32;
const PACK_PATH = '@PARAM/param.pck';
/** ArduPilot 4.2 and later; others refuse the query. */
const PACK_WITH_DEFAULTS = `${PACK_PATH}?withdefaults=1`;
/** PX4 answers a read of it with a hash over its parameters. It is no parameter. */
const HASH_NAME = '_HASH_CHECK';

/** AUTOPILOT_VERSION is requested twice before the download starts without it. */
const IDENTIFY_MS = 1000;
const IDENTIFY_AGAIN_MS = 400;
const HASH_MS = 1500;
const HASH_AGAIN_MS = 500;
/** Wait before a failed download is started again, doubled each time; then only a new session or a person starts one. */
const RETRY_MS = 60_000;
const RETRIES = 3;
/** A vehicle that does not answer is asked for the hash of what is kept so often. */
const HASH_ASKS = 4;
/** Changed values are written to disk once nothing has changed for this long. */
const SETTLE_MS = 3000;
/**
 * If the vehicle reports more parameters than were downloaded, the list is requested again after this wait, at most this often.
 */
const RAISED_MS = 3000;
const RAISED_TIMES = 3;
/** From the vehicle's acceptance of a reset of its parameters until they are read again. */
const RESET_MS = 1000;

export interface ParamsOptions extends Speaking {
  readonly encoding: () => ParamEncoding;
  /** Asks for AUTOPILOT_VERSION. */
  readonly identify: () => void;
  /** Called with each name when a download is complete, whatever its method. */
  readonly onKnown: (name: string) => void;
  /** Null: nothing is kept on disk. */
  readonly store: ParamStore | null;
  readonly ftp: FtpClient;
  readonly metadata: ComponentMetadata;
  /** The vehicle's descriptions on disk; null: they are not asked for. */
  readonly metadataStore: MetadataStore | null;
}

/**
 * The step of the download: identify the vehicle, read its file on disk, compare PX4's hash with that file, read ArduPilot's
 * packed file, or request the list.
 */
type Stage =
  | { readonly kind: 'idle' }
  | { readonly kind: 'identify'; readonly since: number; asked: number }
  | { readonly kind: 'read' }
  | { readonly kind: 'hash'; readonly since: number; asked: number; readonly stored: StoredParams }
  | { readonly kind: 'file'; readonly cancel: () => void }
  | { readonly kind: 'list'; readonly list: ListTransfer };

/**
 * The vehicle's parameters. Each session downloads them by the fastest way the vehicle offers; then every PARAM_VALUE updates
 * them. The newest state of each vehicle (by its uid) is kept on disk: the next session shows it at once, and downloads nothing
 * if PX4's hash is unchanged.
 */
export class Params implements Part {
  readonly methods = {
    params: () => this.#snapshot(),
    param_set: async (request) => this.write(request),
    params_reset: async ({ force }) => {
      const valueOf = (name: string): number | null => this.valueOf(name);
      const reset = await resetParams({ ...this.#options, valueOf, force });
      // PX4 answers before it begins, and ends within this time.
      this.#options.clock.after(RESET_MS, () => this.download(false, true));
      return reset;
    },
  } satisfies Methods;
  readonly #options: ParamsOptions;
  readonly #table = new ParamTable();
  readonly #writes: ParamWrites;
  #stage: Stage = { kind: 'idle' };
  #expected: number | null = null;
  #timedOut = false;
  #endedAt = 0;
  /** Downloads that were started again by themselves. */
  #retries = 0;
  #hashAsks = 0;
  #ends = 0;
  #hash: number | null = null;
  /** When the vehicle first reported more parameters than were downloaded, and how often the list was requested again. */
  #raisedAt: number | null = null;
  #raised = 0;
  /** Time of the newest change that is not on disk yet. */
  #changedAt: number | null = null;
  /** Grows with each download, so that what was read from disk for an earlier one is not used. */
  #download = 0;
  #anew = false;
  /** As the vehicle told them in this session; a parameter that is not in it has none that is known. */
  #defaults: ReadonlyMap<string, number> | null = null;
  readonly #descriptions: Descriptions | null;

  constructor(options: ParamsOptions) {
    this.#options = options;
    this.#writes = new ParamWrites({ ...options, table: this.#table });
    const { metadataStore } = options;
    this.#descriptions =
      metadataStore === null ? null : new Descriptions({ ...options, store: metadataStore });
  }

  get progress(): ParamsProgress {
    return {
      cached: this.#table.size,
      expected: this.#expected,
      generation: this.#table.generation + this.#ends,
      priming: this.#stage.kind !== 'idle',
      timed_out: this.#timedOut,
    };
  }

  #snapshot(): ParamsSnapshot {
    const encoding = this.#options.encoding();
    const params: ParamsSnapshot['params'] = {};
    for (const [name, { bits, type, index }] of this.#table.entries()) {
      const value = paramFromBits(bits, type, encoding);
      params[name] = { value, type, index, default: this.#defaults?.get(name) ?? null };
    }
    return { ...this.progress, described: this.#descriptions?.file ?? null, params };
  }

  /** The value of one parameter; null if the vehicle has not sent it. */
  valueOf(name: string): number | null {
    const entry = this.#table.get(name);
    return entry === undefined ? null : paramFromBits(entry.bits, entry.type, this.#options.encoding());
  }

  /** As the vehicle sent it. */
  entry(name: string): ParamEntry | undefined {
    return this.#table.get(name);
  }

  /** Whether any parameter's name begins so. */
  has(prefix: string): boolean {
    for (const [name] of this.#table.entries()) if (name.startsWith(prefix)) return true;
    return false;
  }

  /** See ParamWrites. */
  async write(request: ParamWriteRequest): Promise<ParamWriteResult> {
    return this.#writes.write(request);
  }

  onSession(reason: SessionReason): void {
    this.download(reason === 'learned');
  }

  /** Resolves when the newest values are on the disk. */
  async settled(): Promise<void> {
    await this.#options.store?.settled();
  }

  /**
   * Begins a download.
   * @param forget whether to drop all values because it is another vehicle
   * @param anew whether to read all values, even if PX4's hash is that of the file on disk
   */
  download(forget: boolean, anew = false): void {
    this.#retries = 0;
    this.#begin(forget, anew);
  }

  #begin(forget: boolean, anew = false): void {
    this.#anew = anew;
    this.#cancel();
    this.#download++;
    if (forget) {
      this.#table.clear();
      this.#expected = null;
      this.#defaults = null;
      this.#descriptions?.forget();
      this.#hash = null;
      this.#changedAt = null;
      this.#ends++;
    }
    this.#timedOut = false;
    this.#raisedAt = null;
    this.#raised = 0;
    const now = this.#options.clock.now();
    this.#stage = { kind: 'identify', since: now, asked: now };
    this.#options.identify();
  }

  onVersion(): void {
    if (this.#stage.kind === 'identify') this.#choose();
  }

  onValue(value: ParamValue): void {
    if (value.name === HASH_NAME) {
      this.#onHash(value.bits);
      return;
    }
    if (value.name === '') {
      // A vehicle says so that it has none.
      if (value.count === 0 && this.#stage.kind === 'list') this.#stage.list.onNone();
      return;
    }
    this.#writes.onValue(value);
    if (value.count > 0 && value.count <= MAX_PARAMS) this.#onCount(value);
    const changed = this.#table.set(value);
    if (changed && this.#stage.kind === 'idle') {
      this.#hash = null;
      this.#changedAt = this.#options.clock.now();
    }
    if (this.#stage.kind === 'list') this.#stage.list.onValue(value);
  }

  /** The echo of a write that switches a group of parameters on has their new number, and no index. */
  #onCount({ count, index }: ParamValue): void {
    const grows = this.#stage.kind === 'idle' && count > (this.#expected ?? count);
    if (index !== NOT_IN_LIST || grows) this.#expected = count;
  }

  /** Called a few times a second. */
  tick(): void {
    const { clock, vehicle } = this.#options;
    const now = clock.now();
    const stage = this.#stage;
    switch (stage.kind) {
      case 'idle':
        if (this.#timedOut && vehicle.alive && this.#mayRetry(now)) {
          this.#retries++;
          this.#begin(false);
        } else if (this.#hasMore(now)) this.#list();
        else if (this.#changedAt !== null && now - this.#changedAt >= SETTLE_MS) this.#keep();
        return;
      case 'identify':
        if (now - stage.since >= IDENTIFY_MS) this.#choose();
        else if (now - stage.asked >= IDENTIFY_AGAIN_MS) {
          stage.asked = now;
          this.#options.identify();
        }
        return;
      case 'hash':
        if (now - stage.since >= HASH_MS) this.#list();
        else if (now - stage.asked >= HASH_AGAIN_MS) {
          stage.asked = now;
          this.#askHash();
        }
        return;
      case 'read': // a local file: the read ends by itself
      case 'file': // so does a transfer
        return;
      case 'list':
        stage.list.tick();
    }
  }

  #mayRetry(now: number): boolean {
    return this.#retries < RETRIES && now - this.#endedAt >= RETRY_MS * 2 ** this.#retries;
  }

  /** PX4 adds parameters when a module starts, minutes after boot; each of its values tells the present count. */
  #hasMore(now: number): boolean {
    if (!this.#options.vehicle.alive || this.#timedOut) return false;
    if ((this.#expected ?? 0) <= this.#table.size || this.#raised >= RAISED_TIMES) {
      this.#raisedAt = null;
      return false;
    }
    this.#raisedAt ??= now;
    if (now - this.#raisedAt < RAISED_MS) return false;
    this.#raisedAt = null;
    this.#raised++;
    return true;
  }

  /** The vehicle is identified as far as possible: starts the fastest download that it offers. */
  #choose(): void {
    const { vehicle, store } = this.#options;
    const uid = vehicle.version?.uid ?? null;
    if (store === null || uid === null) {
      this.#transfer(null);
      return;
    }
    const download = this.#download;
    this.#stage = { kind: 'read' };
    store
      .read(uid)
      .then((stored) => {
        if (download === this.#download) this.#transfer(stored);
      })
      .catch(() => {
        // read() turns every failure into null, so it is the transfer that cannot begin: the list needs nothing but frames.
        if (download === this.#download && this.#stage.kind !== 'list') this.#list();
      });
  }

  #transfer(stored: StoredParams | null): void {
    const { vehicle, clock } = this.#options;
    // Old values are better than none until the vehicle has sent the new ones.
    if (stored !== null && this.#table.size === 0) {
      for (const [name, entry] of stored.entries) this.#table.set({ name, ...entry });
      this.#expected = this.#table.size;
    }
    if (stored !== null && stored.hash !== null && vehicle.firmware === 'px4' && !this.#anew) {
      const now = clock.now();
      this.#stage = { kind: 'hash', since: now, asked: now, stored };
      this.#askHash();
    } else if (vehicle.firmware === 'ardupilot' && ((vehicle.capabilities ?? 0) & CAPABILITY_FTP) !== 0) {
      this.#file();
    } else this.#list();
  }

  #askHash(): void {
    const { vehicle, encoder, ask } = this.#options;
    if (vehicle.target !== null) ask(encoder.paramRequestByName(vehicle.target, HASH_NAME));
  }

  #onHash(hash: number): void {
    this.#hash = hash;
    this.#hashAsks = 0;
    if (this.#stage.kind === 'hash') {
      if (this.#stage.stored.hash === hash) this.#end(true);
      else this.#list();
    } else if (this.#stage.kind === 'idle' && this.#changedAt !== null) this.#write();
  }

  #file(path = PACK_WITH_DEFAULTS): void {
    const stage: { readonly kind: 'file'; cancel: () => void } = { kind: 'file', cancel: () => undefined };
    this.#stage = stage;
    try {
      stage.cancel = this.#options.ftp.read(path, FTP_PRIORITY.params, (bytes, refused) => {
        if (refused && path !== PACK_PATH) this.#file(PACK_PATH);
        else if (bytes === null || !this.#unpacked(bytes)) this.#list();
        else this.#end(true);
      });
    } catch (error) {
      if (this.#stage === stage) this.#list(); // first, so that the download goes on and ends
      throw error;
    }
  }

  /** A file that cannot be read is as good as none. */
  #unpacked(bytes: Buffer): boolean {
    try {
      return this.#unpack(bytes);
    } catch (error) {
      this.#list(); // first, so that the download goes on and ends
      throw error;
    }
  }

  /** @returns false if it is not such a file, or is empty */
  #unpack(bytes: Buffer): boolean {
    const params = readParamPack(bytes);
    if (params === null || params.length === 0) return false;
    const encoding = this.#options.encoding();
    for (const [index, { name, type, value }] of params.entries()) {
      const bits = paramToBits(value, type, encoding);
      if (typeof bits === 'number') this.#table.set({ name, bits, type, index });
    }
    this.#table.keepOnly(new Set(params.map(({ name }) => name)));
    this.#expected = params.length;
    const told = params.flatMap(({ name, default: initial }) =>
      initial === null ? [] : [[name, initial] as const],
    );
    this.#defaults = told.length === 0 ? null : new Map(told);
    return true;
  }

  #list(): void {
    const list = new ListTransfer({
      ...this.#options,
      onEnd: (complete, names) => {
        if (complete) {
          this.#table.keepOnly(names);
          this.#expected = names.size;
        }
        this.#end(complete);
      },
    });
    this.#stage = { kind: 'list', list };
    list.start();
  }

  #end(complete: boolean): void {
    this.#stage = { kind: 'idle' };
    this.#timedOut = !complete;
    this.#endedAt = this.#options.clock.now();
    this.#ends++;
    if (!complete) return;
    this.#changedAt = this.#endedAt - SETTLE_MS; // to disk at the next tick
    for (const [name] of this.#table.entries()) this.#options.onKnown(name);
    this.#descriptions?.want();
  }

  /** Asks a PX4 for the hash of these values first; other vehicles' values are written at once. */
  #keep(): void {
    const { vehicle } = this.#options;
    if (vehicle.firmware !== 'px4' || this.#hash !== null || this.#hashAsks >= HASH_ASKS) {
      this.#hashAsks = 0;
      this.#write();
    } else {
      this.#hashAsks++;
      this.#changedAt = this.#options.clock.now(); // asks again after SETTLE_MS if no answer comes
      this.#askHash();
    }
  }

  #write(): void {
    const { vehicle, store } = this.#options;
    const uid = vehicle.version?.uid ?? null;
    this.#changedAt = null;
    if (store === null || uid === null) return;
    store.write(uid, { hash: this.#hash, entries: [...this.#table.entries()] });
  }

  #cancel(): void {
    if (this.#stage.kind === 'file') this.#stage.cancel();
  }
}
