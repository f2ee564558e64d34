import { keysOf } from '../member.ts';
/**
 * The commands of `POST /api/command` (docs/contract/flight.md): one list for the link that executes them, for
 * `GET /api/commands`, for the CLI and for the connector.
 */

export interface CommandArgument {
  readonly name: string;
  readonly type: 'number' | 'string';
  readonly unit?: string;
  readonly min?: number;
  readonly max?: number;
  readonly default?: number;
  /** Only whole numbers. */
  readonly integer?: true;
  readonly enum?: readonly string[];
}

export interface CommandSpec {
  readonly description: string;
  readonly args: readonly CommandArgument[];
  /** What `confirm` in the request has to say: somebody has looked. */
  readonly confirm?: string;
}

export const COMMANDS = {
  arm: { description: 'Arm the motors.', args: [] },
  disarm: { description: 'Disarm the motors; the vehicle refuses in the air.', args: [] },
  takeoff: {
    description:
      'Take off to a height above the place of take-off. Changes the mode where it must; with arm 1 also arms. On a fixed wing without VTOL: sets TKOFF_ALT, then the mode TAKEOFF.',
    args: [
      { name: 'alt', type: 'number', unit: 'm', min: 1, max: 500, default: 10 },
      { name: 'arm', type: 'number', min: 0, max: 1, default: 0, integer: true },
    ],
  },
  land: {
    description:
      "Land here; a fixed wing goes to its mission's landing, a submarine surfaces, a rover refuses.",
    args: [],
  },
  rtl: { description: 'Return to launch, and land if it flies.', args: [] },
  mode: { description: 'Change the flight mode.', args: [{ name: 'name', type: 'string' }] },
  goto: {
    description:
      'Go to a position; alt is relative to home: 1 or more for what flies, 0 or less for a submarine.',
    args: [
      { name: 'lat', type: 'number', unit: 'deg', min: -90, max: 90 },
      { name: 'lon', type: 'number', unit: 'deg', min: -180, max: 180 },
      { name: 'alt', type: 'number', unit: 'm', min: -500, max: 500 },
    ],
  },
  stop: { description: 'Stop here and hold position.', args: [] },
  missionStart: {
    description:
      'Start the mission. PX4 arms, and begins with its first item; ArduPilot continues where it stopped, unless MIS_RESTART is 1.',
    args: [],
  },
  pauseMission: {
    description:
      'Hold position in the mission. If a copter refuses (taking off, at the last item), it changes to BRAKE or LOITER.',
    args: [],
  },
  resumeMission: { description: 'Continue the mission.', args: [] },
  missionSetCurrent: {
    description: 'Continue the mission with this item: its seq in GET /api/mission.',
    args: [{ name: 'seq', type: 'number', min: 0, max: 65_534, integer: true }],
  },
  yaw: {
    description:
      'Turn to a heading, or by an angle if relative is 1. ArduPilot: in GUIDED and AUTO. PX4 turns at its own rate.',
    args: [
      { name: 'angle', type: 'number', unit: 'deg', min: -360, max: 360 },
      { name: 'rate', type: 'number', unit: 'deg/s', min: 0, max: 360, default: 0 },
      { name: 'relative', type: 'number', min: 0, max: 1, default: 0, integer: true },
    ],
  },
  speed: {
    description: 'Fly at this speed from now on: over ground, a plane through the air.',
    args: [{ name: 'speed', type: 'number', unit: 'm/s', min: 0.1, max: 100 }],
  },
  roi: {
    description: 'Look at a place (region of interest); alt is relative to home.',
    args: [
      { name: 'lat', type: 'number', unit: 'deg', min: -90, max: 90 },
      { name: 'lon', type: 'number', unit: 'deg', min: -180, max: 180 },
      { name: 'alt', type: 'number', unit: 'm', min: -500, max: 10_000, default: 0 },
    ],
  },
  roiClear: { description: 'Look ahead again.', args: [] },
  photo: { description: 'Take one picture with the camera of the flight controller.', args: [] },
  orbit: {
    description:
      'Circle around a place (PX4); a negative radius: counter-clockwise. alt is relative to home.',
    args: [
      { name: 'radius', type: 'number', unit: 'm', min: -1000, max: 1000 },
      { name: 'speed', type: 'number', unit: 'm/s', min: 0.1, max: 50 },
      { name: 'lat', type: 'number', unit: 'deg', min: -90, max: 90 },
      { name: 'lon', type: 'number', unit: 'deg', min: -180, max: 180 },
      { name: 'alt', type: 'number', unit: 'm', min: 1, max: 500 },
    ],
  },
  gimbal: {
    description: "Point the gimbal; up and right of the vehicle's nose are positive.",
    args: [
      { name: 'pitch', type: 'number', unit: 'deg', min: -180, max: 180 },
      { name: 'yaw', type: 'number', unit: 'deg', min: -180, max: 180, default: 0 },
    ],
  },
  servo: {
    description: 'Set a servo output that has no function of its own (ArduPilot).',
    args: [
      { name: 'output', type: 'number', min: 1, max: 32, integer: true },
      { name: 'pwm', type: 'number', unit: 'µs', min: 500, max: 2500, integer: true },
    ],
  },
  relay: {
    description: 'Switch a relay, the first is 0 (ArduPilot).',
    args: [
      { name: 'relay', type: 'number', min: 0, max: 15, integer: true },
      { name: 'on', type: 'number', min: 0, max: 1, integer: true },
    ],
  },
  parachute: { description: 'Release the parachute: the motors stop.', args: [] },
  runPrearmChecks: {
    description:
      'Have the checks before arming run now; telemetry.prearm has what fails. Accepted whether they fail or not; refused by an armed ArduPilot.',
    args: [],
  },
  motorTest: {
    description:
      'Run one motor on the ground, disarmed, with the propellers off. ArduPilot counts motors clockwise from the front.',
    args: [
      { name: 'motor', type: 'number', min: 1, max: 32, integer: true },
      { name: 'throttle', type: 'number', unit: '%', min: 0, max: 100, default: 5 },
      { name: 'duration', type: 'number', unit: 's', min: 0.5, max: 3, default: 2 },
    ],
    confirm: 'PROPS OFF',
  },
  rebootAutopilot: {
    description: 'Reboot the flight controller, only disarmed; waits up to 60 s for it.',
    args: [],
  },
  setHome: { description: 'Make the present position the home position.', args: [] },
  killSwitch: {
    description: 'Cut the motors at once, also in the air. The vehicle falls.',
    args: [{ name: 'confirm', type: 'string', enum: ['KILL'] }],
  },
} as const satisfies Record<string, CommandSpec>;

