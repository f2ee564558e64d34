import { computed, type ReadonlySignal } from '@preact/signals';

/** A value made of telemetry that is the same object while it says the same: what shows it is drawn anew only when it changes. */
export function steady<T>(read: () => T): ReadonlySignal<T> {
  let last: { readonly value: T; readonly text: string } | null = null;
  return computed(() => {
    const value = read();
    const text = JSON.stringify(value) ?? '';
    if (last === null || last.text !== text) last = { value, text };
    return last.value;
  });
}
