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
import { dirname } from 'node:path';
import { redact } from '../logger.ts';
import { GENESIS, lineHash, parse } from './chain.ts';

export interface ChainedLogOptions {
  readonly path: string;
  /** The file is turned over before it grows beyond. */
  readonly maxBytes: number;
  /** How many are kept: the open one and those before it, `path.1` the newest of them. */
  readonly files: number;
  /** Mode of the folder, where it is made, and of the files. */
  readonly modes: { readonly directory: number; readonly file: number };
  /** Wall clock, ms. */
  readonly now: () => number;
}

/**
 * An append-only, hash-chained file of JSON lines (chain.ts). Each record is one write, so a process that is killed leaves
 * whole lines; half a line that a power cut left is cut off when the file is opened again.
 */
export class ChainedLog {
  readonly #options: ChainedLogOptions;
  #fd: number | null = null;
  #size = 0;
  #seq = 0;
  #prev = GENESIS;

  constructor(options: ChainedLogOptions) {
    this.#options = options;
  }

  /** Number of the newest record. */
  get seq(): number {
    return this.#seq;
  }

  /** Opens the newest file and takes up its chain. @throws the file system's error */
  start(): void {
    const { path, modes } = this.#options;
    mkdirSync(dirname(path), { recursive: true, mode: modes.directory });
    const newest = this.#open();
    this.#takeUp(newest === '' ? readOrEmpty(`${path}.1`) : newest);
  }

  stop(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }

  /** Writes one record, secrets blotted out. @throws the file system's error; nothing counts as written then */
  append(record: object): void {
    const { now, maxBytes } = this.#options;
    const time = new Date(now()).toISOString();
    const line = redact(JSON.stringify({ seq: this.#seq + 1, prev: this.#prev, time, ...record }));
    const bytes = Buffer.from(`${line}\n`);
    try {
      if (this.#fd === null) this.#open();
      if (this.#size + bytes.length > maxBytes) this.#rotate();
      if (this.#fd === null || writeSync(this.#fd, bytes) !== bytes.length) throw new Error('a short write');
    } catch (error) {
      this.stop(); // the next record opens the file anew and drops what is half there
      throw error;
    }
    this.#size += bytes.length;
    this.#seq++;
    this.#prev = lineHash(line);
  }

  /** @returns the text of the open file */
  #open(): string {
    const { path, modes } = this.#options;
    const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
    const fd = openSync(path, flags, modes.file);
    this.#fd = fd;
    const text = readFileSync(path, 'utf8');
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
    const { path, files } = this.#options;
    for (let index = files - 2; index >= 0; index--) {
      renameIfThere(index === 0 ? path : `${path}.${index}`, `${path}.${index + 1}`);
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
