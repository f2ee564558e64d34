const WINDOW = 256 * 1024;

/** Fills the front of `into` with bytes of the file from `position` on. @returns how many there were */
export type ReadBytes = (into: Uint8Array, position: number) => number;

/** The bytes of a file from its start to its end, some of them in memory. Of a file that grows, those that were there. */
export class LogBytes {
  /** The next byte is at `start`, and there are `has(n)` of them. Valid until the next call of `has` or `skip`. */
  readonly bytes: Uint8Array;
  /** Of the same bytes. */
  readonly view: DataView;
  start = 0;
  readonly #readBytes: ReadBytes;
  readonly #size: number;
  readonly #onRead: (position: number) => void;
  #end = 0;
  #next = 0;

  /** @param size how many bytes of the file are read. @param onRead told how far it is. @param window bytes in memory, at least 256 KiB */
  constructor(
    readBytes: ReadBytes,
    size: number,
    onRead: (position: number) => void = () => undefined,
    window: number = WINDOW,
  ) {
    this.#readBytes = readBytes;
    this.#size = size;
    this.#onRead = onRead;
    this.bytes = new Uint8Array(window);
    this.view = new DataView(this.bytes.buffer);
  }

  /** The same bytes from their beginning, for a look ahead. @param most how many of them */
  again(most = this.#size): LogBytes {
    return new LogBytes(this.#readBytes, Math.min(most, this.#size));
  }

  /** How many bytes are in memory from the next one on. */
  get there(): number {
    return this.#end - this.start;
  }

  /** Where the next byte is in the file. */
  get position(): number {
    return this.#next - this.there;
  }

  /** Whether so many bytes follow, which are in memory then. @param count less than 256 KiB */
  has(count: number): boolean {
    while (this.there < count) if (!this.#read()) return false;
    return true;
  }

  skip(count: number): void {
    const { there } = this;
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

  /** Whether these bytes come next, `ahead` of the next one. */
  isNext(wanted: Uint8Array, ahead = 0): boolean {
    return (
      this.has(ahead + wanted.length) &&
      wanted.every((byte, index) => this.bytes[this.start + ahead + index] === byte)
    );
  }

  #read(): boolean {
    this.bytes.copyWithin(0, this.start, this.#end);
    this.#end -= this.start;
    this.start = 0;
    const wanted = Math.min(this.bytes.length - this.#end, this.#size - this.#next);
    if (wanted <= 0) return false;
    const got = this.#readBytes(this.bytes.subarray(this.#end, this.#end + wanted), this.#next);
    this.#end += got;
    this.#next += got;
    this.#onRead(this.#next);
    return got > 0;
  }
}