export type CommandName = keyof typeof COMMANDS;
export const COMMAND_NAMES = keysOf(COMMANDS);

/** The command that `text` names, whatever its case, or null. */
export function commandNamed(text: string): CommandName | null {
  const wanted = text.toLowerCase();
  return COMMAND_NAMES.find((name) => name.toLowerCase() === wanted) ?? null;
}

/** @returns a sentence that asks for what the request has to confirm; null if it does, or need not */
export function missingConfirmation(cmd: CommandName, confirm: string | undefined): string | null {
  const { confirm: wanted }: CommandSpec = COMMANDS[cmd];
  if (wanted === undefined || wanted === confirm) return null;
  return `${cmd} needs confirm: ${JSON.stringify(wanted)}. Say it only when it is so.`;
}

/**
 * Checks positional arguments against the catalogue and fills in defaults. A numeric string counts as its number.
 * @returns the arguments in order, or a sentence that names the first invalid one
 */
export function checkArguments(
  cmd: CommandName,
  given: readonly unknown[],
): readonly (number | string)[] | string {
  const specs: readonly CommandArgument[] = COMMANDS[cmd].args;
  if (given.length > specs.length) return `${cmd} takes ${specs.length} argument(s), not ${given.length}.`;
  const out: (number | string)[] = [];
  for (const [index, spec] of specs.entries()) {
    const value = given[index] ?? spec.default;
    if (value === undefined) return `${cmd} needs its argument ${spec.name}.`;
    const checked = spec.type === 'number' ? checkNumber(spec, value) : checkText(spec, value);
    if (checked === null) return `${cmd}: ${spec.name} must be ${describe(spec)}.`;
    out.push(checked);
  }
  return out;
}

function checkNumber(spec: CommandArgument, value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return null;
  if (spec.integer === true && !Number.isInteger(number)) return null;
  if (number < (spec.min ?? -Infinity) || number > (spec.max ?? Infinity)) return null;
  return number;
}

function checkText(spec: CommandArgument, value: unknown): string | null {
  if (typeof value !== 'string' || value.length === 0 || value.length > 64) return null;
  return spec.enum !== undefined && !spec.enum.includes(value) ? null : value;
}

function describe(spec: CommandArgument): string {
  if (spec.enum !== undefined) return spec.enum.map((text) => JSON.stringify(text)).join(' or ');
  if (spec.type === 'string') return 'a text of 1 to 64 characters';
  return `a ${spec.integer === true ? 'whole ' : ''}number from ${spec.min ?? '-inf'} to ${spec.max ?? 'inf'}${spec.unit === undefined ? '' : ` ${spec.unit}`}`;
}
