/**
 * What writing a parameter of the vehicle needs, by the families of the firmwares' documentation: ArduPilot's parameter lists of
 * Copter, Plane, Rover and Sub (4.5 to 4.7) and PX4's parameter reference (1.14 to 1.17). A family applies to every firmware: a
 * name that the vehicle does not have is refused anyway. The harmless are listed; everything else flies.
 */
export type ParamClass = 'harmless' | 'flight' | 'safety-net' | 'keyonly';

interface ClassedParam {
  readonly class: ParamClass;
  /** Why, as half a sentence. */
  readonly reason: string;
}

/**
 * A vehicle's identity on the link: after a change, nobody reaches it under the id they know (docs/threat-model.md J10).
 * ArduPilot, ArduPilot from 4.7 on, PX4. Not written at all.
 */
export const IDENTITY: ReadonlySet<string> = new Set(['SYSID_THISMAV', 'MAV_SYSID', 'MAV_SYS_ID']);

type Families = readonly (readonly [pattern: RegExp, reason: string])[];

/** What makes the vehicle another one, or erases it. */
const KEYONLY: Families = [
  [/^FORMAT_VERSION$|^SYS_(?:AUTOCONFIG|PARAM_VER)$/, 'erases every parameter at the next start'],
  [/_TOTAL$/, 'says how many items a list of the vehicle has'],
  [/^STAT_|^LND_FLIGHT_T|^COM_FLIGHT_UUID$/, 'keeps the statistics of the vehicle'],
  [/^SYSID_|^MAV_(?:SYSID|GCS_SYSID.*|SYS_ID|COMP_ID)$/, 'says who the vehicle is and who is obeyed'],
  [
    /^SERIAL\d+_(?:PROTOCOL|BAUD|OPTIONS)$|^SER_.*_BAUD$|^MAV_\d_(?:CONFIG|MODE|FORWARD)$|^MAV_PROTO_VER$|^NET_/,
    'may end the link to the vehicle',
  ],
  [/^BRD_(?:TYPE|SERIAL_NUM)$|^MAV_TYPE$|^SYS_(?:AUTOSTART|HITL)$/, 'makes the vehicle another one'],
];

/** What keeps a flight from ending badly. */
const SAFETY_NET: Families = [
  [/^(?:FENCE|AVOID|GF)_/, 'limits where it may fly'],
  [/^(?:ARMING_|BRD_SAFETY)/, 'says when the motors may start'],
  [
    /^(?:FS|AFS|LEAK|CHUTE|CRASH|FD)_|^THR_(?:FAILSAFE|FS_)|^BATT[0-9A-Z]?_FS_|^NAV_(?:RCL|DLL)_ACT$/,
    'is a fail-safe',
  ],
  [/^COM_/, 'is a fail-safe, or a condition of arming'],
  [/^CBRK_/, 'switches a protection off'],
];

/** Stream rates, logging, notification, display. */
const HARMLESS: Families = [
  [/^SR\d_|^MAV\d+_(?:RAW_SENS|EXT_STAT|RC_CHAN|RAW_CTRL|POSITION|EXTRA[123]|PARAMS|ADSB)$/, 'is a rate'],
  [/^MAV_\d_RATE$/, 'is a rate'],
  [/^(?:LOG|SDLOG)_/, 'is about logs'],
  [/^(?:NTF|LIGHT|LED)_/, 'lights or sounds'],
  [/^OSD\d?_/, 'is about a display'],
];

const FLIGHT: Families = [
  // ArduPilot
  [/^(?:AVD|OA|ADSB)_/, 'limits where it may fly'],
  [/^DISARM_DELAY/, 'says when the motors may start'],
  [/^BATT?[0-9A-Z]?_/, 'says when the battery counts as empty, and what happens then'],
  [/^(?:MOT|Q_M|Q_TILT|Q_TAILSIT|H|SERVO\d*|SERVO_[A-Z]+)_/, 'drives motors and control surfaces'],
  [/^(?:Q_)?FRAME_|^SYS_/, 'says how the vehicle is built'],
  [
    /^(?:ATC|PSC|Q_A|Q_P|TECS|NAVL1|[A-Z]+2SRV|(?:RLL|PTCH|YAW)_RATE|MC|FW|VT|MPC)_/,
    'tunes the control loops',
  ],
  [
    /^(?:EK[23]|AHRS|INS|COMPASS|GPS\d?|ARSPD\d?|BARO\d?|EKF2|CAL|SENS)_/,
    'says by which sensors it knows where it is',
  ],
  [/^(?:RC\d*|RCMAP|MAN)_|^(?:FLTMODE|MODE)(?:\d|_CH)/, 'says what the sticks and switches of the pilot do'],
  [/^(?:MAV\d?|SCR)_/, 'says who is obeyed'],
  [/^(?:CA|PWM|DSHOT|UAVCAN)_/, 'drives motors and control surfaces'],
  [/^NAV_/, 'is a fail-safe, or a condition of arming'],
];

const BY_CLASS: readonly (readonly [ParamClass, Families])[] = [
  ['keyonly', KEYONLY],
  ['safety-net', SAFETY_NET],
  ['harmless', HARMLESS],
  ['flight', FLIGHT],
];

/** @param name in whichever case */
export function classOfParam(name: string): ClassedParam {
  const upper = name.trim().toUpperCase();
  for (const [found, families] of BY_CLASS)
    for (const [pattern, reason] of families) if (pattern.test(upper)) return { class: found, reason };
  return { class: 'flight', reason: 'changes how the vehicle flies, as far as is known' };
}

/** Whether only a person with the pairing key writes it, naming it once more. */
export function isReservedParam(name: string): boolean {
  return classOfParam(name).class === 'keyonly';
}
