import { randomBytes } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { every } from '../../../shared/async/every.ts';
import { Serial } from '../../../shared/async/serial.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { readPrivate } from '../../../shared/files/private-file.ts';
import { isTransient } from '../../../shared/files/transient.ts';
import { isRecord, type JsonObject } from '../../../shared/member.ts';
import { personCode } from '../../../shared/person-code.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { matchesHash, secretHash } from '../edge/credentials.ts';

const CODE_LENGTH = 6;
const CODE_LIFE_MS = 24 * 60 * 60 * 1000;
const RECHECK_MS = 1000;
// 30^6 codes, five tries, then a pause that doubles and a new code each time: guessing is not feasible.
const CODE_TRIES = 5;
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 15 * 60_000;

/** The state on disk: unpaired, paired or unreadable. With an unreadable file the node stays paired and lets nobody in. */
type Pairing =
  | { readonly kind: 'unpaired' }
  | {
      readonly kind: 'paired';
      readonly key: string;
      readonly keyHash: Buffer;
      readonly ownerId: string;
      readonly pairedAt: number;
    }
  | { readonly kind: 'broken'; readonly problem: string };

interface PairingOptions {
  readonly file: string;
  /** Wall clock, ms. */
  readonly now: () => number;
  /** Monotonic clock, ms. */
  readonly monotonic: () => number;
  readonly log: Logger;
  /** Called when the pairing has changed, so that all credentials that depend on the old one end. */
  readonly onChange?: () => void;
}

/**
 * The pairing of this node, in `pairing.json` (0600): `{paired, api_key, owner_id, paired_at}` (docs/contract/credentials.md).
 * Changes that root makes to the file count within 2 s, without a restart.
 */
export class PairingStore {
  readonly #options: PairingOptions;
  #pairing: Pairing = { kind: 'broken', problem: 'not loaded yet' };
  #code: { readonly text: string; readonly deadline: number } | null = null;
  /** One change at a time: of fifty parallel claims only one finds the node unpaired. */
  readonly #changes = new Serial();
  #watcher: FSWatcher | null = null;
  #timer: NodeJS.Timeout | null = null;
  #seen = '';
  #unreadable = false;
  #wrongCodes = 0;
  #pauseMs = FIRST_PAUSE_MS;
  #pausedUntil = 0;

