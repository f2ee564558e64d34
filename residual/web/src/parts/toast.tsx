import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';

const SHOWN_MS = 6000;
const MAX_SHOWN = 4;

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: 'good' | 'warn' | 'bad' | 'info';
  /** Also when the page that raised it was left. */
  readonly stays: boolean;
}

const toasts = signal<readonly Toast[]>([]);
let last = 0;

/** Says something in passing on the page that raised it: what was done, what the vehicle answered. Read out by screen readers. */
export function say(text: string, tone: Toast['tone'] = 'info', { stays = false } = {}): void {
  const id = ++last;
  toasts.value = [...toasts.value.slice(1 - MAX_SHOWN), { id, text, tone, stays }];
  setTimeout(() => {
    toasts.value = toasts.value.filter((toast) => toast.id !== id);
  }, SHOWN_MS);
}

/** Another page is opened: what was said of the last one does not belong to it. */
export function leaveToasts(): void {
  toasts.value = toasts.peek().filter(({ stays }) => stays);
}

/** How many dialogs lie over the page: what is said then stands in them, as what lies behind is neither seen nor read out. */
const over = signal(0);

/** While `open`. */
export function useOver(open: boolean): void {
  useEffect(() => {
    if (!open) return;
    over.value = over.peek() + 1;
    return () => {
      over.value = over.peek() - 1;
    };
  }, [open]);
}

/** In a place of their own, so that they cover nothing. @param inDialog stands in a dialog that is open */
export function Toasts({ inDialog = false }: { readonly inDialog?: boolean }): JSX.Element | null {
  if (!inDialog && over.value > 0) return null;
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
