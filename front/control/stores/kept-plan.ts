import { messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { readPrivate } from '../../../shared/files/private-file.ts';
import { isRecord, type JsonObject, keysOf, recordOf } from '../../../shared/member.ts';
import { numberedFrom } from '../../../shared/mission/numbered.ts';
import { isPlan, type Plan } from '../../../shared/mission/plan.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { MissionItem, MissionPart } from '../../../shared/schemas/mission-item.ts';

/** The body limit of the routes, and the vehicle's items beside it. */
const MAX_BYTES = 12 * 1024 * 1024;

const SECTION: Readonly<Record<MissionPart, string>> = {
  mission: 'mission',
  fence: 'geoFence',
  rally: 'rallyPoints',
};

/** Numbered from 0, whatever the vehicle's numbers: so it was kept when those were not known. */
function heldAs(items: readonly MissionItem[]): string {
  return JSON.stringify(numberedFrom(items, 0));
}

interface Stored {
  readonly plan: Plan;
  /** What the vehicle held when the plan had been written, by part, as JSON. */
  readonly held: JsonObject;
}

/**
 * The newest plan file that was written to the vehicle, with its members that we do not know: a survey's settings, camera, colours.
 * A part of it is given back as long as the vehicle holds what it held then.
 */
export class KeptPlan {
  readonly #file: string;
  readonly #log: Logger;

  constructor(file: string, log: Logger) {
    this.#file = file;
    this.#log = log;
  }

  /** @returns a warning if it could not be kept: the vehicle holds the items all the same */
  async keep(
    plan: Plan,
    written: ReadonlyMap<MissionPart, { readonly items: readonly MissionItem[] }>,
  ): Promise<string | null> {
    const held = Object.fromEntries([...written].map(([part, { items }]) => [part, heldAs(items)]));
    const stored: Stored = { plan, held };
    try {
      await writeAtomic(this.#file, JSON.stringify(stored), 0o600);
      return null;
    } catch (error) {
      this.#log.warn(`plan file: ${messageOf(error)}`);
      return 'The plan file could not be kept on the node: it is given back without what only QGroundControl knows.';
    }
  }

  /** The plan of the vehicle's lists, with each section that still holds as it was written. */
  async merged(made: Plan, lists: Readonly<Record<MissionPart, readonly MissionItem[]>>): Promise<Plan> {
    const stored = await this.#read();
    if (stored === null) return made;
    const parts = keysOf(lists).filter((part) => stored.held[part] === heldAs(lists[part]));
    if (parts.length === 0) return made;
    const others = keysOf(lists).filter((part) => !parts.includes(part));
    const sections = others.map((part) => [SECTION[part], made[SECTION[part]]]);
    return { ...made, ...stored.plan, ...Object.fromEntries(sections), fileType: 'Plan' };
  }

  async #read(): Promise<Stored | null> {
    try {
      const text = await readPrivate(this.#file, MAX_BYTES);
      const value: unknown = text === null ? null : JSON.parse(text);
      const { plan, held } = recordOf(value);
      return isPlan(plan) && isRecord(held) ? { plan, held } : null;
    } catch (error) {
      this.#log.warn(`plan file: ${messageOf(error)}`);
      return null;
    }
  }
}
