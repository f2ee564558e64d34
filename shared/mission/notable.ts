import { type CommandClass, classOfItem, commandName } from '../mavlink/command-classes.ts';
import { memberOf } from '../member.ts';
import { ITEM_PARAMS } from '../schemas/mission-item.ts';

/** An item that does more than fly, or that nobody knows (docs/contract/edge.md#scope). */
export interface Notable {
  /** Its place in the list, from 0. */
  readonly index: number;
  /** Without `MAV_CMD_`. */
  readonly name: string;
  /** More than `flight`, all of them. */
  readonly classes: readonly CommandClass[];
  /** What it does, as half a sentence. */
  readonly reason: string;
}

/** In words of its own, by MAV_CMD. */
const REASONS: ReadonlyMap<number, string> = new Map([
  [185, 'ends the flight: the motors stop'],
  [207, 'switches the fence off'],
  [208, 'releases, enables or disables the parachute'],
  [223, 'stops the engine'],
  [400, 'disarms wherever the vehicle is, or arms past the checks'],
]);
/** AUX_FUNC of ArduPilot. */
const FUNCTIONS: ReadonlyMap<number, string> = new Map([
  [11, 'switches the fence off'],
  [21, 'enables or disables the parachute'],
  [22, 'releases the parachute'],
  [23, 'releases, enables or disables the parachute'],
  [31, 'stops the motors'],
  [32, 'stops the motors, or lets them run'],
  [65, 'switches the GPS off'],
  [81, 'disarms wherever the vehicle is'],
  [153, 'arms, or disarms wherever the vehicle is'],
  [154, 'arms, or disarms wherever the vehicle is'],
  [165, 'arms, or stops the motors'],
]);
const AUX_FUNCTION = 218;

function reasonOf(command: number, param1: number, classes: readonly CommandClass[]): string {
  if (command === AUX_FUNCTION)
    return `sets function ${param1}, which ${FUNCTIONS.get(param1) ?? 'is none of those that only fly'}`;
  const known = REASONS.get(command);
  if (known !== undefined) return known;
  if (classes.includes('keyonly')) return 'is for the pairing key alone';
  if (classes.includes('destructive')) return 'can cost the vehicle';
  return 'changes how the vehicle is set up';
}

/** @param items checked or not: what is no number of an item is refused elsewhere */
export function notableIn(items: readonly unknown[]): readonly Notable[] {
  return items.flatMap((item, index) => {
    const command = memberOf(item, 'command');
    if (typeof command !== 'number') return [];
    const [first, second, third, fourth] = ITEM_PARAMS.map((name) => {
      const value = memberOf(item, name) ?? (memberOf(item, name) === undefined ? 0 : NaN);
      return typeof value === 'number' ? Math.fround(value) : NaN;
    });
    const params = [first ?? 0, second ?? 0, third ?? 0, fourth ?? 0] as const;
    const classes = classOfItem(command, params).classes.filter(
      (each) => each !== 'read' && each !== 'flight',
    );
    if (classes.length === 0) return [];
    const name = commandName(command) ?? `MAV_CMD ${command}`;
    return [{ index, name, classes, reason: reasonOf(command, params[0], classes) }];
  });
}

/** The sentence for a person. @param first the number of the list's first item */
export function notableText({ index, name, reason }: Notable, first: number): string {
  return `Item ${index + first}, ${name}, ${reason}.`;
}
