/**
 * The class of an item that a request names: a config key, a parameter of the flight controller, a service, a command. A row
 * has one class, but some rows can write very different items; an item adds the class that a caller needs besides, and never
 * takes the row's away. The edge enforces the classes, the connector shows and checks them, `svc explain` prints them.
 */

import type { Scope } from '../auth/scopes.ts';
import { configLeaf } from '../config/keys.ts';
import { memberOf } from '../member.ts';
import { unitName } from '../units.ts';

/** `keyonly`: the pairing key, or this machine; `root`: root on the node, so nobody over the API. */
type NamedClass = Scope | 'keyonly' | 'root';

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
  motortest: ['destructive', 'a motor runs while somebody may stand beside it'],
  rebootautopilot: ['destructive', 'the vehicle hears and does nothing until it is back'],
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

/** One item of each class that a request names, in the order of the request; empty if nothing adds to the row's class. */
export function raisedByRequest(
  namings: readonly Naming[],
  params: Readonly<Record<string, string>>,
  body: unknown,
): readonly Raised[] {
  const found = new Map<NamedClass, Raised>();
  for (const { kind, in: where, member } of namings) {
    const value = where === 'path' ? params[member] : memberOf(body, member);
    for (const name of namesIn(value, where)) {
      const raised = raisedBy(kind, name);
      if (raised !== null && !found.has(raised.class)) found.set(raised.class, raised);
    }
  }
  return [...found.values()];
}

function namesIn(value: unknown, where: Naming['in']): readonly string[] {
  if (where === 'body-members') return typeof value === 'object' && value !== null ? Object.keys(value) : [];
  return typeof value === 'string' ? [value] : [];
}
