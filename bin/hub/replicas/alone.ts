import { HUB_ID } from '../../../shared/fleet/topics.ts';
import type { Share } from '../fleet/share.ts';

/** A hub with an SQLite file, which a lock keeps for it: all of it is its own. */
export const ALONE: Share = {
  alone: true,
  name: HUB_ID,
  upkeep: true,
  has: () => true,
  problem: () => null,
  check: async () => undefined,
};
