/** The fleet in numbers. */

/** `unknown`: it is online, and does not say. `away`: the hub does not hear it. */
export type Phase = 'flying' | 'armed' | 'ground' | 'unknown' | 'away';

/** How many are in each phase, how many need somebody, and of those that are away the last one heard. */
export interface Counts {
  readonly all: number;
  readonly drones: number;
  readonly phases: Readonly<Record<Phase, number>>;
  readonly attention: number;
  /** ms since 1970; null: none is away, or none was ever heard. */
  readonly awaySince: number | null;
}
