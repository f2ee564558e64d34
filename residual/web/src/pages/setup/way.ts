import { signal } from '@preact/signals';
import type { Step, StepId } from './status.ts';

/** Which questions are asked: those that only a person can answer, and what the node could not find by itself. */

const ALWAYS: ReadonlySet<StepId> = new Set(['name', 'profile', 'pin', 'pairing']);

/** Seen since this page was opened: they stay on the way, so that it does not get shorter while one walks. */
const visited = signal<ReadonlySet<StepId>>(new Set());

export function visit(id: StepId): void {
  if (!visited.value.has(id)) visited.value = new Set([...visited.value, id]);
}

/** In the order in which they are asked: whoever is here first pairs first, before somebody else near does. */
export function inOrder(steps: readonly Step[]): readonly Step[] {
  return steps.toSorted((a, b) => Number(b.id === 'pairing') - Number(a.id === 'pairing'));
}

/** @param asked a step that was asked for by its address */
export function wayOf(steps: readonly Step[], asked: string | undefined): readonly Step[] {
  return steps.filter(
    ({ id, state }) =>
      id !== 'finish' &&
      (ALWAYS.has(id) || state === 'needs_action' || visited.value.has(id) || id === asked),
  );
}

/** Whether it still waits for an answer. */
export function onTheWay({ state }: Step): boolean {
  return state === 'needs_action' || state === 'optional';
}
