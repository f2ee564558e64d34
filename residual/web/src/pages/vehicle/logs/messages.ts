import { effect, signal } from '@preact/signals';
import { relayed } from '../../../api/relay.ts';
import { newest } from '../../../api/telemetry.ts';

/** What the vehicle has said since this page was opened; the snapshot has only the newest ten. */

export interface Message {
  readonly at: string;
  /** MAV_SEVERITY: 0 emergency to 7 debug. */
  readonly severity: number;
  readonly text: string;
}

const MAX_KEPT = 500;

export const messages = signal<readonly Message[]>([]);

effect(() => {
  void relayed.value;
  messages.value = [];
});

effect(() => {
  const told = (newest.value?.statustext ?? []).flatMap(({ at, severity, text }) =>
    at === undefined || severity === undefined || text === undefined ? [] : [{ at, severity, text }],
  );
  const kept = messages.peek();
  const known = new Set(kept.map(keyOf));
  const news = told.filter((each) => !known.has(keyOf(each)));
  if (news.length > 0) messages.value = [...kept, ...news].slice(-MAX_KEPT);
});

function keyOf({ at, text }: Message): string {
  return `${at} ${text}`;
}
