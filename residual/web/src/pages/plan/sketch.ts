import { computed, effect, type ReadonlySignal, signal } from '@preact/signals';
import { messageOf } from '../../../../../shared/errors.ts';
import { memberOf } from '../../../../../shared/member.ts';
import { checkItems, warningsOf } from '../../../../../shared/mission/check.ts';
import { numberedFrom } from '../../../../../shared/mission/numbered.ts';
import type { Unexpanded } from '../../../../../shared/mission/patterns/expand.ts';
import { type Pattern, type Placed, placedIn } from '../../../../../shared/mission/patterns/placed.ts';
import type { PatternSettings } from '../../../../../shared/mission/patterns/settings.ts';
import { warningText } from '../../../../../shared/mission/warning.ts';
import { MISSION_PARTS } from '../../../../../shared/schemas/mission-item.ts';
import { call } from '../../api/client.ts';
import { may } from '../../api/node.ts';
import { relayed } from '../../api/relay.ts';
import { firstItem } from '../../api/telemetry.ts';
import type { View } from '../../map/projection.ts';
import { type Difference, difference } from './difference.ts';
import { History } from './history.ts';
import { keep, remembered } from './kept-patterns.ts';
import type { Items, Part } from './list.ts';

/** The plan as it is drawn, kept while the page is open, and what the vehicle holds beside it. */

type Each<T> = Readonly<Record<Part, T>>;

/** What is drawn. The mission is a list of items, whatever patterns stand in it. */
interface Drawn {
  readonly lists: Each<Items>;
  readonly patterns: readonly Pattern[];
}

export interface Fault {
  readonly part: Part;
  /** Null: of no single item. */
  readonly index: number | null;
  readonly text: string;
}

/** Settings of which nothing can be made: they are shown, and the plan stays as it was. */
export interface Trial {
  readonly settings: PatternSettings;
  readonly wrong: Unexpanded;
}

export class Sketch {
  readonly #history: History<Drawn>;
  /** A mission has the numbers of the vehicle, where that is known: it may have been drawn before, or for another one. */
  readonly lists = computed<Each<Items>>(() => {
    const { lists } = this.#history.state.value;
    const first = firstItem.value;
    return first === null ? lists : { ...lists, mission: numberedFrom(lists.mission, first) };
  });
  /** Null: not read yet, or the vehicle has no such list. */
  readonly held = signal<Each<Items | null>>({ mission: null, fence: null, rally: null });
  /** Changed here since it was read or written. */
  readonly edited = signal<Each<boolean>>({ mission: false, fence: false, rally: false });
  readonly part = signal<Part>('mission');
  /** An item of the part; any one of a pattern's means the pattern. */
  readonly chosen = signal<number | null>(null);
  /** The corner of the chosen pattern. */
  readonly corner = signal<number | null>(null);
  /** What the vehicle or the node refused, at its item. */
  readonly refused = signal<Fault | null>(null);
  readonly view = signal<View | null>(null);
  readonly trial = signal<Trial | null>(null);

