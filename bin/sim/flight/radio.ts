import type { Faults } from '../faults.ts';
import type { Craft } from './craft.ts';

/** How a channel was calibrated. */
interface ChannelParams {
  readonly min: number;
  readonly max: number;
  readonly trim: number;
  /** PX4's RCn_REV; 1 where there is none. */
  readonly rev: number;
}

/** What a firmware makes of the radio. */
export interface RadioHabits {
  /** The parameter with the channel of the switch for the flight mode, and the beginning of those of its positions; undefined: it has none. */
  readonly modeSwitch: { readonly channel: string; readonly modes: string } | undefined;
  /** Position of the switch, from 0; undefined: none. */
  readonly switchPosition: (us: number, channel: ChannelParams) => number | undefined;
  /** Number of the flight mode for what stands in the parameter of a position; undefined: the mode stays. */
  readonly switchMode: (value: number) => number | undefined;
  /** Without a radio it sends RC_CHANNELS that has no channels; else it sends none. */
  readonly saysNoRadio: boolean;
  /** The throttle stick of a radio that nobody moves is down in the air too, as that of ArduPilot's simulator; else it is centred there. */
  readonly throttleStaysDown: boolean;
  /** What it says before arming of a trim that is not between the ends. @param below below the lower one */
  readonly trimOutside: (channel: number, params: ChannelParams, below: boolean) => string;
}

/** SWITCH_DEBOUNCE_TIME_MS of ArduPilot; PX4 waits for two equal readings. */
const DEBOUNCE_MS = 200;
const THROTTLE = 2;

/** The pilot's radio, and the switch on it that chooses the flight mode. */
export class Radio {
  readonly #craft: Craft;
  readonly #faults: Faults;
  readonly #habits: RadioHabits;
  readonly #setMode: (mode: number) => void;
  /** The one that was last acted on. The first one after boot is only remembered: the mode at boot is an option of this program. */
  #position: number | undefined;
  #next: { readonly position: number; readonly since: number } | undefined;

  constructor(craft: Craft, faults: Faults, habits: RadioHabits, setMode: (mode: number) => void) {
    this.#craft = craft;
    this.#faults = faults;
    this.#habits = habits;
    this.#setMode = setMode;
  }

  /**
   * µs by channel; empty: no radio is heard. Where a test moves nothing the throttle is down on the ground.
   */
  get channels(): readonly number[] {
    const { vehicle, params } = this.#craft;
    const { radio, radioLost } = this.#faults;
    if (radioLost || params.get('SIM_RC_FAIL') === 1) return [];
    const resting = [
      1500,
      1500,
      vehicle.landed || this.#habits.throttleStaysDown ? 1000 : 1500,
      1500,
      1800,
      1000,
      1000,
      1800,
    ];
    return Array.from(
      { length: Math.max(resting.length, radio.length) },
      (_, at) => radio[at] ?? resting[at] ?? 0,
    );
  }

  /** Of a thousand, 500 is the middle of the stick; null: no radio is heard. */
  get throttle(): number | null {
    const us = this.channels[THROTTLE];
    return us === undefined ? null : Math.min(1000, Math.max(0, us - 1000));
  }

  get saysNoRadio(): boolean {
    return this.#habits.saysNoRadio;
  }

  /** @param now ms */
  tick(now: number): void {
    const position = this.#read();
    this.#position ??= position;
    if (position === undefined || position === this.#position) this.#next = undefined;
    else if (this.#next?.position !== position) this.#next = { position, since: now };
    else if (now - this.#next.since >= DEBOUNCE_MS) {
      this.#position = position;
      this.#choose(position);
    }
  }

  /** What speaks against arming. */
  reasons(): string[] {
    return this.channels.flatMap((_, at) => {
      const channel = at + 1;
      const params = this.#paramsOf(channel);
      if (params === undefined) return [];
      const { min, max, trim } = params;
      const below = trim < min ? [this.#habits.trimOutside(channel, params, true)] : [];
      return trim > max ? [...below, this.#habits.trimOutside(channel, params, false)] : below;
    });
  }

  /** The vehicle boots. */
  reset(): void {
    this.#position = undefined;
    this.#next = undefined;
  }

  #read(): number | undefined {
    const { modeSwitch, switchPosition } = this.#habits;
    const channel = modeSwitch === undefined ? 0 : (this.#value(modeSwitch.channel) ?? 0);
    const us = this.channels[channel - 1];
    const params = this.#paramsOf(channel);
    return us === undefined || params === undefined ? undefined : switchPosition(us, params);
  }

  #choose(position: number): void {
    const { modeSwitch, switchMode } = this.#habits;
    const value = this.#value(`${modeSwitch?.modes ?? ''}${position + 1}`);
    const mode = value === undefined ? undefined : switchMode(value);
    if (mode !== undefined) this.#setMode(mode);
  }

  #paramsOf(channel: number): ChannelParams | undefined {
    const [min, max, trim] = [
      this.#value(`RC${channel}_MIN`),
      this.#value(`RC${channel}_MAX`),
      this.#value(`RC${channel}_TRIM`),
    ];
    if (min === undefined || max === undefined || trim === undefined) return undefined;
    return { min, max, trim, rev: this.#value(`RC${channel}_REV`) ?? 1 };
  }

  #value(name: string): number | undefined {
    return this.#craft.params.find(name)?.value;
  }
}
