import type { ComponentChildren, JSX, TargetedPointerEvent } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { useFrames, useProjection } from '../../map/context.ts';
import type { Place } from '../../map/projection.ts';

const TOUCH_R = 22;
const DRAG_PX = 4;
/** Of a point whose number has no room. */
export const POINT_R = 5;
/** Two marks with one between them. */
const BETWEEN_PX = 56;

/** A point of the plan: 44 pixels to touch, dragged where `onMove` is given; a tap chooses it. */
export function Handle({
  at,
  kind,
  radius = 13,
  chosen = false,
  onMove,
  onDrag,
  onChoose,
  children,
}: {
  readonly at: Place;
  readonly kind: string;
  readonly radius?: number;
  readonly chosen?: boolean;
  readonly onMove?: ((place: Place) => void) | undefined;
  /** While it is dragged; null: no longer. */
  readonly onDrag?: ((place: Place | null) => void) | undefined;
  readonly onChoose?: (() => void) | undefined;
  readonly children?: ComponentChildren;
}): JSX.Element {
  const projection = useProjection();
  const frames = useFrames();
  const [dragged, setDragged] = useState<Place | null>(null);
  const held = useRef<{ readonly x: number; readonly y: number } | null>(null);
  const { x, y } = projection.toScreen(dragged ?? at);
  const drag = (place: Place | null): void => {
    setDragged(place);
    onDrag?.(place);
  };
  const under = (event: TargetedPointerEvent<Element>): Place => {
    const box = event.currentTarget.closest('.map')?.getBoundingClientRect();
    return frames.projection.toPlace({
      x: event.clientX - (box?.left ?? 0),
      y: event.clientY - (box?.top ?? 0),
    });
  };
  const isTouched = onMove !== undefined || onChoose !== undefined;
  return (
    <g
      class={`handle ${kind}${chosen ? ' chosen' : ''}${onMove === undefined ? '' : ' movable'}`}
      transform={`translate(${x.toFixed(1)} ${y.toFixed(1)})`}
      onPointerDown={(event) => {
        if (!isTouched || event.button !== 0) return;
        event.stopPropagation();
        held.current = { x: event.clientX, y: event.clientY };
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        const from = held.current;
        if (from === null || onMove === undefined) return;
        if (dragged === null && Math.hypot(event.clientX - from.x, event.clientY - from.y) < DRAG_PX) return;
        drag(under(event));
      }}
      onPointerUp={() => {
        if (held.current === null) return;
        held.current = null;
        if (dragged === null) onChoose?.();
        else onMove?.(dragged);
        drag(null);
      }}
      onPointerCancel={() => {
        held.current = null;
        drag(null);
      }}
    >
      {isTouched ? <circle class="touch" r={TOUCH_R} /> : null}
      <circle r={radius} />
      {children}
    </g>
  );
}

/** `+` in the middle of two points, where it has room: dragged, it is a third. */
export function Between({
  a,
  b,
  onDrag,
  onInsert,
}: {
  readonly a: Place;
  readonly b: Place;
  readonly onDrag?: (place: Place | null) => void;
  readonly onInsert: (at: Place) => void;
}): JSX.Element | null {
  const projection = useProjection();
  const [from, to] = [projection.toScreen(a), projection.toScreen(b)];
  if (Math.hypot(from.x - to.x, from.y - to.y) < BETWEEN_PX) return null;
  return (
    <Handle
      at={{ lat: (a.lat + b.lat) / 2, lon: (a.lon + b.lon) / 2 }}
      kind="between"
      radius={9}
      onDrag={onDrag}
      onMove={onInsert}
    >
      <text dy="0.35em">+</text>
    </Handle>
  );
}
