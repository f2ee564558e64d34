import { setTimeout as delay } from 'node:timers/promises';
import { Backoff } from '../../../shared/async/backoff.ts';
import { every } from '../../../shared/async/every.ts';
import { TokenBucket } from '../../../shared/async/token-bucket.ts';
import type { Config } from '../../../shared/config/schema.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Uploads } from '../../../shared/schemas/uploads.ts';
import type { KeptFiles } from '../kept-files.ts';
import type { Ledger, LedgerEntry } from './ledger.ts';
import { ChangedFile, StoreError } from './s3-request.ts';
import type { S3Store, Sending } from './s3-store.ts';
import type { UploadTeller } from './upload-teller.ts';

const LOOK_MS = 30_000;
const RETRY = { firstMs: 10_000, capMs: 15 * 60_000 } as const;
const DAY_MS = 24 * 3600 * 1000;
/** A file that was written to just now may not be whole. */
const SETTLED_MS = 5000;
const MAX_SHOWN = 2000;
/** Sent at once by one that is paced. */
const BURST_BYTES = 64 * 1024;

export type Kind = Config['upload']['kinds'][number];
type WaitReason = Uploads['waiting_for'];

/** Files of one kind, where they are kept. */
export interface Source {
  readonly files: KeptFiles;
  /** Names that are being written now. */
  readonly writing: () => readonly string[];
}

interface UploaderOptions {
  readonly config: Config['upload'];
  readonly deviceId: () => Promise<string>;
  readonly store: S3Store;
  readonly sources: Readonly<Record<Kind, Source>>;
  readonly ledger: Ledger;
  /** Tells the fleet; null: there is none. */
  readonly teller: UploadTeller | null;
  /** Whether the vehicle is disarmed, for certain. */
  readonly isDisarmed: () => boolean;
  /** Whether the uplink is paid by volume; null: nobody knows. */
  readonly isMetered: () => Promise<boolean | null>;
  /** ms since 1970. */
  readonly wall: () => number;
  /** Monotonic, ms. */
  readonly now: () => number;
  readonly log: Logger;
}

interface FoundFile {
  readonly id: string;
  readonly kind: Kind;
  readonly name: string;
  readonly bytes: number;
  readonly modified: number;
}

/** Uploads what a node keeps, one file at a time, the oldest first; and deletes here what is there, after its time. */
export class Uploader {
  readonly #options: UploaderOptions;
  readonly #backoff = new Backoff(RETRY.firstMs, RETRY.capMs);
  readonly #pace: TokenBucket | null;
  #timer: NodeJS.Timeout | null = null;
  #running: { readonly end: AbortController; readonly done: Promise<void> } | null = null;
  #retryAt = -Infinity;
  #problem: string | null = null;
  #waiting: WaitReason = null;
  #sending: { readonly id: string; sent: number } | null = null;

  constructor(options: UploaderOptions) {
    this.#options = options;
    const { max_kbit_s: limit } = options.config;
    const perSecond = (limit * 1000) / 8;
    this.#pace = limit === 0 ? null : new TokenBucket({ perSecond, burst: BURST_BYTES }, options.now());
  }

  async start(): Promise<void> {
    await this.#options.ledger.read();
    this.#timer = every(LOOK_MS, 'uploads', () => this.look());
    this.look();
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#running?.end.abort();
    await this.#running?.done;
  }

  /** Begins or ends: whether it may has changed, or there is more. */
  look(): void {
    if (this.#timer === null) return;
    if (this.#running !== null) {
      if (!this.#mayRun()) this.#running.end.abort();
      return;
    }
    const end = new AbortController();
    const done = this.#round(end.signal).finally(() => {
      this.#running = null;
    });
    this.#running = { end, done };
  }

  async state(): Promise<Omit<Uploads, 'enabled' | 'store'>> {
    const found = await this.#all();
    const shown = found.map((file) => {
      const known = this.#known(file);
      const sending = this.#sending?.id === file.id ? this.#sending : null;
      const uploaded = known?.uploaded_at ?? null;
      const { keep_days: days } = this.#options.config;
      return {
        kind: file.kind,
        name: file.name,
        size_bytes: file.bytes,
        state:
          uploaded !== null
            ? ('uploaded' as const)
            : sending !== null
              ? ('uploading' as const)
              : ('waiting' as const),
        sent_bytes: uploaded !== null ? file.bytes : (sending?.sent ?? null),
        uploaded_at: uploaded === null ? null : new Date(uploaded).toISOString(),
        deleted_after:
          uploaded === null || days === 0 ? null : new Date(uploaded + days * DAY_MS).toISOString(),
      };
    });
    const left = shown.filter(({ state }) => state !== 'uploaded');
    return {
      waiting_for: left.length === 0 ? null : this.#waiting,
      problem: this.#problem,
      waiting_files: left.length,
      waiting_bytes: left.reduce((sum, { size_bytes: bytes }) => sum + bytes, 0),
      uploads: shown.toReversed().slice(0, MAX_SHOWN),
    };
  }

