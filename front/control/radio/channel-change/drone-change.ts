import { Serial } from '../../../../shared/async/serial.ts';
import { ApiError } from '../../../../shared/errors.ts';
import type { Logger } from '../../../../shared/process/logger.ts';
import type { Radio } from '../radio.ts';
import { BackgroundWork } from './background-work.ts';
import type { ChangeClock } from './change-clock.ts';
import type { ChangeStore, OpenChange } from './change-file.ts';
import { type ChannelAnswer, type ChannelRequest, IN_MS } from './channel-phases.ts';
import { PatientCard } from './patient-card.ts';

/** How long it waits for the commit. */
const PREPARED_MS = 10_000;
/** On each channel while it looks for the ground station, which looks on both within this time. */
const LISTEN_MS = 8000;
/** So long after the ground station's last word it stays where it heard it; that one asks every 2 s. */
const STAY_MS = 6000;

interface DroneChangeOptions {
  readonly radio: Pick<Radio, 'channel' | 'tune' | 'mayUse' | 'keepChannel'>;
  /** Since the ground station's svc-control asked something through the relay, ms; null if never. */
  readonly groundSilentMs: () => number | null;
  readonly store: ChangeStore;
  /** How long it stays on the new channel without a word of the ground station. */
  readonly revertMs: number;
  readonly clock: ChangeClock;
  readonly log: Logger;
}

interface Visit {
  readonly channel: number;
  readonly stayMs: number;
  readonly waitMs: number;
}

/**
 * A drone's side of a change of the channel. From `prepare` until the ground station says that it is over, it stays where it hears
 * that one's svc-control, and otherwise listens on both channels by turns; also after a restart.
 */
export class DroneChange {
  readonly #options: DroneChangeOptions;
  readonly #phases = new Serial();
  readonly #roaming: BackgroundWork;
  #card: PatientCard;
  #open: OpenChange | null = null;
  /** Until when a commit is expected. */
  #preparedUntil = -Infinity;
  /** Before its switch. */
  #waits = false;
  /** When the ground station asked about this change on the channel that this drone is on. */
  #confirmedAt = -Infinity;

  constructor(options: DroneChangeOptions) {
    this.#options = options;
    this.#roaming = new BackgroundWork(options.clock, options.log);
    this.#card = new PatientCard(options);
  }

  /** Goes on with the change in which it was interrupted, from the channel that the card is on. */
  async start(open: OpenChange): Promise<void> {
    const { from, to } = open;
    this.#open = open;
    const now = await this.#options.radio.channel().catch(() => from); // refused below, with its reason
    this.#roam({ channel: now === to ? to : from, stayMs: LISTEN_MS, waitMs: 0 });
  }

  async stop(): Promise<void> {
    await this.#roaming.stop();
    await this.#phases.idle();
  }

