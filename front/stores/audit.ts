import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { type AuditRecord, GENESIS, lineHash, parse } from '../../shared/audit/chain.ts';
import { messageOf } from '../../shared/errors.ts';
import { type Logger, redact } from '../../shared/logger.ts';

export const AUDIT_FILE = 'audit.ndjson';
/** How many files are kept: the open one and those before it. */
export const AUDIT_FILES = 5;

const MAX_BYTES = 8 * 1024 * 1024;

export interface AuditOptions {
  readonly directory: string;
  /** Wall clock, ms. */
  readonly now: () => number;
  readonly log: Logger;
  /** Gets a copy of each record that is on disk, for the log store to be asked about. */
  readonly copy?: Logger;
  readonly maxBytes?: number;
}

/**
 * The audit: one record for every refusal and every request that changes something (spec/decisions.md 4), appended to a
 * hash-chained file, turned over at 8 MiB. Each record is one write, so a process that is killed leaves whole lines; half a
 * line that a power cut left is cut off when the file is opened again.
 */
export class AuditLog {
  readonly #options: AuditOptions;
  readonly #path: string;
  #fd: number | null = null;
  #size = 0;
  #seq = 0;
  #prev = GENESIS;
  /** Records that could not be written. */
  lost = 0;

  constructor(options: AuditOptions) {
    this.#options = options;
    this.#path = join(options.directory, AUDIT_FILE);
  }

  /** Opens the newest file and takes up its chain. @throws the file system's error */
  start(): void {
    mkdirSync(this.#options.directory, { recursive: true, mode: 0o750 });
    const newest = this.#open();
    if (newest !== '') this.#takeUp(newest);
    else this.#takeUp(readOrEmpty(`${this.#path}.1`));
  }

  stop(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }

  /** Writes one record. Never throws: a full disk must not stop the node, but it is counted and said. */
  write(record: Omit<AuditRecord, 'time'>): void {
    const { now, log } = this.#options;
    const time = new Date(now()).toISOString();
    const line = redact(JSON.stringify({ seq: this.#seq + 1, prev: this.#prev, time, ...record }));
    const bytes = Buffer.from(`${line}\n`);
    try {
      if (this.#fd === null) this.#open();
      if (this.#size + bytes.length > (this.#options.maxBytes ?? MAX_BYTES)) this.#rotate();
      if (this.#fd === null || writeSync(this.#fd, bytes) !== bytes.length) throw new Error('a short write');
    } catch (error) {
      this.lost++;
      this.stop(); // the next record opens the file anew and drops what is half there
      log.error(`audit: a record could not be written (${this.lost} so far): ${messageOf(error)}`);
      return;
    }
    this.#size += bytes.length;
    this.#seq++;
    this.#prev = lineHash(line);
    const { route, outcome } = record;
    this.#options.copy?.info(`${route ?? 'no route'}: ${outcome}`, { ...record, seq: this.#seq });
  }

  /** @returns the text of the open file */
  #open(): string {
    const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
    const fd = openSync(this.#path, flags, 0o640);
    this.#fd = fd;
    const text = readFileSync(this.#path, 'utf8');
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    if (whole.length !== text.length) ftruncateSync(fd, Buffer.byteLength(whole));
    this.#size = fstatSync(fd).size;
    return whole;
  }

  #takeUp(text: string): void {
    const last = text.trimEnd().split('\n').at(-1) ?? '';
    const record = last === '' ? null : parse(last);
    if (record === null) return;
    this.#seq = record.seq;
    this.#prev = lineHash(last);
  }

  #rotate(): void {
    this.stop();
    for (let index = AUDIT_FILES - 2; index >= 0; index--) {
      const from = index === 0 ? this.#path : `${this.#path}.${index}`;
      renameIfThere(from, `${this.#path}.${index + 1}`);
    }
    this.#open();
  }
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
