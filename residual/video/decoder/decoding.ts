import { Backoff } from '../../../shared/async/backoff.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { AccessUnit, Picture } from '../../../shared/media/picture.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { UnitDecoder } from './unit-decoder.ts';

interface DecodingOptions {
  /** Whether anybody needs raw pictures at the moment. */
  readonly wanted: () => boolean;
  /** Called with each decoded picture; it is freed when this returns. */
  readonly onPicture: (picture: Picture, number: number) => void;
  /** Steady, ms. */
  readonly now: () => number;
  readonly log: Logger;
}

interface Received extends AccessUnit {
  readonly number: number;
}

/** Received pictures that wait for the decoder. */
const MAX_WAITING = 8;
const AGAIN = { firstMs: 250, longestMs: 5000 } as const;

/** The one decoder for all who need raw pictures of a source that encodes itself. It rests while nobody does. */
export class Decoding {
  readonly #options: DecodingOptions;
  readonly #decoder = new UnitDecoder<Received>();
  readonly #backoff = new Backoff(AGAIN.firstMs, AGAIN.longestMs);
  #waiting: Received[] = [];
  /** Pictures are missing: it goes on with the next key frame. */
  #gap = true;
  #working: Promise<void> | null = null;
  /** Not before that, after a failure. */
  #againAt = -Infinity;
  #stopped = false;

  constructor(options: DecodingOptions) {
    this.#options = options;
  }

  /** A picture that came encoded. @param number of the picture, passed on */
  offer(unit: AccessUnit, number: number): void {
    if (!this.#isWanted()) {
      this.#rest();
      return;
    }
    if (unit.key)
      this.#waiting = []; // what came before it is not needed any more
    else if (this.#gap) return;
    this.#gap = this.#waiting.push({ ...unit, number }) > MAX_WAITING;
    if (this.#gap) this.#waiting = [];
    else this.#working ??= this.#work();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#decoder.close();
    await this.#working;
  }

  #isWanted(): boolean {
    const { wanted, now } = this.#options;
    return !this.#stopped && now() >= this.#againAt && wanted();
  }

  async #work(): Promise<void> {
    try {
      for (let unit = this.#waiting.shift(); unit !== undefined; unit = this.#waiting.shift()) {
        for (const { frame, unit: from } of await this.#decoder.decode(unit)) {
          const { capturedAt, at, number } = from;
          this.#options.onPicture({ frame, capturedAt, at }, number);
          frame.free();
        }
      }
    } catch (error) {
      const now = this.#options.now();
      if (now - this.#againAt > AGAIN.longestMs) this.#backoff.reset();
      this.#againAt = now + this.#backoff.next();
      if (!this.#stopped) this.#options.log.error(`video: decoding: ${messageOf(error)}`);
    }
    this.#working = null;
    if (!this.#isWanted()) this.#rest();
  }

  #rest(): void {
    this.#waiting = [];
    this.#gap = true;
    if (this.#working !== null) return; // the end of the work comes here again
    this.#decoder.close();
  }
}
