import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { OnLine } from './types.ts';

const MAX_CHARS = 8 * 1024;
const WINDOW_MS = 10_000;
const MAX_LINES = 1000;

/**
 * Tells the lines of an extension's output. It bounds what an extension can do with it: a line is cut at 8 KiB, and of more than
 * 1000 lines in 10 s (both streams together) the rest is dropped and told as one line that counts them.
 */
export class OutputLines {
  readonly #onLine: OnLine;
  readonly #now: () => number;
  #windowAt: number;
  #told = 0;
  #dropped = 0;

  /** @param now a monotonic clock, ms */
  constructor(onLine: OnLine, now: () => number) {
    this.#onLine = onLine;
    this.#now = now;
    this.#windowAt = now();
  }

  /** Reads the stream to its end. @returns a promise of that end; it never rejects */
  async follow(name: 'stdout' | 'stderr', stream: Readable): Promise<void> {
    const decoder = new StringDecoder('utf8');
    let line = '';
    let cut = false;
    const end = (): void => {
      if (line !== '') this.#tell(name, cut ? `${line} …` : line);
      line = '';
      cut = false;
    };
    const add = (text: string): void => {
      line += text.slice(0, MAX_CHARS - line.length);
      cut ||= line.length === MAX_CHARS && text.length > 0;
    };
    stream.on('data', (chunk: Buffer) => {
      const [first = '', ...others] = decoder.write(chunk).split('\n');
      add(first);
      for (const text of others) {
        end();
        add(text);
      }
    });
    await new Promise<void>((resolve) => {
      stream.on('error', () => resolve()); // a reset: the process has ended
      stream.on('close', resolve);
    });
    end();
    this.#tellDropped(name);
  }

  #tell(name: 'stdout' | 'stderr', line: string): void {
    const now = this.#now();
    if (now - this.#windowAt >= WINDOW_MS) {
      this.#windowAt = now;
      this.#told = 0;
      this.#tellDropped(name);
    }
    if (this.#told === MAX_LINES) {
      this.#dropped++;
      return;
    }
    this.#told++;
    this.#onLine(name, line);
  }

  #tellDropped(name: 'stdout' | 'stderr'): void {
    if (this.#dropped === 0) return;
    this.#onLine(
      name,
      `${this.#dropped} lines were dropped: more than ${MAX_LINES} in ${WINDOW_MS / 1000} s`,
    );
    this.#dropped = 0;
  }
}
