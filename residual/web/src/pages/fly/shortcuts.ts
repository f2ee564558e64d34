import { useEffect, useRef, useState } from 'preact/hooks';
import { type Commands, type Order, STOP_HOLD_MS } from '../../commands/orders.ts';
import { t } from '../../strings.ts';

/** Keys of the page to fly by. No press of a key does anything to the vehicle: those that do are held as long as their buttons. */

type HeldCommand = 'land' | 'rtl' | 'stop';
const HELD_KEYS: Readonly<Record<string, { readonly cmd: HeldCommand; readonly ms: number }>> = {
  l: { cmd: 'land', ms: 1000 },
  r: { cmd: 'rtl', ms: 1000 },
  h: { cmd: 'stop', ms: STOP_HOLD_MS },
};

/** Whether what is typed now is meant for something else: an input, a button that is held, a sheet. */
function isElsewhere(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.defaultPrevented) return true;
  if (document.querySelector('dialog[open]') !== null) return true;
  return event.target instanceof Element && event.target.closest('input, select, textarea') !== null;
}

/** @param act by key, `?` or a letter in lower case */
export function useKeys(act: Readonly<Record<string, () => void>>): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const down = (event: KeyboardEvent): void => {
      if (isElsewhere(event)) return;
      latest.current[event.key.toLowerCase()]?.();
    };
    addEventListener('keydown', down);
    return () => removeEventListener('keydown', down);
  }, []);
}

/** Gives the command of a key that is held long enough. @returns whose key is held down now */
export function useHeldKey(commands: Commands): HeldCommand | null {
  const [held, setHeld] = useState<HeldCommand | null>(null);
  const latest = useRef(commands);
  latest.current = commands;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let key = '';
    const stop = (): void => {
      clearTimeout(timer);
      key = '';
      setHeld(null);
    };
    const down = (event: KeyboardEvent): void => {
      const wanted = HELD_KEYS[event.key.toLowerCase()];
      if (wanted === undefined || isElsewhere(event)) return;
      if (latest.current.whyNot(wanted.cmd) !== null) return;
      stop();
      key = event.key.toLowerCase();
      setHeld(wanted.cmd);
      timer = setTimeout(() => {
        stop();
        const order: Order = { cmd: wanted.cmd };
        latest.current.give(t.fly[wanted.cmd], order);
      }, wanted.ms);
    };
    const up = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() === key) stop();
    };
    addEventListener('keydown', down);
    addEventListener('keyup', up);
    addEventListener('blur', stop);
    document.addEventListener('visibilitychange', stop);
    return () => {
      stop();
      removeEventListener('keydown', down);
      removeEventListener('keyup', up);
      removeEventListener('blur', stop);
      document.removeEventListener('visibilitychange', stop);
    };
  }, []);
  return held;
}
