import { StringDecoder } from 'node:string_decoder';

/**
 * Cuts a byte stream into lines ended by LF. A line longer than `maxChars` is a protocol error and ends the stream:
 * a bound, so that a peer that never sends LF cannot fill our memory.
 */
export class LineSplitter {
  #rest = '';
  readonly #decoder = new StringDecoder('utf8');
  readonly #maxChars: number;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /** @throws Error when the unfinished line grows past the bound */
  push(chunk: Buffer, onLine: (line: string) => void): void {
    const text = this.#rest + this.#decoder.write(chunk);
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      if (end > start) onLine(text.slice(start, end));
      start = end + 1;
    }
    this.#rest = text.slice(start);
    if (this.#rest.length > this.#maxChars)
      throw new Error(`a line is longer than ${this.#maxChars} characters`);
  }
}