  constructor(options: PairingOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { file, log } = this.#options;
    const directory = dirname(file);
    await mkdir(directory, { recursive: true, mode: 0o755 });
    await this.#load();
    const reload = (): void => {
      this.#changes
        .run(async () => this.#load())
        .catch((error: unknown) => log.error(`pairing: ${messageOf(error)}`));
    };
    this.#watcher = watch(directory, (_event, name) => {
      if (name === basename(file)) reload();
    });
    this.#watcher.on('error', (error) => log.warn(`pairing: cannot watch ${directory}: ${messageOf(error)}`));
    this.#timer = every(RECHECK_MS, 'pairing', reload); // some file systems report no changes
  }

  async stop(): Promise<void> {
    this.#watcher?.close();
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#changes.idle();
  }

  get paired(): boolean {
    return this.#pairing.kind !== 'unpaired';
  }

  get keyHash(): Buffer | null {
    return this.#pairing.kind === 'paired' ? this.#pairing.keyHash : null;
  }

  /** The pairing key itself, for deriving other keys; must never be shown. Null while there is none. */
  get key(): string | null {
    return this.#pairing.kind === 'paired' ? this.#pairing.key : null;
  }

  /** Seconds since 1970, null while unpaired. */
  get pairedAt(): number | null {
    return this.#pairing.kind === 'paired' ? this.#pairing.pairedAt : null;
  }

  get problem(): string | null {
    return this.#pairing.kind === 'broken' ? this.#pairing.problem : null;
  }

  /** The pairing code that a person reads on the node; a new one every 24 h. @throws ApiError E_PAIRED */
  code(): { readonly code: string; readonly expires_at: number } {
    if (this.paired) throw new ApiError('E_PAIRED');
    const { now, monotonic } = this.#options;
    if (this.#code === null || this.#code.deadline <= monotonic()) {
      const text = personCode(CODE_LENGTH);
      this.#code = { text, deadline: monotonic() + CODE_LIFE_MS };
    }
    return { code: this.#code.text, expires_at: (now() + this.#code.deadline - monotonic()) / 1000 };
  }

  /**
   * Makes `ownerId` the owner and returns the new key, which is readable nowhere else.
   * @throws ApiError E_PAIRED, E_CODE, E_LOCKED, E_STORE
   */
  async claim(ownerId: string, code: string | null, requireCode: boolean): Promise<string> {
    return this.#changes.run(async () => {
      if (this.paired) throw new ApiError('E_PAIRED');
      this.#checkCode(code, requireCode);
      const apiKey = `svc_${randomBytes(32).toString('base64url')}`;
      await this.#write({
        paired: true,
        api_key: apiKey,
        owner_id: ownerId,
        paired_at: this.#options.now() / 1000,
      });
      this.#code = null;
      return apiKey;
    });
  }

  /** @throws ApiError E_CODE, E_LOCKED */
  #checkCode(code: string | null, requireCode: boolean): void {
    const now = this.#options.monotonic();
    if (code === null && !requireCode) return;
    if (now < this.#pausedUntil) {
      const seconds = Math.ceil((this.#pausedUntil - now) / 1000);
      throw new ApiError(
        'E_LOCKED',
        'Too many wrong pairing codes. Wait, then read the new one.',
        {},
        { 'retry-after': String(seconds) },
      );
    }
    if (code !== null && matchesHash(code, secretHash(this.code().code))) return;
    if (code !== null && ++this.#wrongCodes >= CODE_TRIES) {
      this.#wrongCodes = 0;
      this.#code = null;
      this.#pausedUntil = now + this.#pauseMs;
      this.#pauseMs = Math.min(LONGEST_PAUSE_MS, this.#pauseMs * 2);
    }
    throw new ApiError('E_CODE');
  }

  /** @throws ApiError E_NOT_PAIRED, E_STORE */
  async unpair(): Promise<void> {
    await this.#changes.run(async () => {
      if (!this.paired) throw new ApiError('E_NOT_PAIRED');
      await this.#write({ paired: false });
      this.#code = null;
    });
  }

  async #write(content: JsonObject): Promise<void> {
    const { file, log } = this.#options;
    const text = `${JSON.stringify(content, null, 2)}\n`;
    try {
      await writeAtomic(file, text, 0o600);
    } catch (error) {
      log.error(`pairing: cannot write ${file}: ${messageOf(error)}`);
      throw new ApiError(
        'E_STORE',
        `The pairing could not be saved: ${messageOf(error)}. Nothing was changed.`,
      );
    }
    await this.#backUp(text);
    this.#take(parsePairing(file, text));
  }

  /**
   * A copy for root to restore if the SD card loses the file; updated with every change, so it never has an old key. The change
   * itself is done by now: if the copy fails, that is only logged.
   */
  async #backUp(text: string): Promise<void> {
    const { file, log } = this.#options;
    try {
      await writeAtomic(`${file}.bak`, text, 0o600);
    } catch (error) {
      log.warn(`pairing: the backup copy could not be written: ${messageOf(error)}`);
      await rm(`${file}.bak`, { force: true }).catch((cleanup: unknown) =>
        log.warn(`pairing: ${file}.bak may hold an old key: ${messageOf(cleanup)}`),
      );
    }
  }

  async #load(): Promise<void> {
    const { file, log } = this.#options;
    let next: Pairing;
    try {
      next = await readPairing(file);
      this.#unreadable = false;
    } catch (error) {
      // A lack of file descriptors or a bad sector does not change the owner of this node: the last state stays.
      if (!this.#unreadable) log.warn(`pairing: the file cannot be read at the moment: ${messageOf(error)}`);
      this.#unreadable = true;
      return;
    }
    this.#take(next);
  }

  #take(next: Pairing): void {
    const { log, onChange } = this.#options;
    const fingerprint = JSON.stringify(
      next.kind === 'paired' ? [next.keyHash.toString('hex'), next.pairedAt] : next,
    );
    if (fingerprint === this.#seen) return;
    const first = this.#seen === '';
    this.#seen = fingerprint;
    this.#pairing = next;
    if (next.kind === 'broken') log.error(`pairing: ${next.problem}`);
    if (!first) onChange?.();
  }
}

/** @throws temporary errors: too many open files, an input error */
async function readPairing(file: string): Promise<Pairing> {
  try {
    const text = await readPrivate(file);
    return text === null ? { kind: 'unpaired' } : parsePairing(file, text);
  } catch (error) {
    if (isTransient(error)) throw error;
    return { kind: 'broken', problem: `the pairing cannot be used: ${messageOf(error)}` };
  }
}

function parsePairing(file: string, text: string): Pairing {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { kind: 'broken', problem: `${file} is not JSON: ${messageOf(error)}` };
  }
  if (!isRecord(value)) return { kind: 'broken', problem: `${file} is not a JSON object` };
  const { paired, api_key: key, owner_id: owner, paired_at: at } = value;
  if (paired === false) return { kind: 'unpaired' };
  if (paired !== true || typeof key !== 'string' || !/^svc_[A-Za-z0-9_-]{4,}$/.test(key)) {
    return { kind: 'broken', problem: `${file} lacks paired or api_key` };
  }
  return {
    kind: 'paired',
    key,
    keyHash: secretHash(key),
    ownerId: typeof owner === 'string' ? owner : '',
    pairedAt: typeof at === 'number' ? at : 0,
  };
}
