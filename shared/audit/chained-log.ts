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
  readFileSync,
  readSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { codeOf, messageOf } from '../errors.ts';
import { maskText } from '../mask.ts';
import { type ChainedRecord, GENESIS, lineHash, parse } from './chain.ts';
import { agreedHead, auditKey, type Head, headFile, headText, type ReadHead, readHead } from './head.ts';

/** A node makes its key and the heads at the same start. */
export const NOTHING_LEFT = 'the chain and both of its heads are missing';
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
  /** The oldest file stays beyond that, up to `files` here, while its newest record is younger than `ms`, by `now` (ms since 1970). */
  readonly keep?: { readonly ms: number; readonly files: number; readonly now: () => number };
  /** Mode of the files, and of the folder if it is created. */
  readonly modes: { readonly directory: number; readonly file: number };
  /** Wall clock, ms. */
  readonly now: () => number;
  /** Each record and its head are on the disk before `append` returns: for few records, which nobody may lose or cut off. */
  readonly durable?: boolean;
  /** The head once more, in a folder of its own, so that the loss of the chain's folder is noticed. */
  readonly anchor?: {
    readonly file: string;
    /** The oldest record that was announced and is not settled yet; null for none. */
    readonly open: () => number | null;
  };
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
  #anchorFd: number | null = null;
  #key: Buffer | null = null;
  #size = 0;
  #seq = 0;
  #prev = GENESIS;
  #from: Head['from'] = { seq: 1, prev: GENESIS };
  #timer: NodeJS.Timeout | null = null;
  #started = false;
  #isNew = false;
  #openAtStart: number | null = null;
  #proved: Pick<Head, 'seq' | 'hash'> | null = null;

  constructor(options: ChainedLogOptions) {
    this.#options = options;
  }

  /** Number of the newest record. */
  get seq(): number {
    return this.#seq;
  }

  /** The newest record that no power cut takes back; null before the first heads were written. */
  get proved(): Pick<Head, 'seq' | 'hash'> | null {
    return this.#proved;
  }

  /**
   * Opens the newest file and continues its chain. If it ends before the head, records were removed: the chain then continues
   * after the head, so that the gap stays visible.
   * @param isNew whether the key is of this start, and nothing can have been recorded before
   * @returns what is wrong with the chain, in a sentence; null for nothing
   * @throws the file system's error
   */
  start(isNew = false): string | null {
    const { path, modes, keyFile, anchor } = this.#options;
    this.#isNew ||= isNew;
    this.#close();
    this.#started = false;
    mkdirSync(dirname(path), { recursive: true, mode: modes.directory });
    if (anchor !== undefined) mkdirSync(dirname(anchor.file), { recursive: true, mode: modes.directory });
    const { key, isNew: isMade } = auditKey(keyFile);
    this.#isNew ||= isMade; // also when this start fails, and a later one does not
    this.#key = key;
    this.#open();
    this.#cutHalfLine();
    const last = this.#size > 0 ? readTail(this.#fdOpen(), this.#size) : tailOf(`${path}.1`);
    const record = last === null ? null : parse(last);
    if (record !== null && last !== null) {
      this.#seq = record.seq;
      this.#prev = lineHash(last);
    }
    this.#from = this.#oldest(this.#most);
    const known = anchor === undefined ? null : readHead(anchor.file, key);
    const problem = this.#compare(readHead(headFile(path), key), known);
    this.#openAtStart =
      known !== null && typeof known !== 'string' ? (known.open ?? 1) : this.#isNew ? null : 1;
    this.#writeHeads();
    this.#started = true;
    this.#isNew = false;
    return problem;
  }

  /**
   * The records since the oldest one that was not settled when the last process wrote its anchor, oldest first.
   * Call it once, after `start`. @throws the file system's error
   */
  sinceOpen(): readonly ChainedRecord[] {
    const from = this.#openAtStart;
    this.#openAtStart = null;
    if (from === null || from > this.#seq) return [];
    const { path } = this.#options;
    const found: ChainedRecord[][] = [];
    for (let index = 0; index < this.#most; index++) {
      const name = index === 0 ? path : `${path}.${index}`;
      if (!existsSync(name)) continue;
      const records = recordsOf(name, from);
      found.push(records);
      const first = firstLineOf(name);
      if (first !== null && (parse(first)?.seq ?? 0) <= from) break;
    }
    return found.toReversed().flat();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#fd !== null && this.#started) {
      fdatasyncSync(this.#fd);
      this.#writeHeads();
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
    const body = maskText(JSON.stringify({ time, ...record })).slice(1);
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
    const open = this.#oldestOpen();
    const after = (work: () => void) => (error: NodeJS.ErrnoException | null) => {
      if (this.#fd !== fd) return; // a rotation has written the head meanwhile
      try {
        if (error !== null) throw error;
        work();
      } catch (failure) {
        process.emitWarning(`audit: its head could not be written: ${messageOf(failure)}`);
      }
    };
    const writeBoth = after(() => {
      const headFd = this.#writeHead(head);
      // The head is on the disk first: after a power cut it may be ahead of the anchor, never behind it.
      if (this.#options.anchor !== undefined && headFd !== null)
        fdatasync(
          headFd,
          after(() => this.#writeAnchor(head, open)),
        );
    });
    fdatasync(fd, writeBoth);
  }

  #oldestOpen(): number {
    return this.#options.anchor?.open() ?? this.#seq + 1;
  }

  #writeHeads(): void {
    const head = this.#head();
    const fd = this.#writeHead(head);
    if (this.#options.anchor === undefined || fd === null) return;
    fdatasyncSync(fd);
    this.#writeAnchor(head, this.#openAtStart ?? this.#oldestOpen());
  }

  #writeAnchor(head: Head, open: number): void {
    const { anchor, modes } = this.#options;
    if (anchor === undefined || this.#key === null) return;
    this.#anchorFd ??= openSync(anchor.file, FLAGS, modes.file & 0o600);
    writeSync(this.#anchorFd, headText({ ...head, open }, this.#key), 0);
    this.#proved = { seq: head.seq, hash: head.hash };
  }

  #head(): Head {
    return { from: this.#from, seq: this.#seq, hash: this.#prev };
  }

  /** @returns the descriptor of its file */
  #writeHead(head = this.#head()): number | null {
    const { path, modes, anchor } = this.#options;
    if (this.#key === null) return null;
    this.#headFd ??= openSync(headFile(path), FLAGS, modes.file & 0o600);
    writeSync(this.#headFd, headText(head, this.#key, anchor !== undefined), 0);
    return this.#headFd;
  }

  #compare(own: ReadHead | string | null, anchor: ReadHead | string | null): string | null {
    const { path } = this.#options;
    const head = agreedHead(path, own, anchor, this.#seq > 0);
    if (head === null) {
      // The first start; without an anchor, one of which nothing is left looks the same.
      if (this.#isNew || this.#options.anchor === undefined) return null;
      this.#seq = 1; // a number that stays free, so that the gap is seen before there is a record
      return this.#breakChain(NOTHING_LEFT);
    }
    if (typeof head === 'string') {
      if (this.#isNew && own === null && anchor === null) return null; // the first with a head
      // The numbers go on after what is known, so that nothing is numbered twice.
      if (anchor !== null && typeof anchor !== 'string') this.#seq = Math.max(this.#seq, anchor.seq);
      return this.#breakChain(head);
    }
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
    for (const fd of [this.#fd, this.#headFd, this.#anchorFd]) if (fd !== null) closeSync(fd);
    this.#fd = null;
    this.#headFd = null;
    this.#anchorFd = null;
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
    const { path } = this.#options;
    fdatasyncSync(this.#fdOpen());
    // The head first: then its beginning exists even if the process dies between two renames. Only the oldest file of a full set
    // is dropped.
    const stay = this.#howManyStay();
    if (existsSync(`${path}.${stay}`)) this.#from = this.#oldest(stay);
    this.#writeHead();
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
    for (let index = stay - 1; index >= 0; index--) {
      renameIfThere(index === 0 ? path : `${path}.${index}`, `${path}.${index + 1}`);
    }
    this.#size = 0;
    this.#open();
  }

  get #most(): number {
    const { files, keep } = this.#options;
    return Math.max(files, keep?.files ?? 0);
  }

  /** How many of the files stay at a rotation: all, or all but the oldest. */
  #howManyStay(): number {
    const { path, files, keep } = this.#options;
    let count = this.#most;
    while (count > 1 && !existsSync(`${path}.${count - 1}`)) count--;
    if (count < files) return count;
    const last = tailOf(count === 1 ? path : `${path}.${count - 1}`);
    const time = Date.parse((last === null ? null : parse(last))?.time ?? '');
    return keep !== undefined && count < keep.files && time > keep.now() - keep.ms ? count : count - 1;
  }

  /** The beginning of the oldest of so many files. */
  #oldest(count: number): Head['from'] {
    const { path } = this.#options;
    for (let index = count - 1; index >= 0; index--) {
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

/** The records from this number on. */
function recordsOf(path: string, from: number): ChainedRecord[] {
  const text = withFile(path, (fd) => readFileSync(fd, 'utf8')) ?? '';
  const found: ChainedRecord[] = [];
  const lines = text.split('\n');
  for (let index = lines.length - 1; index >= 0; index--) {
    const record = parse(lines[index] ?? '');
    if (record === null) continue;
    if (record.seq < from) break;
    found.push(record);
  }
  return found.toReversed();
}

function withFile<T>(path: string, read: (fd: number) => T): T | null {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
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
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}
