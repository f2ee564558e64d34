import { readSync } from 'node:fs';

const WINDOW = 256 * 1024;

/** The bytes of a file from its start to its end, some of them in memory. Of a file that grows, those that were there. */
export class LogBytes {
  /** The next byte is at `start`, and there are `has(n)` of them. Valid until the next call of `has` or `skip`. */
  readonly bytes: Buffer = Buffer.alloc(WINDOW);
  start = 0;
  readonly #file: number;
  readonly #size: number;
  readonly #onRead: (position: number) => void;
  #end = 0;
  #next = 0;

  /** @param file descriptor. @param size how many bytes of it are read. @param onRead told how far it is */
  constructor(file: number, size: number, onRead: (position: number) => void = () => undefined) {
    this.#file = file;
    this.#size = size;
    this.#onRead = onRead;
  }

  /** Where the next byte is in the file. */
  get position(): number {
    return this.#next - (this.#end - this.start);
  }

  /** Whether so many bytes follow, which are in memory then. @param count less than 256 KiB */
  has(count: number): boolean {
    while (this.#end - this.start < count) if (!this.#read()) return false;
    return true;
  }

  skip(count: number): void {
    const there = this.#end - this.start;
    if (count <= there) {
      this.start += count;
      return;
    }
    this.#next = Math.min(this.#size, this.#next + count - there);
    this.start = 0;
    this.#end = 0;
  }

  /** Goes on at the next byte that has this value, after the one that is there. @returns whether there is one */
  seek(value: number): boolean {
    this.skip(1);
    while (this.has(1)) {
      const found = this.bytes.indexOf(value, this.start);
      if (found !== -1 && found < this.#end) {
        this.start = found;
        return true;
      }
      this.start = this.#end;
    }
    return false;
  }

  #read(): boolean {
    this.bytes.copyWithin(0, this.start, this.#end);
    this.#end -= this.start;
    this.start = 0;
    const wanted = Math.min(WINDOW - this.#end, this.#size - this.#next);
    if (wanted <= 0) return false;
    const got = readSync(this.#file, this.bytes, this.#end, wanted, this.#next);
    this.#end += got;
    this.#next += got;
    this.#onRead(this.#next);
    return got > 0;
  }
}