  /** Why this drone and its ground station may be on two channels; null while they are not. */
  get problem(): string | null {
    if (this.#open === null || this.#isHeard()) return null;
    const { from, to } = this.#open;
    const refused = this.#card.problem;
    return `The ground station has begun a change from channel ${from} to ${to} and is not heard${refused === null ? '' : `; ${refused}`}. This drone listens on both until it is.`;
  }

  /** @throws ApiError E_RADIO_REFUSED with the reason, E_BAD_REQUEST, E_STORE, and as `Radio.tune` */
  async request(request: ChannelRequest): Promise<ChannelAnswer> {
    return this.#phases.run(async () => {
      if (request.phase === 'prepare') return this.#prepare(request);
      if (request.phase === 'commit') return this.#commit(request);
      return this.#confirm(request);
    });
  }

  /** An operator has the last word: a change that is not over is forgotten. */
  async abandon(): Promise<void> {
    await this.#phases.run(async () => {
      await this.#roaming.end();
      await this.#forget();
    });
  }

  async #prepare({ channel: to, id, from }: ChannelRequest): Promise<ChannelAnswer> {
    if (id === undefined || from === undefined)
      throw new ApiError(
        'E_BAD_REQUEST',
        'To prepare, a drone needs the id of the change and the channel of before.',
      );
    const { radio, store, clock } = this.#options;
    const own = await radio.channel();
    if (own !== from)
      throw new ApiError('E_RADIO_REFUSED', `This drone is on channel ${own ?? 'none'}, not on ${from}.`);
    await radio.mayUse(to);
    // There is one ground station, and it has one change at a time: an older one is over.
    await this.#roaming.end();
    await this.#forget();
    const change: OpenChange = { id, from, to, settled: null, drones: [], left: [] };
    await store.write(change);
    this.#open = change;
    this.#card = new PatientCard(this.#options);
    let refusal: unknown = null;
    try {
      await radio.tune(to);
    } catch (error) {
      refusal = error;
    }
    if (!(await this.#card.to(from))) {
      this.#roam({ channel: to, stayMs: LISTEN_MS, waitMs: 0 });
      throw new ApiError('E_RADIO_REFUSED', `The card did not go back: ${this.#card.problem ?? ''}.`);
    }
    if (refusal !== null) {
      await this.#forget();
      throw refusal;
    }
    this.#preparedUntil = clock.now() + PREPARED_MS;
    this.#roam({ channel: from, stayMs: PREPARED_MS, waitMs: 0 });
    return answer(from, true);
  }

  async #commit({ channel, id, in_ms: inMs = IN_MS }: ChannelRequest): Promise<ChannelAnswer> {
    const { clock, revertMs } = this.#options;
    const open = this.#open;
    const expected = clock.now() < this.#preparedUntil;
    this.#preparedUntil = -Infinity;
    if (!expected || open?.id !== id || open?.to !== channel)
      throw new ApiError('E_RADIO_REFUSED', 'This change was not prepared here, or has expired.');
    this.#roam({ channel, stayMs: revertMs, waitMs: inMs });
    return answer(open.from, true);
  }

  /** The ground station is on this channel; `done`: every drone is, and it is kept. */
  async #confirm({ channel, phase }: ChannelRequest): Promise<ChannelAnswer> {
    const { radio, clock, log } = this.#options;
    this.#preparedUntil = -Infinity; // a commit that comes after this question is of a change that was given up
    const open = this.#open;
    const on = open === null ? await radio.channel() : this.#card.on;
    if (on !== channel)
      return {
        ...answer(on ?? channel, false),
        reason: this.#card.problem ?? 'It is on its way between channels.',
      };
    this.#confirmedAt = clock.now();
    if (open === null) return answer(channel, true);
    if (phase === 'done') {
      await this.#roaming.end();
      try {
        await radio.keepChannel(channel);
        await this.#forget();
      } catch (error) {
        this.#roam({ channel, stayMs: LISTEN_MS, waitMs: 0 });
        throw error;
      }
      log.info(`radio: on channel ${channel}, as the ground station is`);
    } else if (this.#waits) this.#roam({ channel, stayMs: LISTEN_MS, waitMs: 0 });
    return answer(channel, true);
  }

  #roam(first: Visit): void {
    this.#roaming.run(async (signal) => this.#visits(first, signal));
  }

  async #visits(first: Visit, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    const open = this.#open;
    if (open === null) return;
    const { from, to } = open;
    this.#waits = first.waitMs > 0;
    if (this.#waits) await clock.pause(first.waitMs, signal);
    this.#waits = false;
    let { channel, stayMs } = first;
    for (let visit = 0; ; visit++) {
      if (visit === 1)
        log.warn(
          `radio: no word of the ground station on channel ${first.channel}; listening on ${from} and ${to}`,
        );
      if (await this.#card.to(channel)) {
        signal.throwIfAborted();
        await this.#listen(stayMs, signal);
      } else await clock.pause(Math.min(this.#card.dueIn(from), this.#card.dueIn(to)), signal);
      signal.throwIfAborted();
      channel = channel === from ? to : from;
      stayMs = LISTEN_MS;
    }
  }

  /** Stays, and longer while the ground station is heard; what came before the tuning had finished does not count. */
  async #listen(ms: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const since = clock.now();
    for (;;) {
      const heard = this.#heardAt();
      const left = Math.max(since + ms, heard >= since ? heard + STAY_MS : 0) - clock.now();
      if (left <= 0) return;
      await clock.pause(left, signal);
    }
  }

  #heardAt(): number {
    const { groundSilentMs, clock } = this.#options;
    return Math.max(this.#confirmedAt, clock.now() - (groundSilentMs() ?? Infinity));
  }

  #isHeard(): boolean {
    return this.#card.on !== null && this.#options.clock.now() - this.#heardAt() < STAY_MS;
  }

  async #forget(): Promise<void> {
    this.#preparedUntil = -Infinity;
    await this.#options.store.remove();
    this.#open = null;
  }
}

function answer(channel: number, proved: boolean): ChannelAnswer {
  return { channel, frequency_mhz: null, proved, reverted: false, reason: null };
}
