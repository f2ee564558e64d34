import {
  COMMAND_NAMES,
  COMMANDS,
  type CommandArgument,
  type CommandName,
} from '../../../shared/flight/command-catalogue.ts';

/** How `svc cmd` shows the commands of the catalogue to a person. Pure. */

/** How high a vehicle climbs is said by who sends it up: the API's default is for programs. */
const ALWAYS_SAID: ReadonlySet<string> = new Set(['takeoff alt']);

/** The first argument that is not given and must be, or null. */
export function missingArgument(cmd: CommandName, given: number): CommandArgument | null {
  const left: readonly CommandArgument[] = COMMANDS[cmd].args.slice(given);
  return left.find((spec) => isNeeded(cmd, spec)) ?? null;
}

/** `takeoff ALT`, `yaw ANGLE [RATE] [RELATIVE]` */
export function usageOf(cmd: CommandName): string {
  const specs: readonly CommandArgument[] = COMMANDS[cmd].args;
  const args = specs.map((spec) => {
    const name = spec.name.toUpperCase();
    return isNeeded(cmd, spec) ? name : `[${name}]`;
  });
  return [cmd, ...args].join(' ');
}

/** ` (m, 1 to 500)`, with what is known of it */
export function argumentWords({ unit, min, max, enum: choices }: CommandArgument): string {
  const bounds = choices === undefined ? (min === undefined ? [] : [`${min} to ${max ?? 'any'}`]) : choices;
  const words = [...(unit === undefined ? [] : [unit]), ...bounds].join(', ');
  return words === '' ? '' : ` (${words})`;
}

/** One line for each command. */
export function commandLines(): readonly string[] {
  return COMMAND_NAMES.map((cmd) => `${usageOf(cmd)}: ${COMMANDS[cmd].description}`);
}

function isNeeded(cmd: CommandName, { name, default: usual }: CommandArgument): boolean {
  return usual === undefined || ALWAYS_SAID.has(`${cmd} ${name}`);
}
