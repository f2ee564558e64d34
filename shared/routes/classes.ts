/**
 * The class of the item that a request names: a config key, a parameter of the flight controller, a service, a command. A row
 * has one class, but some rows can write very different items; the item may raise the class that a caller needs, but never
 * lowers it. The edge enforces the class, the connector shows and checks it, `svc explain` prints it.
 */

import { higher, isScope, type Scope } from '../auth/scopes.ts';
import { configLeaf } from '../config/keys.ts';
import { memberOf } from '../member.ts';
import { unitName } from '../units.ts';

/** `keyonly`: the pairing key, or this machine; `root`: root on the node, so nobody over the API. */
export type NamedClass = Scope | 'keyonly' | 'root';

export type NamedKind = 'config-key' | 'parameter' | 'service' | 'command';

/** Where a request names something: a path parameter, a member of the body, or the members of an object in the body. */
export interface Naming {
  readonly kind: NamedKind;
  readonly in: 'path' | 'body' | 'body-members';
  readonly member: string;
}

export interface Raised {
  readonly name: string;
  readonly class: NamedClass;
  /** Why, as half a sentence. */
  readonly reason: string;
}

/**
 * Parameters that protect the aircraft or change how it is controlled, by the families of the firmwares' documentation:
 * ArduPilot's parameter lists of Copter, Plane, Rover and Sub (4.5 to 4.7) and PX4's parameter reference (1.14 to 1.17). A
 * family applies to every firmware: a name that the vehicle does not have is refused anyway.
 */
const PARAMETERS: readonly (readonly [pattern: RegExp, reason: string])[] = [
  // ArduPilot
  [/^(?:FENCE|AVOID|AVD|OA|ADSB)_/, 'limits where it may fly'],
  [/^(?:ARMING|BRD_SAFETY|DISARM_DELAY)/, 'says when the motors may start'],
  [/^(?:FS|AFS|LEAK|CHUTE|CRASH)_|^THR_(?:FAILSAFE|FS_)/, 'is a fail-safe'],
  [/^BATT[0-9A-Z]?_/, 'says when the battery counts as empty, and what happens then'],
  [/^(?:MOT|Q_M|Q_TILT|Q_TAILSIT|H|SERVO\d*|SERVO_[A-Z]+)_/, 'drives motors and control surfaces'],
  [/^(?:Q_)?FRAME_/, 'says how the vehicle is built'],
  [/^(?:ATC|PSC|Q_A|Q_P|TECS|NAVL1|[A-Z]+2SRV|(?:RLL|PTCH|YAW)_RATE)_/, 'tunes the control loops'],
  [/^(?:EK[23]|AHRS|INS|COMPASS|GPS\d?|ARSPD\d?|BARO\d?)_/, 'says by which sensors it knows where it is'],
  [/^(?:RC\d*|RCMAP)_|^(?:FLTMODE|MODE)(?:\d|_CH)/, 'says what the sticks and switches of the pilot do'],
  [/^(?:SYSID|MAV\d?|SCR)_/, 'says who is obeyed'],
  // PX4
  [/^(?:COM|NAV|GF|FD)_/, 'is a fail-safe, or a condition of arming'],
  [/^CBRK_/, 'switches a protection off'],
  [/^(?:MC|FW|VT|MPC)_/, 'tunes the control loops'],
  [/^(?:CA|PWM|DSHOT|UAVCAN)_/, 'drives motors and control surfaces'],
  [/^SYS_/, 'says how the vehicle is built'],
  [/^(?:EKF2|CAL|SENS)_/, 'says by which sensors it knows where it is'],
  [/^BAT\d?_/, 'says when the battery counts as empty, and what happens then'],
  [/^MAN_/, 'says what the sticks and switches of the pilot do'],
];

/** Processes and units that carry the link to the vehicle, or show where it flies (docs/contract.md 1). */
const LINK_OR_PICTURE = /mavlink|supervisor|video|wifibroadcast|wfb|svc-(?:link|sim)$/;

const COMMANDS: Readonly<Record<string, readonly [Scope, string]>> = {
  killswitch: ['destructive', 'stops the motors wherever the vehicle is'],
  parachute: ['destructive', 'stops the motors and ends the flight'],
};

/** @returns the class that the name needs beyond its row's; null if the row's class is enough */
export function raisedBy(kind: NamedKind, name: string): Raised | null {
  switch (kind) {
    case 'config-key': {
      const leaf = configLeaf(name);
      const found = leaf?.['x-class'];
      return found === undefined ? null : { name, class: found, reason: leaf?.['x-reason'] ?? '' };
    }
    case 'parameter': {
      const upper = name.toUpperCase();
      const found = PARAMETERS.find(([pattern]) => pattern.test(upper));
      return found === undefined ? null : { name, class: 'flight', reason: found[1] };
    }
    case 'service': {
      const unit = unitName(name);
      return LINK_OR_PICTURE.test(unit)
        ? { name: unit, class: 'flight', reason: 'carries the link to the vehicle, or shows where it flies' }
        : null;
    }
    case 'command': {
      const found = COMMANDS[name.trim().toLowerCase()];
      return found === undefined ? null : { name, class: found[0], reason: found[1] };
    }
  }
}

// Above every scope.
const BEYOND: readonly NamedClass[] = ['keyonly', 'root'];

/** The highest class of all items that a request names; null if none raises it. */
export function raisedByRequest(
  namings: readonly Naming[],
  params: Readonly<Record<string, string>>,
  body: unknown,
): Raised | null {
  let highest: Raised | null = null;
  for (const { kind, in: where, member } of namings) {
    const value = where === 'path' ? params[member] : memberOf(body, member);
    const names =
      where === 'body-members'
        ? Object.keys(typeof value === 'object' && value !== null ? value : {})
        : typeof value === 'string'
          ? [value]
          : [];
    for (const name of names) {
      const found = raisedBy(kind, name);
      if (found !== null && (highest === null || isHigher(found.class, highest.class))) highest = found;
    }
  }
  return highest;
}

function isHigher(a: NamedClass, b: NamedClass): boolean {
  if (!isScope(a) || !isScope(b)) return BEYOND.indexOf(a) > BEYOND.indexOf(b);
  return a !== b && higher(a, b) === a;
}
