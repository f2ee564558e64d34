import { signal } from '@preact/signals';

/** What opens over the page to fly by. */
export type SheetName = 'takeoff' | 'mission' | 'mode' | 'more' | 'figures' | 'messages' | 'sticks' | 'keys';

/** Another page leads to this one: open as soon as it is there. Not in the address, so that no link opens it. */
const asked = signal<SheetName | null>(null);

export function askForSheet(name: SheetName): void {
  asked.value = name;
}

/** What was asked for, once. */
export function takeSheet(): SheetName | null {
  const name = asked.peek();
  asked.value = null;
  return name;
}
