/**
 * The commands of `POST /api/command` (docs/contract.md 6): one list for the link that executes them, for
 * `GET /api/commands`, for the CLI and for the connector.
 */

export interface CommandArgument {
  readonly name: string;
  readonly type: 'number' | 'string';
  readonly unit?: string;
  readonly min?: number;
  readonly max?: number;
  readonly default?: number;
  readonly enum?: readonly string[];
}

export interface CommandSpec {
  readonly description: string;
  readonly args: readonly CommandArgument[];
}

export const COMMANDS = {
  arm: { description: 'Arm the motors.', args: [] },
  disarm: { description: 'Disarm the motors; the vehicle refuses in the air.', args: [] },
  takeoff: {
    description:
      'Take off to a height above the place of take-off. On a fixed wing without VTOL: sets TKOFF_ALT, then the mode TAKEOFF.',
    args: [{ name: 'alt', type: 'number', unit: 'm', min: 1, max: 500, default: 10 }],
  },
  land: {
    description:
      "Land here; a fixed wing goes to its mission's landing, a submarine surfaces, a rover refuses.",
    args: [],
  },
  rtl: { description: 'Return to the place of launch (and land there, if it flies).', args: [] },
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
  setHome: { description: 'Make the present position the home position.', args: [] },
  killSwitch: {
    description: 'Cut the motors at once, also in the air. The vehicle falls.',
    args: [{ name: 'confirm', type: 'string', enum: ['KILL'] }],
  },
} as const satisfies Record<string, CommandSpec>;

export type CommandName = keyof typeof COMMANDS;
export const COMMAND_NAMES = Object.keys(COMMANDS) as readonly CommandName[];

/** The command that `text` names, whatever its case, or null. */
export function commandNamed(text: string): CommandName | null {
  const wanted = text.toLowerCase();
  return COMMAND_NAMES.find((name) => name.toLowerCase() === wanted) ?? null;
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
  return `a number from ${spec.min ?? '-inf'} to ${spec.max ?? 'inf'}${spec.unit === undefined ? '' : ` ${spec.unit}`}`;
}