  #mayRun(): boolean {
    return this.#options.config.while_armed || this.#options.isDisarmed();
  }

  async #hindrance(): Promise<WaitReason> {
    const { config, isMetered, now } = this.#options;
    if (!this.#mayRun()) return 'disarmed';
    if (now() < this.#retryAt) return 'store';
    if (!config.on_metered && (await isMetered()) === true) return 'unmetered';
    return null;
  }

  /** Whatever fails is tried again later. */
  async #round(signal: AbortSignal): Promise<void> {
    try {
      this.#waiting = await this.#hindrance();
      if (this.#waiting !== null) return;
      const found = await this.#all();
      const { ledger, store } = this.#options;
      const there = new Set(found.map(({ id }) => id));
      for (const { id, upload_id: begun } of await ledger.keep(there))
        if (begun !== null) await store.abandon(await this.#key(id), begun, signal);
      let failure: unknown = null;
      for (const file of found) {
        this.#waiting = await this.#hindrance();
        if (this.#waiting !== null) return;
        try {
          await this.#one(file, signal);
        } catch (error) {
          if (signal.aborted || !isOfFile(error)) throw error;
          failure = error;
        }
      }
      if (failure !== null) throw failure;
      this.#problem = null;
      this.#backoff.reset();
    } catch (error) {
      if (signal.aborted) this.#waiting = 'disarmed';
      else this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    const problem = error instanceof StoreError ? error.message : `It failed: ${messageOf(error)}`;
    if (problem !== this.#problem) this.#options.log.warn(`uploads: ${problem}`);
    this.#problem = problem;
    this.#waiting = 'store';
    this.#retryAt = this.#options.now() + this.#backoff.next();
  }

  async #one(file: FoundFile, signal: AbortSignal): Promise<void> {
    const known = this.#known(file);
    if (known?.etag == null) await this.#send(file, known, signal);
    await this.#tell(file);
    if (known?.etag != null) await this.#outlived(file, known, signal);
  }

  /** Where it is, once. */
  async #tell({ id, kind, name, bytes, modified }: FoundFile): Promise<void> {
    const { teller, ledger, store } = this.#options;
    const known = this.#known({ id, kind, name, bytes, modified });
    if (teller === null || known?.etag == null || known.told === true) return;
    const url = store.urlOf(await this.#key(id));
    if (await teller.tell({ ...known, kind, name, url })) await ledger.note({ ...known, told: true });
  }

  async #send(file: FoundFile, known: LedgerEntry | undefined, signal: AbortSignal): Promise<void> {
    const { store, ledger, sources, wall, log } = this.#options;
    const sending = { id: file.id, sent: 0 };
    const handle = await sources[file.kind].files.open(file.name);
    this.#sending = sending;
    const entry = { id: file.id, store: this.#storeName, bytes: file.bytes, modified: file.modified };
    try {
      const work: Sending = {
        key: await this.#key(file.id),
        file: handle,
        bytes: file.bytes,
        uploadId: known?.upload_id ?? null,
        begun: async (id) => ledger.note({ ...entry, upload_id: id, etag: null, uploaded_at: null }),
        pace: async (bytes) => this.#paced(bytes, signal),
        sent: (bytes) => {
          sending.sent = bytes;
        },
        signal,
      };
      const etag = await store.put(work);
      this.#problem = null; // before the list says that it is there
      await ledger.note({ ...entry, upload_id: null, etag, uploaded_at: wall() });
      this.#backoff.reset();
      log.info(`uploads: ${file.id} is in the store, ${file.bytes} bytes`);
    } catch (error) {
      if (!(error instanceof ChangedFile)) throw error; // the next look finds it as it is then
    } finally {
      this.#sending = null;
      await handle.close();
    }
  }

  /** Deletes it here, if the store still has it. */
  async #outlived(file: FoundFile, known: LedgerEntry, signal: AbortSignal): Promise<void> {
    const { config, store, sources, wall, ledger, log } = this.#options;
    const { keep_days: days } = config;
    if (days === 0 || known.uploaded_at === null || wall() - known.uploaded_at < days * DAY_MS) return;
    const there = await store.look(await this.#key(file.id), signal);
    if (there?.bytes === file.bytes && there.etag === known.etag) {
      await sources[file.kind].files.remove(file.name);
      log.info(`uploads: ${file.id} was deleted here; the store has it since ${days} days`);
    } else await ledger.note({ ...known, upload_id: null, etag: null, uploaded_at: null }); // it is sent again
  }

  async #paced(bytes: number, signal: AbortSignal): Promise<void> {
    if (this.#pace === null) return;
    const { now } = this.#options;
    while (!this.#pace.take(now(), bytes)) await delay(this.#pace.waitMs(now()), undefined, { signal });
  }

  /** What may be uploaded or is, oldest first: names begin with their time. */
  async #all(): Promise<readonly FoundFile[]> {
    const { config, sources, wall } = this.#options;
    const found: FoundFile[] = [];
    for (const kind of config.kinds) {
      const { files, writing } = sources[kind];
      const busy = new Set(writing());
      for (const name of await files.names()) {
        const looked = busy.has(name) ? null : await files.look(name);
        const modified = looked?.mtimeMs ?? 0;
        // A file of the future was written before the clock was set.
        const isSettled = Math.abs(wall() - modified) >= SETTLED_MS;
        if (looked !== null && looked.size > 0 && isSettled)
          found.push({ id: `${kind}/${name}`, kind, name, bytes: looked.size, modified });
      }
    }
    return found.toSorted((a, b) => a.modified - b.modified);
  }

  /** What is known of exactly this file in this store. */
  #known({ id, bytes, modified }: FoundFile): LedgerEntry | undefined {
    const entry = this.#options.ledger.find(id);
    const same = entry?.bytes === bytes && entry.modified === modified && entry.store === this.#storeName;
    return same ? entry : undefined;
  }

  get #storeName(): string {
    const { endpoint, bucket, prefix } = this.#options.config;
    return `${endpoint}/${bucket}/${prefix}`;
  }

  async #key(id: string): Promise<string> {
    return `${this.#options.config.prefix}${await this.#options.deviceId()}/${id}`;
  }
}

/** Whether another file may fare better: this one cannot be read, or the store has it otherwise than it was sent. */
function isOfFile(error: unknown): boolean {
  return !(error instanceof StoreError) || error.code === 'Different';
}
