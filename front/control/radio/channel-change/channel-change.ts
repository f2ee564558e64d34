import { Serial } from '../../../../shared/async/serial.ts';
import { ApiError, messageOf } from '../../../../shared/errors.ts';
import type { Logger } from '../../../../shared/process/logger.ts';
import type { BoundRadio } from '../../relay/bound-radios.ts';
import type { Radio } from '../radio.ts';
import { CHANGE_CLOCK, type ChangeClock } from './change-clock.ts';
import type { ChangeStore } from './change-file.ts';
import type { ChannelAnswer, ChannelRequest } from './channel-phases.ts';
import { DroneChange } from './drone-change.ts';
import { GroundChange, type GroundRelay, HEARD_MS } from './ground-change.ts';

interface ChannelChangeOptions {
  readonly radio: Pick<Radio, 'channel' | 'tune' | 'mayUse' | 'keepChannel'>;
  /** The bound radios that have a link. */
  readonly bound: () => readonly Pick<BoundRadio, 'device_id'>[];
  /** A ground station's; null on a drone. */
  readonly relay: GroundRelay | null;
  /** On a drone: since its ground station asked something, ms; null if never. */
  readonly groundSilentMs: () => number | null;
  /** A change that is not over. */
  readonly store: ChangeStore;
  readonly revertMs: number;
  readonly clock?: ChangeClock;
  readonly log: Logger;
}

/** The change of the channel (docs/contract/ground.md#binding): of both ends together where they hear each other, else of this one alone. */
export class ChannelChange {
  readonly #options: ChannelChangeOptions;
  /** Operators' changes. */
  readonly #work = new Serial();
  readonly #drone: DroneChange;
  readonly #ground: GroundChange | null;

  constructor(options: ChannelChangeOptions) {
    const { relay, clock = CHANGE_CLOCK } = options;
    this.#options = options;
    this.#drone = new DroneChange({ ...options, clock });
    this.#ground = relay === null ? null : new GroundChange({ ...options, relay, clock });
  }

  /** A change in the middle of which this process was killed goes on. */
  async start(): Promise<void> {
    const { store, log } = this.#options;
    const open = await store.read().catch((error: unknown) => {
      log.error(`radio: ${messageOf(error)}. Whether a change of the channel was under way is not known.`);
      return null;
    });
    if (open === null) return;
    log.warn(`radio: the change from channel ${open.from} to ${open.to} was interrupted, and goes on`);
    await (this.#ground ?? this.#drone).start(open);
  }

  async stop(): Promise<void> {
    await (this.#ground ?? this.#drone).stop();
    await this.#work.idle();
  }

  /** Why the two ends may be on two channels; null while they are not. */
  get problem(): string | null {
    return (this.#ground ?? this.#drone).problem;
  }

  /**
   * @throws ApiError E_RADIO_REFUSED with the reason of whichever end refuses; then both are where they were. E_BUSY while the
   *   change before is not confirmed by all
   */
  async request(request: ChannelRequest): Promise<ChannelAnswer> {
    if (request.phase !== undefined) return this.#drone.request(request);
    return this.#work.run(async () => this.#change(request.channel, request.forced === true));
  }

  async #change(to: number, forced: boolean): Promise<ChannelAnswer> {
    const { bound, relay, groundSilentMs, radio } = this.#options;
    if (this.#ground?.isBusy === true)
      throw new ApiError(
        'E_BUSY',
        'Not every drone has confirmed the previous change. Try again in a few seconds.',
      );
    const from = await radio.channel();
    const ends = bound();
    if (this.#ground === null || relay === null) {
      const silent = groundSilentMs();
      if (ends.length > 0 && silent !== null && silent < HEARD_MS && from !== to)
        throw new ApiError(
          'E_RADIO_REFUSED',
          'This drone is linked to its ground station. Change the channel there; both ends change together.',
        );
      await this.#drone.abandon();
      return this.#alone(to, 'No ground station is heard, which could prove it.');
    }
    const ids = ends.map(({ device_id: id }) => id);
    const heard = ids.filter((id) => (relay.health(id).silentMs ?? Infinity) < HEARD_MS);
    const lost = ids.filter((id) => !heard.includes(id));
    // Without a card, or a radio at all, it is refused there, with the reason.
    if (from === null || heard.length === 0) {
      const open = await this.#ground.abandon();
      return this.#alone(
        to,
        `No drone is heard, which could prove it.${open ? ' The change before is given up; the drone listens on its two channels by turns.' : ''}`,
      );
    }
    if (from === to) return { channel: to, frequency_mhz: null, proved: true, reverted: false, reason: null };
    if (lost.length > 0)
      throw new ApiError(
        'E_RADIO_REFUSED',
        `${lost.join(', ')} is bound and not heard now: it would stay behind on channel ${from}.`,
      );
    return this.#ground.change(from, to, heard, forced);
  }

  async #alone(to: number, reason: string): Promise<ChannelAnswer> {
    const { radio } = this.#options;
    const { frequency_mhz } = await radio.tune(to);
    await radio.keepChannel(to);
    return { channel: to, frequency_mhz, proved: false, reverted: false, reason };
  }
}
