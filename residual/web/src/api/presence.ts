import { computed, signal } from '@preact/signals';

/** Whether the node answers at all, from every request and from the telemetry socket. */

const silentSince = signal<number | null>(null);

/** Somebody listens to the page while nobody looks. */
export const beatHidden = signal(false);

/** A clock for what is shown, ms since the page was opened; ticks twice a second while somebody looks or listens. */
export const now = signal(performance.now());

/** Seconds since the node stopped answering; null while it answers. */
export const awaySeconds = computed(() =>
  silentSince.value === null ? null : Math.max(0, Math.round((now.value - silentSince.value) / 1000)),
);

/** Since when, ms since 1970. */
export const awayFrom = computed(() =>
  silentSince.value === null ? null : Date.now() - performance.now() + silentSince.value,
);

export function heard(): void {
  silentSince.value = null;
}

/** @param since as `performance.now()`: the last that was heard, or when what failed was asked */
export function missed(since = performance.now()): void {
  silentSince.value ??= since;
}

/** The node answers, and its WebSockets were closed before they opened: something on the way does not pass them. */
export const socketsRefused = signal(false);

setInterval(() => {
  if (!document.hidden || beatHidden.value) now.value = performance.now();
}, 500);
document.addEventListener('visibilitychange', () => {
  now.value = performance.now();
});
