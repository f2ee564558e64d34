import { Backoff } from '../../../../shared/async/backoff.ts';
import { messageOf } from '../../../../shared/errors.ts';
import type { Logger } from '../../../../shared/process/logger.ts';
import type { Radio } from '../radio.ts';
import type { ChangeClock } from './change-clock.ts';

const BACK_OFF = { firstMs: 1000, capMs: 30_000 } as const;

interface Refusal {
  reason: string;
  readonly backoff: Backoff;
  dueAt: number;
}

interface PatientCardOptions {
  readonly radio: Pick<Radio, 'channel' | 'tune'>;
  readonly clock: ChangeClock;
  readonly log: Logger;
}

/** The cards of this end during a change: a channel that they refuse is asked for again after 1, 2, 4 … 30 s, and logged once. */
export class PatientCard {
  readonly #options: PatientCardOptions;
  readonly #refusals = new Map<number, Refusal>();
  #on: number | null = null;
  #frequency: number | null = null;

  constructor(options: PatientCardOptions) {
    this.#options = options;
  }

  /** The channel on which the tuning has finished; null before, and while it is under way. */
  get on(): number | null {
    return this.#on;
  }

  /** MHz of the channel that it is on. */
  get frequency(): number | null {
    return this.#frequency;
  }

  /** @returns false if the cards refuse, or did so lately; then they may be on either channel */
  async to(channel: number): Promise<boolean> {
    if (this.#on === channel) return true;
    const { radio, clock, log } = this.#options;
    const before = this.#refusals.get(channel);
    if (before !== undefined && clock.now() < before.dueAt) return false;
    this.#on = null;
    try {
      const { frequency_mhz } = await radio.tune(channel);
      this.#frequency = frequency_mhz;
    } catch (error) {
      if (await this.#isOn(channel)) return true;
      const reason = messageOf(error);
      const refusal = before ?? {
        reason: '',
        backoff: new Backoff(BACK_OFF.firstMs, BACK_OFF.capMs),
        dueAt: 0,
      };
      if (refusal.reason !== reason)
        log.warn(`radio: channel ${channel} is refused and asked for again: ${reason}`);
      refusal.reason = reason;
      refusal.dueAt = clock.now() + refusal.backoff.next();
      this.#refusals.set(channel, refusal);
      return false;
    }
    this.#on = channel;
    if (this.#refusals.delete(channel)) log.info(`radio: channel ${channel} is taken now`);
    return true;
  }

  /** Whoever is refused the channel that it is on has it. */
  async #isOn(channel: number): Promise<boolean> {
    const now = await this.#options.radio.channel().catch(() => null); // no card, no iw: then it is on none
    if (now !== channel) return false;
    this.#frequency = null;
    this.#on = channel;
    this.#refusals.delete(channel);
    return true;
  }

  /** ms until a channel may be asked for again; 0 if it was not refused. */
  dueIn(channel: number): number {
    const refusal = this.#refusals.get(channel);
    return refusal === undefined ? 0 : Math.max(0, refusal.dueAt - this.#options.clock.now());
  }

  /** Which channels are refused now, and why; null if none is. */
  get problem(): string | null {
    const all = [...this.#refusals].map(
      ([channel, { reason }]) => `channel ${channel} is refused here: ${reason}`,
    );
    return all.length === 0 ? null : all.join('; ');
  }
}
