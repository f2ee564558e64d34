import { effect, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { armed } from '../../api/telemetry.ts';

/** Keeps the screen on while the vehicle is armed and this page is seen; where the browser has no such thing, nothing happens. */
export function useWakeLock(): void {
  useEffect(() => {
    const seen = signal(!document.hidden);
    const look = (): void => {
      seen.value = !document.hidden;
    };
    document.addEventListener('visibilitychange', look);
    let flying = false;
    let held: Promise<WakeLockSentinel | null> | null = null;
    const release = (): void => {
      void held?.then(async (lock) => lock?.release());
      held = null;
    };
    const stop = effect(() => {
      // While its heartbeat is late it may well fly on.
      if (armed.value !== 'unknown') flying = armed.value === true;
      if (!flying || !seen.value) release();
      else held ??= request();
    });
    return () => {
      document.removeEventListener('visibilitychange', look);
      stop();
      release();
    };
  }, []);
}

/** There is none without HTTPS, and a phone that saves its battery refuses: then the screen goes off by its own time. */
async function request(): Promise<WakeLockSentinel | null> {
  if (!('wakeLock' in navigator)) return null;
  return navigator.wakeLock.request('screen').catch(() => null);
}
