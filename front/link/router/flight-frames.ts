import type { Frame } from '../../../shared/mavlink/frame.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import { Payload } from '../../../shared/mavlink/payload.ts';
import { COMMAND_AT } from './frame-scope.ts';

/** Messages that fly or change the vehicle, by their ids in common.xml. */
const FLIES: ReadonlySet<number> = new Set([
  MSG.PARAM_SET,
  MSG.MISSION_WRITE_PARTIAL_LIST,
  39, // MISSION_ITEM
  41, // MISSION_SET_CURRENT
  MSG.MISSION_COUNT,
  MSG.MISSION_CLEAR_ALL,
  48, // SET_GPS_GLOBAL_ORIGIN
  69, // MANUAL_CONTROL
  70, // RC_CHANNELS_OVERRIDE
  MSG.MISSION_ITEM_INT,
  82, // SET_ATTITUDE_TARGET
  84, // SET_POSITION_TARGET_LOCAL_NED
  MSG.SET_POSITION_TARGET_GLOBAL_INT,
  139, // SET_ACTUATOR_CONTROL_TARGET
  243, // SET_HOME_POSITION
]);
const SET_MODE = 11;
/** MAV_CMD: return, land, pause, and what only asks. */
const ANYBODY: ReadonlySet<number> = new Set([20, 21, 252, 510, 511, 512, 519, 520, 521, 522, 525, 526, 527]);
const DO_SET_MODE = 176;
const DO_PAUSE_CONTINUE = 193;
const COMPONENT_ARM_DISARM = 400;
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
    if (FLIES.has(frame.id)) return true;
    switch (frame.id) {
      case SET_MODE:
        return !this.#ends(this.#payload.load(frame).u32(0));
      case MSG.COMMAND_LONG:
      case MSG.COMMAND_INT:
        return this.#commandFlies(frame);
      default:
        return false;
    }
  }

  #commandFlies(frame: Frame): boolean {
    const payload = this.#payload.load(frame);
    const command = payload.u16(COMMAND_AT);
    switch (command) {
      case DO_SET_MODE: {
        const [main, sub] = [payload.f32(4), payload.f32(8)];
        // px4_custom_mode.h: the main mode in the third byte, the sub-mode in the fourth.
        return !this.#ends(this.#isPx4() ? ((main << 16) | (sub << 24)) >>> 0 : main);
      }
      case DO_PAUSE_CONTINUE:
        return payload.f32(0) !== 0;
      case COMPONENT_ARM_DISARM:
        // 21196: a disarm in the air, which is no end of a flight but a fall.
        return payload.f32(0) !== 0 || payload.f32(4) === 21_196;
      default:
        return !ANYBODY.has(command);
    }
  }

  #ends(customMode: number): boolean {
    return ENDING_MODES.has(this.#modeName(customMode));
  }
}
