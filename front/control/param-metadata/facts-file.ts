import type { Family } from '../../../shared/flight/modes.ts';
import { listOf, memberOf, recordOf } from '../../../shared/member.ts';
import { bitsOf, choicesOf, type Described, numberOf, textOf, valuesOf } from './description.ts';

/** Beside this file; made by deploy/build/ardupilot-params.ts, and covered by test/contract/ardupilot-params.spec.ts. */
export const FACTS_FILE = 'ardupilot.json';
/** In the order of their bits. */
export const VEHICLES = ['copter', 'plane', 'rover', 'sub'] as const satisfies readonly Family[];

type Choices = readonly (readonly [number, string])[];

/** What is known of a parameter without its text; absent: not said. */
export interface Facts {
  readonly units?: string;
  readonly min?: number;
  readonly max?: number;
  readonly step?: number;
  readonly values?: Choices;
  readonly bits?: Choices;
  readonly reboot?: true;
}

/** ArduPilot's parameters. Many have the same facts, which stand once. */
export interface ArdupilotFacts {
  /** Of which version. */
  readonly source: string;
  readonly facts: readonly Facts[];
  /** By name: the vehicles that it is for, a bit each, and its place in `facts`. */
  readonly params: Readonly<Record<string, readonly (readonly [vehicles: number, place: number])[]>>;
}

/**
 * The parameters of one kind of vehicle; none for PX4's, which tells them itself.
 * @param file of ArdupilotFacts
 */
export function factsOf(file: unknown, family: Family): readonly Described[] {
  const bit = VEHICLES.findIndex((each) => each === family);
  if (bit === -1) return [];
  const facts = listOf(memberOf(file, 'facts'));
  return Object.entries(recordOf(memberOf(file, 'params'))).flatMap(([name, uses]) => {
    const use = listOf(uses).find((each) => ((Number(listOf(each)[0]) >> bit) & 1) === 1);
    return use === undefined
      ? []
      : [{ name, default: null, description: described(facts[Number(listOf(use)[1])]) }];
  });
}

function described(facts: unknown): Described['description'] {
  const { units, min, max, step, values, bits, reboot } = recordOf(facts);
  return {
    group: null,
    user_level: null,
    label: null,
    description: null,
    units: textOf(units),
    min: numberOf(min),
    max: numberOf(max),
    increment: numberOf(step),
    values: valuesOf(pairsOf(values)),
    bitmask: bitsOf(pairsOf(bits)),
    reboot_required: reboot === true,
  };
}

function pairsOf(list: unknown): ReturnType<typeof choicesOf> {
  return choicesOf(
    listOf(list).map((each) => {
      const [number, label] = listOf(each);
      return [number, label];
    }),
  );
}
