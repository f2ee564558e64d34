import { computed, signal } from '@preact/signals';
import { messageOf } from '../../../../../shared/errors.ts';
import { memberOf } from '../../../../../shared/member.ts';
import { checkItems, warningsOf } from '../../../../../shared/mission/check.ts';
import { numberedFrom } from '../../../../../shared/mission/numbered.ts';
import { warningText } from '../../../../../shared/mission/warning.ts';
import { MISSION_PARTS } from '../../../../../shared/schemas/mission-item.ts';
import { call } from '../../api/client.ts';
import { may } from '../../api/node.ts';
import { relayed } from '../../api/relay.ts';
import { firstItem } from '../../api/telemetry.ts';
import type { View } from '../../map/projection.ts';
import { type Difference, difference } from './difference.ts';
import type { Items, Part } from './list.ts';

/** The plan as it is drawn, kept while the page is open, and what the vehicle holds beside it. */

type Each<T> = Readonly<Record<Part, T>>;

const MAX_UNDO = 50;

export interface Fault {
  readonly part: Part;
  /** Null: of no single item. */
  readonly index: number | null;
  readonly text: string;
}

export class Sketch {
  readonly #lists = signal<Each<Items>>({ mission: [], fence: [], rally: [] });
  /** A mission has the numbers of the vehicle, where that is known: it may have been drawn before, or for another one. */
  readonly lists = computed<Each<Items>>(() => {
    const lists = this.#lists.value;
    const first = firstItem.value;
    return first === null ? lists : { ...lists, mission: numberedFrom(lists.mission, first) };
  });
  /** Null: not read yet, or the vehicle has no such list. */
  readonly held = signal<Each<Items | null>>({ mission: null, fence: null, rally: null });
  /** Changed here since it was read or written. */
  readonly edited = signal<Each<boolean>>({ mission: false, fence: false, rally: false });
  readonly part = signal<Part>('mission');
  readonly chosen = signal<number | null>(null);
  /** What the vehicle or the node refused, at its item. */
  readonly refused = signal<Fault | null>(null);
  readonly view = signal<View | null>(null);
  /** m/s, for the estimate. */
  readonly speed = signal(5);
  readonly #past = signal<readonly { part: Part; items: Items }[]>([]);

  readonly items = computed(() => this.lists.value[this.part.value]);
  readonly canUndo = computed(() => this.#past.value.length > 0);
  readonly differences = computed<Each<Difference | null>>(() => ({
    mission: this.#difference('mission'),
    fence: this.#difference('fence'),
    rally: this.#difference('rally'),
  }));
  /** Parts that the vehicle holds otherwise, or of which is not known what it holds. */
  readonly pending = computed<readonly Part[]>(() =>
    MISSION_PARTS.filter((part) => {
      const { marks = [], removed = [] } = this.differences.value[part] ?? {};
      if (this.held.value[part] === null) return this.lists.value[part].length > 0;
      return removed.length > 0 || marks.some((mark) => mark !== 'same');
    }),
  );
  /** The first thing in each list that the node would refuse. */
  readonly faults = computed<readonly Fault[]>(() =>
    MISSION_PARTS.flatMap((part) => {
      const own = this.refused.value?.part === part ? [this.refused.value] : [];
      try {
        checkItems(part, this.lists.value[part], firstItem.value);
        return own;
      } catch (error) {
        return [faultOf(part, error)];
      }
    }),
  );
  readonly warnings = computed(() => warningsOf(this.lists.value.mission).map(warningText));

  change(items: Items, part: Part = this.part.value): void {
    this.#past.value = [...this.#past.value.slice(1 - MAX_UNDO), { part, items: this.lists.value[part] }];
    this.#put(part, items, true);
  }

  undo(): void {
    const last = this.#past.value.at(-1);
    if (last === undefined) return;
    this.#past.value = this.#past.value.slice(0, -1);
    this.#put(last.part, last.items, true);
    this.part.value = last.part;
    this.chosen.value = null;
  }

  /** Back to what the vehicle holds. */
  discard(): void {
    for (const part of MISSION_PARTS) {
      const held = this.held.value[part];
      if (held !== null && this.edited.value[part]) {
        this.change(held, part);
        this.edited.value = { ...this.edited.value, [part]: false };
      }
    }
    this.chosen.value = null;
  }

  /** The vehicle holds this: it was read, or written and read back. */
  heldIs(part: Part, items: Items, written = false): void {
    this.held.value = { ...this.held.value, [part]: items };
    if (written || !this.edited.value[part]) this.#put(part, items, false);
  }

  show(part: Part, index: number | null = null): void {
    this.part.value = part;
    this.chosen.value = index;
  }

  #put(part: Part, items: Items, isEdited: boolean): void {
    this.#lists.value = { ...this.#lists.value, [part]: items };
    this.edited.value = { ...this.edited.value, [part]: isEdited };
    if (this.refused.value?.part === part) this.refused.value = null;
  }

  #difference(part: Part): Difference | null {
    const held = this.held.value[part];
    return held === null ? null : difference(this.lists.value[part], held);
  }
}

export function faultOf(part: Part, error: unknown): Fault {
  const index = memberOf(memberOf(error, 'extras'), 'index');
  return { part, index: typeof index === 'number' ? index : null, text: messageOf(error) };
}

/** Each vehicle has its own: what was drawn for one is not sent to another by mistake. */
const sketches = new Map<string, Sketch>();

export function sketchOf(): Sketch {
  const key = relayed.value?.deviceId ?? '';
  const kept = sketches.get(key) ?? new Sketch();
  sketches.set(key, kept);
  return kept;
}

addEventListener('beforeunload', (event) => {
  const unsaved = [...sketches.values()].some(({ edited }) => Object.values(edited.value).some(Boolean));
  if (unsaved) event.preventDefault();
});

export type OnProgress = (progress: { done: number; total: number | null; text: string }) => void;

export const GET = { mission: 'mission.get', fence: 'fence.get', rally: 'rally.get' } as const;
export const PUT = { mission: 'mission.put', fence: 'fence.put', rally: 'rally.put' } as const;
export const DELETE = { mission: 'mission.delete', fence: 'fence.delete', rally: 'rally.delete' } as const;

/**
 * Reads all three lists.
 * @param again from the vehicle, whatever the node still knows
 * @returns why a part could not be read: a vehicle need not have fences or rally points
 * @throws Refused for the mission
 */
export async function read(sketch: Sketch, again: boolean, onProgress: OnProgress): Promise<string | null> {
  let problem: string | null = null;
  for (const part of MISSION_PARTS) {
    if (!may(GET[part])) continue;
    try {
      const answer = await call(GET[part], { query: { refresh: again ? '1' : null }, onProgress });
      if (typeof answer === 'object' && 'items' in answer) sketch.heldIs(part, answer.items as Items);
    } catch (error) {
      if (part === 'mission') throw error;
      problem = messageOf(error);
    }
  }
  return problem;
}
