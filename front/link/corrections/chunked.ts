/** A longer line with the size of a chunk is none. */
const MAX_LINE_BYTES = 256;
const LF = 0x0a;

/** The transfer coding `chunked` of HTTP/1.1, taken off as the bytes come. */
export class Chunked {
  readonly #onData: (bytes: Buffer) => void;
  /** Of the line with a size. */
  #line = '';
  /** Of the chunk, still to come. */
  #left = 0;
  /** The line that ends a chunk is to come. */
  #isBetween = false;

  constructor(onData: (bytes: Buffer) => void) {
    this.#onData = onData;
  }

  /** @returns `go on`, `end`: the last chunk has come, or `wrong`: that is not chunked */
  push(bytes: Buffer): 'go on' | 'end' | 'wrong' {
    let at = 0;
    while (at < bytes.length) {
      if (this.#left > 0) {
        const data = bytes.subarray(at, at + this.#left);
        this.#left -= data.length;
        at += data.length;
        this.#isBetween = this.#left === 0;
        this.#onData(data);
        continue;
      }
      const end = bytes.indexOf(LF, at);
      const part = bytes.subarray(at, end === -1 ? bytes.length : end);
      if (this.#line.length + part.length > MAX_LINE_BYTES) return 'wrong';
      this.#line += part.toString('latin1');
      at += part.length + 1;
      if (end === -1) break;
      const next = this.#lineOver();
      if (next !== 'go on') return next;
    }
    return 'go on';
  }

  #lineOver(): 'go on' | 'end' | 'wrong' {
    const line = this.#line.trim();
    this.#line = '';
    if (this.#isBetween) {
      this.#isBetween = false;
      return line === '' ? 'go on' : 'wrong';
    }
    const size = /^([0-9a-f]{1,8})(?:\s*;.*)?$/i.exec(line);
    if (size === null) return 'wrong';
    this.#left = Number.parseInt(size[1] ?? '', 16);
    return this.#left === 0 ? 'end' : 'go on';
  }
}
