import { type Rate, TokenBucket } from '../../shared/async/token-bucket.ts';
import type { LinkProblem } from '../../shared/rpc/link-state.ts';
import type { Clock } from './clock.ts';
import type { Part } from './part.ts';

/** Share of a serial line that questions may take, and what one takes of it, bytes with those of the frame. */
const SHARE = 0.2;
const QUESTION_BYTES = 32;
/** Of a line whose speed is not known (UDP, TCP, USB says any), questions a second. */
const MOST_PER_S = 200;
const LEAST_PER_S = 10;
const BURST = 60;
const MAX_WAITING = 256;
/** What could not be asked is told for so long. */
const TOLD_MS = 30_000;

interface AskingOptions {
  readonly clock: Clock;
  /** Of the line, bits a second; null: not serial. */
  readonly baud: () => number | null;
  /** @returns false when the bytes were dropped */
  readonly send: (bytes: Buffer) => boolean;
}

/**
 * The one asker (docs/contract/flight.md): what the node asks of a vehicle on its own account leaves here, so many questions a second for
 * the speed of the line. More wait, up to a bound; what is dropped then is asked again by whoever wants it, later. So no vehicle can
 * make the node flood its line, whatever it answers.
 */
export class Asking implements Part {
  readonly #options: AskingOptions;
  #bucket: TokenBucket | null = null;
  #baud: number | null = null;
  #waiting: Buffer[] = [];
  #droppedAt = Number.NEGATIVE_INFINITY;

  constructor(options: AskingOptions) {
    this.#options = options;
  }

  /** Sends a question, now or a little later. */
  readonly ask = (bytes: Buffer): void => {
    if (this.#waiting.length === 0 && this.#mayNow()) this.#options.send(bytes);
    else if (this.#waiting.length < MAX_WAITING) this.#waiting.push(bytes);
    else this.#droppedAt = this.#options.clock.now();
  };

  /** Whether questions had to be dropped of late: the vehicle makes the node ask without end. */
  get isFlooded(): boolean {
    return this.#options.clock.now() - this.#droppedAt < TOLD_MS;
  }

  problems(): LinkProblem[] {
    if (!this.isFlooded) return [];
    const detail =
      'The vehicle answers so that this node would have to ask without end: it asks as often as the line allows, and no more. What it shows of the vehicle may be incomplete.';
    return [{ code: 'endless_asking', detail }];
  }

  onSession(): void {
    this.#waiting = [];
  }

  /** Called a few times a second. */
  tick(): void {
    while (this.#waiting.length > 0 && this.#mayNow()) {
      const bytes = this.#waiting.shift();
      if (bytes !== undefined) this.#options.send(bytes);
    }
  }

  #mayNow(): boolean {
    const { clock, baud } = this.#options;
    const now = clock.now();
    const speed = baud();
    if (this.#bucket === null || speed !== this.#baud) {
      this.#bucket = new TokenBucket(rateOf(speed), now);
      this.#baud = speed;
    }
    return this.#bucket.take(now);
  }
}

/** @param baud bits a second, of which ten are a byte */
function rateOf(baud: number | null): Rate {
  const fits = baud === null ? MOST_PER_S : ((baud / 10) * SHARE) / QUESTION_BYTES;
  return { perSecond: Math.min(MOST_PER_S, Math.max(LEAST_PER_S, fits)), burst: BURST };
}
