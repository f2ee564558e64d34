import {
  closeSync,
  constants,
  existsSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from '../errors.ts';
import { redact } from '../process/logger.ts';
import { GENESIS, lineHash, parse } from './chain.ts';
import { auditKey, type Head, headFile, headText, readHead } from './head.ts';

/** How late the head may be written after a record. */
const HEAD_MS = 1000;
/** Longer than any record. */
const TAIL_BYTES = 128 * 1024;
const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;

export interface ChainedLogOptions {
  readonly path: string;
  /** The key that signs the head; created if it is missing. */
  readonly keyFile: string;
  /** The file is rotated before it grows larger than this. */
  readonly maxBytes: number;
  /** How many are kept: the open one and those before it, `path.1` the newest of them. */
  readonly files: number;
  /** Mode of the files, and of the folder if it is created. */
  readonly modes: { readonly directory: number; readonly file: number };
  /** Wall clock, ms. */
  readonly now: () => number;
  /** Each record and its head are on the disk before `append` returns: for few records, which nobody may lose or cut off. */
  readonly durable?: boolean;
}

/**
 * An append-only, hash-chained file of JSON lines (chain.ts) with its signed head (head.ts). Each record is one write, so a
 * killed process leaves whole lines; a partial line after a short write or a power cut is removed. The head is written after
 * the records are on the disk, so after a power cut it may be behind the chain, but never ahead of it.
 */
export class ChainedLog {
  readonly #options: ChainedLogOptions;
  #fd: number | null = null;
  #headFd: number | null = null;
  #key: Buffer | null = null;
  #size = 0;
  #seq = 0;
  #prev = GENESIS;
  #from: Head['from'] = { seq: 1, prev: GENESIS };
  #timer: NodeJS.Timeout | null = null;
  #started = false;

  constructor(options: ChainedLogOptions) {
    this.#options = options;
  }

  /** Number of the newest record. */
  get seq(): number {
    return this.#seq;
  }

  /**
   * Opens the newest file and continues its chain. If it ends before the head, records were removed: the chain then continues
   * after the head, so that the gap stays visible.
   * @returns what is wrong with the chain, in a sentence; null for nothing
   * @throws the file system's error
   */
  start(): string | null {
    const { path, modes, keyFile } = this.#options;
    this.#close();
    this.#started = false;
    mkdirSync(dirname(path), { recursive: true, mode: modes.directory });
    const { key, isNew } = auditKey(keyFile);
    this.#key = key;
    this.#open();
    this.#cutHalfLine();
    const last = this.#size > 0 ? readTail(this.#fdOpen(), this.#size) : tailOf(`${path}.1`);
    const record = last === null ? null : parse(last);
    if (record !== null && last !== null) {
      this.#seq = record.seq;
      this.#prev = lineHash(last);
    }
    this.#from = this.#oldest(0);
    const problem = this.#compare(readHead(path, key), isNew);
    this.#writeHead();
    this.#started = true;
    return problem;
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#fd !== null && this.#started) {
      fdatasyncSync(this.#fd);
      this.#writeHead();
    }
    this.#close();
  }

  /** Writes one record with secrets masked. @throws the file system's error; then the record may not be on the disk */
  append(record: object): void {
    if (!this.#started) {
      const problem = this.start();
      if (problem !== null) process.emitWarning(`audit: ${problem}`);
    }
    const { now, maxBytes, durable = false } = this.#options;
    const time = new Date(now()).toISOString();
    // The chain's own hashes are not secrets.
    const body = redact(JSON.stringify({ time, ...record })).slice(1);
    const line = `{"seq":${this.#seq + 1},"prev":"${this.#prev}",${body}`;
    const bytes = Buffer.from(`${line}\n`);
    if (this.#fd === null) this.#open();
    if (this.#size > 0 && this.#size + bytes.length > maxBytes) this.#rotate();
    const fd = this.#fdOpen();
    // Removes a partial line of an earlier write that could not be removed at once.
    if (fstatSync(fd).size > this.#size) ftruncateSync(fd, this.#size);
    if (writeSync(fd, bytes, 0, bytes.length, this.#size) !== bytes.length) {
      // A disk that has just become full. Whoever checks the chain before the next record must not find half a line.
      ftruncateSync(fd, this.#size);
      throw new Error('a short write');
    }
    this.#size += bytes.length;
    this.#seq++;
    this.#prev = lineHash(line);
    if (durable) {
      fdatasyncSync(fd);
      this.#writeHead();
    } else this.#timer ??= setTimeout(() => this.#settle(), HEAD_MS).unref();
  }

  /** Writes the head for the records on the disk, without blocking. */
  #settle(): void {
    this.#timer = null;
    const fd = this.#fd;
    if (fd === null) return;
    const head = this.#head();
    fdatasync(fd, (error) => {
      if (error !== null || this.#fd !== fd) {
        if (error !== null && this.#fd === fd) process.emitWarning(`audit: ${messageOf(error)}`);
        return;
      }
      try {
        this.#writeHead(head);
      } catch (failure) {
        process.emitWarning(`audit: its head could not be written: ${messageOf(failure)}`);
      }
    });
  }

  #head(): Head {
    return { from: this.#from, seq: this.#seq, hash: this.#prev };
  }

  #writeHead(head = this.#head()): void {
    const { path, modes } = this.#options;
    if (this.#key === null) return;
    this.#headFd ??= openSync(headFile(path), FLAGS, modes.file & 0o600);
    writeSync(this.#headFd, headText(head, this.#key), 0);
  }

  #compare(head: Head | string | null, isNew: boolean): string | null {
    if (head === null) {
      if (isNew || this.#seq === 0) return null; // the first start, or the first with a head
      return this.#breakChain('its head is missing');
    }
    if (typeof head === 'string') return this.#breakChain(head);
    if (this.#seq < head.seq) {
      const problem = `records ${this.#seq + 1} to ${head.seq} are missing`;
      this.#seq = head.seq;
      this.#prev = head.hash;
      this.#from = head.from;
      return problem;
    }
    if (this.#from.seq <= head.from.seq) return null;
    // An older file was removed. The head keeps what it knew, so that this is not forgotten at the next start.
    const problem = `records ${head.from.seq} to ${this.#from.seq - 1} are missing`;
    this.#from = head.from;
    return problem;
  }

  /** The next record does not continue the present chain, so that the damage stays visible after the head is right again. */
  #breakChain(why: string): string {
    this.#prev = lineHash(why);
    return why;
  }

  #open(): void {
    const { path, modes } = this.#options;
    this.#fd = openSync(path, FLAGS, modes.file);
    // Known after opening. If someone else has shortened the file since, writing continues at its end.
    const { size } = fstatSync(this.#fd);
    this.#size = this.#started ? Math.min(this.#size, size) : size;
  }

  #fdOpen(): number {
    if (this.#fd === null) throw new Error('the audit is not open');
    return this.#fd;
  }

  #close(): void {
    for (const fd of [this.#fd, this.#headFd]) if (fd !== null) closeSync(fd);
    this.#fd = null;
    this.#headFd = null;
  }

  #cutHalfLine(): void {
    const fd = this.#fdOpen();
    const from = Math.max(0, this.#size - TAIL_BYTES);
    const tail = Buffer.alloc(this.#size - from);
    readSync(fd, tail, 0, tail.length, from);
    const whole = from + tail.lastIndexOf(0x0a) + 1;
    if (whole === this.#size) return;
    ftruncateSync(fd, whole);
    this.#size = whole;
  }

  #rotate(): void {
    const { path, files } = this.#options;
    fdatasyncSync(this.#fdOpen());
    // The head first: then its beginning exists even if the process dies between two renames. Only the oldest file of a full set
    // is dropped.
    if (existsSync(`${path}.${files - 1}`)) this.#from = this.#oldest(1);
    this.#writeHead();
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
    for (let index = files - 2; index >= 0; index--) {
      renameIfThere(index === 0 ? path : `${path}.${index}`, `${path}.${index + 1}`);
    }
    this.#size = 0;
    this.#open();
  }

  /** The beginning of the oldest file. @param dropped how many files of a full set will be removed */
  #oldest(dropped: number): Head['from'] {
    const { path, files } = this.#options;
    for (let index = files - 1 - dropped; index >= 0; index--) {
      const line = firstLineOf(index === 0 ? path : `${path}.${index}`);
      const record = line === null ? null : parse(line);
      if (record !== null) return { seq: record.seq, prev: record.prev };
    }
    return { seq: this.#seq + 1, prev: this.#prev };
  }
}

function readTail(fd: number, size: number): string | null {
  const from = Math.max(0, size - TAIL_BYTES);
  const bytes = Buffer.alloc(size - from);
  readSync(fd, bytes, 0, bytes.length, from);
  return bytes.toString('utf8').trimEnd().split('\n').at(-1) ?? null;
}

function tailOf(path: string): string | null {
  return withFile(path, (fd) => readTail(fd, fstatSync(fd).size));
}

function firstLineOf(path: string): string | null {
  return withFile(path, (fd) => {
    const bytes = Buffer.alloc(TAIL_BYTES);
    const text = bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, 0));
    const end = text.indexOf('\n');
    return end === -1 ? null : text.slice(0, end);
  });
}

function withFile<T>(path: string, read: (fd: number) => T): T | null {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    return read(fd);
  } finally {
    closeSync(fd);
  }
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
