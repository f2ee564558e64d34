import type { Family } from '../../../shared/flight/modes.ts';
import { bitsOf, choicesOf, type Described, valuesOf } from './description.ts';

/** Beside this file; made by deploy/ardupilot-params.ts, and covered by test/contract/ardupilot-params.spec.ts. */
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

/** The parameters of one kind of vehicle; none for PX4's, which tells them itself. */
export function factsOf({ facts, params }: ArdupilotFacts, family: Family): readonly Described[] {
  const bit = VEHICLES.findIndex((each) => each === family);
  return Object.entries(params).flatMap(([name, uses]) => {
    const place = uses.find(([vehicles]) => ((vehicles >> bit) & 1) === 1)?.[1];
    const known = place === undefined || bit === -1 ? undefined : facts[place];
    return known === undefined ? [] : [{ name, default: null, description: described(known) }];
  });
}

function described({ units, min, max, step, values, bits, reboot }: Facts): Described['description'] {
  return {
    group: null,
    label: null,
    description: null,
    units: units ?? null,
    min: min ?? null,
    max: max ?? null,
    increment: step ?? null,
    values: valuesOf(choicesOf(values ?? [])),
    bitmask: bitsOf(choicesOf(bits ?? [])),
    reboot_required: reboot === true,
  };
}
