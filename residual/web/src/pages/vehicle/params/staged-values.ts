import { effect, signal } from '@preact/signals';
import { relayed } from '../../../api/relay.ts';

/** Values that are to be written, by name; they outlive a change of the page. */
export const staged = signal<ReadonlyMap<string, number>>(new Map());

/** @param value null: as it is on the vehicle */
export function stage(name: string, value: number | null): void {
  const next = new Map(staged.value);
  if (value === null) next.delete(name);
  else next.set(name, value);
  staged.value = next;
}

// What was meant for one vehicle is not written to another.
effect(() => {
  void relayed.value;
  staged.value = new Map();
});
