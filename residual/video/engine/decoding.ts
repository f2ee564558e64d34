import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { AccessUnit, Picture } from './picture.ts';
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
const AGAIN_MS = 5000;

/** The one decoder for all who need raw pictures of a source that encodes itself. It rests while nobody does. */
export class Decoding {
  readonly #options: DecodingOptions;
  #decoder: UnitDecoder<Received> | null = null;
  #waiting: Received[] = [];
  /** Pictures are missing: it goes on with the next key frame. */
  #gap = true;
  #working: Promise<void> | null = null;
  #failedAt = -Infinity;
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
    this.#rest();
    await this.#working;
  }

  #isWanted(): boolean {
    const { wanted, now } = this.#options;
    return !this.#stopped && now() - this.#failedAt >= AGAIN_MS && wanted();
  }

  async #work(): Promise<void> {
    try {
      for (let unit = this.#waiting.shift(); unit !== undefined; unit = this.#waiting.shift()) {
        const decoder = await this.#decoderFor(unit);
        for (const { frame, unit: from } of await decoder.decode(unit)) {
          const { capturedAt, at, number } = from;
          this.#options.onPicture({ frame, capturedAt, at }, number);
          frame.free();
        }
      }
    } catch (error) {
      this.#failedAt = this.#options.now();
      this.#options.log.error(`video: decoding: ${messageOf(error)}`);
    }
    this.#working = null;
    if (!this.#isWanted()) this.#rest();
  }

  /** Another camera may send the other codec. */
  async #decoderFor({ codec }: Received): Promise<UnitDecoder<Received>> {
    if (this.#decoder?.codec === codec) return this.#decoder;
    this.#decoder?.close();
    this.#decoder = null;
    this.#decoder = await UnitDecoder.open<Received>(codec);
    return this.#decoder;
  }

  #rest(): void {
    this.#waiting = [];
    this.#gap = true;
    if (this.#working !== null) return; // the end of the work comes here again
    this.#decoder?.close();
    this.#decoder = null;
  }
}
