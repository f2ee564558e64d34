import type { Frame } from '../../../shared/mavlink/frame.ts';
import { COMMAND_AT, classOfFrame } from '../../../shared/mavlink/message-classes.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import { Payload } from '../../../shared/mavlink/payload.ts';

const SET_MODE = 11;
const DO_SET_MODE = 176;
const ENDING_MODES: ReadonlySet<string> = new Set([
  'LAND',
  'QLAND',
  'AUTOLAND',
  'RTL',
  'QRTL',
  'SMART_RTL',
  'AUTO_RTL',
  'BRAKE',
  'LOITER',
  'HOLD',
  'AUTO.LAND',
  'AUTO.RTL',
  'AUTO.LOITER',
]);

/** Tells what the pilot in command alone may send: everything that flies, but what ends a flight. */
export class FlightFrames {
  readonly #modeName: (customMode: number) => string;
  readonly #isPx4: () => boolean;
  readonly #payload = new Payload();

  /** @param modeName of the vehicle's own table */
  constructor(modeName: (customMode: number) => string, isPx4: () => boolean) {
    this.#modeName = modeName;
    this.#isPx4 = isPx4;
  }

  flies(frame: Frame): boolean {
    return classOfFrame(frame, this.#payload).flies && !this.#endsByMode(frame);
  }

  /** A mode has its number from the vehicle's firmware and type, which the table of commands does not know. */
  #endsByMode(frame: Frame): boolean {
    if (frame.id === SET_MODE) return this.#ends(this.#payload.load(frame).u32(0));
    if (frame.id !== MSG.COMMAND_LONG && frame.id !== MSG.COMMAND_INT) return false;
    const payload = this.#payload.load(frame);
    if (payload.u16(COMMAND_AT) !== DO_SET_MODE) return false;
    const [main, sub] = [payload.f32(4), payload.f32(8)];
    // px4_custom_mode.h: the main mode in the third byte, the sub-mode in the fourth.
    return this.#ends(this.#isPx4() ? ((main << 16) | (sub << 24)) >>> 0 : main);
  }

  #ends(customMode: number): boolean {
    return ENDING_MODES.has(this.#modeName(customMode));
  }
}
