import { AUTOPILOT_PX4 } from '../../../shared/flight/modes.ts';
import { COMMAND_AT } from '../../../shared/mavlink/message-classes.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import type { Payload } from '../../../shared/mavlink/payload.ts';

const AUTOPILOT_ARDUPILOT = 3;

// MAV_CMD
const COMPONENT_ARM_DISARM = 400;
const DO_LAND_START = 189;
const DO_MOTOR_TEST = 209;
const DO_AUX_FUNCTION = 218;
const MISSION_START = 300;
const SOLO_BTN_FLY_HOLD = 42_002;

/** ARMDISARM as it was until 4.1, ARMDISARM, ARMDISARM_AIRMODE, ARM_EMERGENCY_STOP of ArduPilot's RC_Channel::AUX_FUNC. */
const ARMING_FUNCTIONS: ReadonlySet<number> = new Set([41, 153, 154, 165]);
/** AUX_FUNC is made of a float: what is no such number may become any of them. */
const MAX_FUNCTION = 1000;

/** Whether a message carries a MAV_CMD at `COMMAND_AT`, and its first parameter at 0. */
export function isCommand(id: number): boolean {
  return id === MSG.COMMAND_LONG || id === MSG.COMMAND_INT;
}

/**
 * The one list of what starts motors by a command, for the armed guard and for a kill that is under way. A take-off does not: neither
 * firmware arms for it (PX4's Commander and ArduCopter's do_user_takeoff change the mode of what is armed). SET_MODE does not since
 * PX4 1.4, ArduPilot has never done so. Sticks are no command: a heartbeat tells of them.
 * @param payload of a COMMAND_LONG or COMMAND_INT
 * @param autopilot MAV_AUTOPILOT of whom it is for; null: not known, so that whatever arms any of them arms it
 * @returns whether it arms; null for a command of which no form does
 */
export function armsBy(payload: Payload, autopilot: number | null): boolean | null {
  const px4 = autopilot !== AUTOPILOT_ARDUPILOT;
  const ardupilot = autopilot !== AUTOPILOT_PX4;
  switch (payload.u16(COMMAND_AT)) {
    case COMPONENT_ARM_DISARM:
      // ArduPilot takes exactly 1, PX4 rounds into an int8_t: 1.2, 257 and -255 arm. Exactly 0 is what disarms everywhere.
      return payload.f32(0) !== 0;
    case MISSION_START: // Commander::handle_command arms for it
    case DO_LAND_START: // Navigator makes a MISSION_START of it
      return px4 ? true : null;
    case DO_AUX_FUNCTION:
      return ardupilot && armsAsFunction(payload.f32(0)) ? true : null;
    case SOLO_BTN_FLY_HOLD: // GCS_MAVLINK_Copter::handle_MAV_CMD_SOLO_BTN_FLY_HOLD
    case DO_MOTOR_TEST: // Copter::mavlink_motor_test_start, Rover's likewise
      return ardupilot ? true : null;
    default:
      return null;
  }
}

function armsAsFunction(given: number): boolean {
  const number = Math.trunc(given);
  return ARMING_FUNCTIONS.has(number) || !(number >= 0 && number <= MAX_FUNCTION);
}
