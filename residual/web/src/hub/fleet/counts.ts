import type { Phase } from '../../../../../shared/fleet/node-state.ts';

/** The fleet in numbers, as the hub tells them and as the page counts a small one. */

/** How many are in each phase, how many need somebody, and of those that are away the last one heard. */
export interface Counts {
  readonly nodes: number;
  readonly drones: number;
  /** Also those of which it is not known. */
  readonly armed: number;
  readonly attention: number;
  readonly phases: Readonly<Record<Phase, number>>;
  /** ms since 1970; null: none is away, or none was ever heard. */
  readonly away_since: number | null;
}
