import { useEffect, useRef, useState } from 'preact/hooks';

/** What is confirmed by holding it: how long it was held so far is for the style to show. */
export interface Hold {
  readonly held: boolean;
  readonly begin: () => void;
  readonly stop: () => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

/** @param off it cannot be confirmed now; a hold that has begun ends. @param onConfirm after `ms` without a break */
export function useHold(off: boolean, ms: number, onConfirm: () => void, onBegin?: () => void): Hold {
  const [held, setHeld] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const stop = (): void => {
    clearTimeout(timer.current);
    timer.current = undefined;
    setHeld(false);
  };
  const begin = (): void => {
    if (off || timer.current !== undefined) return;
    setHeld(true);
    onBegin?.();
    timer.current = setTimeout(() => {
      stop();
      onConfirm();
    }, ms);
  };
  useEffect(() => stop, []);
  useEffect(() => {
    if (off) stop();
  }, [off]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== ' ' && event.key !== 'Enter') return;
    event.preventDefault();
    begin();
  };
  return { held, begin, stop, onKeyDown };
}
