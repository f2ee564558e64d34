import { signal } from '@preact/signals';
import type { JSX } from 'preact';

const SHOWN_MS = 6000;
const MAX_SHOWN = 4;

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: 'good' | 'warn' | 'bad' | 'info';
}

const toasts = signal<readonly Toast[]>([]);
let last = 0;

/** Says something in passing: what was done, what the vehicle answered. Read out by screen readers. */
export function say(text: string, tone: Toast['tone'] = 'info'): void {
  const id = ++last;
  toasts.value = [...toasts.value.slice(1 - MAX_SHOWN), { id, text, tone }];
  setTimeout(() => {
    toasts.value = toasts.value.filter((toast) => toast.id !== id);
  }, SHOWN_MS);
}

export function Toasts(): JSX.Element {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, tone }) => (
        <p key={id} class={`note ${tone}`}>
          {text}
        </p>
      ))}
    </div>
  );
}