  readonly items = computed(() => this.lists.value[this.part.value]);
  readonly placed = computed<readonly Placed[]>(() =>
    placedIn(this.lists.value.mission, this.#history.state.value.patterns),
  );
  readonly chosenPattern = computed<Placed | null>(() => {
    const at = this.chosen.value;
    return at === null || this.part.value !== 'mission' ? null : patternAt(this.placed.value, at);
  });
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

  /** @param patterns that the vehicle's list may have */
  constructor(patterns: readonly Pattern[]) {
    this.#history = new History<Drawn>({
      lists: { mission: [], fence: [], rally: [] },
      patterns,
    });
  }

  get canUndo(): ReadonlySignal<boolean> {
    return this.#history.canUndo;
  }
  get canRedo(): ReadonlySignal<boolean> {
    return this.#history.canRedo;
  }
  get patterns(): readonly Pattern[] {
    return this.#history.state.value.patterns;
  }

  /** @param patterns those of the mission from now on; without them the same ones */
  change(items: Items, part: Part = this.part.value, patterns: readonly Pattern[] = this.patterns): void {
    this.#push({ lists: { ...this.lists.value, [part]: items }, patterns }, [part]);
  }

  /** Several lists at once, of a file. */
  changeAll(lists: Partial<Each<Items>>, patterns: readonly Pattern[]): void {
    const parts = MISSION_PARTS.filter((part) => lists[part] !== undefined);
    this.#push({ lists: { ...this.lists.value, ...lists }, patterns }, parts);
  }

  undo(): void {
    this.#return(this.#history.undo());
  }

  redo(): void {
    this.#return(this.#history.redo());
  }

  /** Back to what the vehicle holds. */
  discard(): void {
    const held = this.held.value;
    const parts = MISSION_PARTS.filter((part) => held[part] !== null && this.edited.value[part]);
    if (parts.length === 0) return;
    const lists = Object.fromEntries(parts.map((part) => [part, held[part] ?? []]));
    this.changeAll(lists, this.patterns);
    this.edited.value = { ...this.edited.value, ...Object.fromEntries(parts.map((part) => [part, false])) };
    this.#choose(null);
  }

  /** The vehicle holds this: it was read, or written and read back. */
  heldIs(part: Part, items: Items, written = false): void {
    this.held.value = { ...this.held.value, [part]: items };
    if (!written && this.edited.value[part]) return;
    const { lists, patterns } = this.#history.state.value;
    this.#history.replace({ lists: { ...lists, [part]: items }, patterns });
    this.#changed([part], false);
  }

  show(part: Part, index: number | null = null): void {
    this.part.value = part;
    this.#choose(index);
  }

  #choose(index: number | null): void {
    const before = this.chosenPattern.value;
    this.chosen.value = index;
    if (before === null || this.chosenPattern.value?.from !== before.from) {
      this.corner.value = null;
      this.trial.value = null;
    }
  }

  #push(drawn: Drawn, parts: readonly Part[]): void {
    this.trial.value = null;
    this.#history.push(drawn);
    this.#changed(parts, true);
  }

  #return(drawn: Drawn | null): void {
    if (drawn === null) return;
    const after = this.#history.state.value.lists;
    const changed = MISSION_PARTS.filter((part) => after[part] !== this.held.value[part]);
    this.#changed(changed, true);
    this.trial.value = null;
    this.corner.value = null;
    // What is open stays open while there is something there.
    if ((this.chosen.value ?? 0) >= this.items.value.length) this.#choose(null);
  }

  #changed(parts: readonly Part[], isEdited: boolean): void {
    this.edited.value = {
      ...this.edited.value,
      ...Object.fromEntries(parts.map((part) => [part, isEdited])),
    };
    const refused = this.refused.value;
    if (refused !== null && parts.includes(refused.part)) this.refused.value = null;
  }

  #difference(part: Part): Difference | null {
    const held = this.held.value[part];
    return held === null ? null : difference(this.lists.value[part], held);
  }
}

/** The pattern that an item of the mission belongs to. */
export function patternAt(placed: readonly Placed[], at: number): Placed | null {
  return placed.find(({ from, items }) => at >= from && at < from + items.length) ?? null;
}

export function faultOf(part: Part, error: unknown): Fault {
  const index = memberOf(memberOf(error, 'extras'), 'index');
  return { part, index: typeof index === 'number' ? index : null, text: messageOf(error) };
}

/** Each vehicle has its own: what was drawn for one is not sent to another by mistake. */
const sketches = new Map<string, Sketch>();

export function sketchOf(): Sketch {
  const key = relayed.value?.deviceId ?? '';
  const kept = sketches.get(key);
  if (kept !== undefined) return kept;
  const made = new Sketch(remembered(key));
  effect(() => keep(key, made.patterns));
  sketches.set(key, made);
  return made;
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
