import type { JSX, RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Place, Point } from './projection.ts';
import type { Stage } from './stage.ts';

const WHEEL_STEP = 0.0025;
const MOVED_PX = 5;
const KEY_PX = 80;

type Handlers = Pick<
  JSX.IntrinsicElements['div'],
  'onPointerDown' | 'onPointerMove' | 'onPointerUp' | 'onPointerCancel' | 'onKeyDown'
>;

/** Pointer, two fingers, wheel and keys. @param onPick a click or a tap where no layer takes it */
export function useGestures(
  box: RefObject<HTMLDivElement | null>,
  stage: Stage,
  onPick: ((place: Place) => void) | undefined,
): Handlers {
  const pointers = useRef(new Map<number, Point>());
  const moved = useRef(0);
  const at = (event: MouseEvent): Point => {
    const { left, top } = box.current?.getBoundingClientRect() ?? { left: 0, top: 0 };
    return { x: event.clientX - left, y: event.clientY - top };
  };

  const onPointerMove = (event: PointerEvent): void => {
    const last = pointers.current.get(event.pointerId);
    if (last === undefined) return;
    const here = at(event);
    moved.current += Math.hypot(here.x - last.x, here.y - last.y);
    pointers.current.set(event.pointerId, here);
    if (moved.current < MOVED_PX) return;
    const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
    if (other === undefined) stage.panBy(here.x - last.x, here.y - last.y);
    else {
      const apart = (point: Point): number => Math.max(1, Math.hypot(point.x - other.x, point.y - other.y));
      const middle = { x: (here.x + other.x) / 2, y: (here.y + other.y) / 2 };
      stage.zoomBy(Math.log2(apart(here) / apart(last)), middle);
    }
  };
  const onEnd = (event: PointerEvent): void => {
    const alone = pointers.current.size === 1;
    if (!pointers.current.delete(event.pointerId) || !alone || event.type !== 'pointerup') return;
    if (moved.current < MOVED_PX) onPick?.(stage.live.toPlace(at(event)));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget) return;
    const pan = {
      ArrowLeft: [KEY_PX, 0],
      ArrowRight: [-KEY_PX, 0],
      ArrowUp: [0, KEY_PX],
      ArrowDown: [0, -KEY_PX],
    }[event.key];
    if (pan !== undefined) stage.panBy(pan[0] ?? 0, pan[1] ?? 0);
    else if (event.key === '+' || event.key === '=') stage.zoomBy(1);
    else if (event.key === '-') stage.zoomBy(-1);
    else return;
    event.preventDefault();
  };
  useEffect(() => {
    const element = box.current;
    const onWheel = (event: WheelEvent): void => {
      event.preventDefault();
      stage.zoomBy(-event.deltaY * WHEEL_STEP, at(event));
    };
    // Not passive: the page must not scroll under the map.
    element?.addEventListener('wheel', onWheel, { passive: false });
    return () => element?.removeEventListener('wheel', onWheel);
  }, []);

  return {
    onPointerDown: (event) => {
      if (event.button !== 0) return;
      if (pointers.current.size === 0) moved.current = 0;
      pointers.current.set(event.pointerId, at(event));
      event.currentTarget.setPointerCapture(event.pointerId);
    },
    onPointerMove,
    onPointerUp: onEnd,
    onPointerCancel: onEnd,
    onKeyDown,
  };
}
