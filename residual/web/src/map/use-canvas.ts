import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { CarriedCanvas, type Draw } from './carried-canvas.ts';
import { useFrames } from './context.ts';

/** A canvas of a layer, which stays with the map. @param draw reads what is newest itself */
export function useCanvas(draw: Draw): {
  readonly ref: RefObject<HTMLCanvasElement | null>;
  /** What it shows has changed. */
  readonly touch: () => void;
  /** Adds to what is drawn. */
  readonly extend: (more: Draw) => void;
} {
  const frames = useFrames();
  const ref = useRef<HTMLCanvasElement>(null);
  const held = useRef<CarriedCanvas | null>(null);
  const latest = useRef(draw);
  latest.current = draw;
  useEffect(() => {
    if (ref.current === null) return;
    const canvas = new CarriedCanvas(ref.current, (pen, projection) => latest.current(pen, projection));
    held.current = canvas;
    return frames.add((live, now) => canvas.paint(live, now));
  }, []);
  return {
    ref,
    touch: () => {
      held.current?.touch();
      frames.wake();
    },
    extend: (more) => held.current?.extend(more),
  };
}
