import type { JSX, TargetedPointerEvent } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { useFrames, useProjection } from './context.ts';
import type { Place } from './projection.ts';

/** What can be drawn on the map. */

/** A line over the ground; `closed` joins its ends and fills it. */
export function Line({
  places,
  kind,
  closed = false,
}: {
  places: readonly Place[];
  kind: string;
  closed?: boolean;
}): JSX.Element | null {
  const projection = useProjection();
  if (places.length < 2) return null;
  const points = places.map((place) => {
    const { x, y } = projection.toScreen(place);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  const drawn = points.join(' ');
  return closed ? (
    <polygon class={`line ${kind}`} points={drawn} />
  ) : (
    <polyline class={`line ${kind}`} points={drawn} />
  );
}

/** @param radius m */
export function Circle({
  centre,
  radius,
  kind,
}: {
  centre: Place;
  radius: number;
  kind: string;
}): JSX.Element {
  const projection = useProjection();
  const { x, y } = projection.toScreen(centre);
  return <circle class={`line ${kind}`} cx={x} cy={y} r={radius / projection.metresPerPixel} />;
}

/** The vehicle, seen from above. @param heading degrees from north; null: not known */
export function Vehicle({
  at,
  heading,
  old = false,
}: {
  at: Place;
  heading: number | null;
  old?: boolean;
}): JSX.Element {
  const projection = useProjection();
  const { x, y } = projection.toScreen(at);
  const turned = heading === null ? 0 : heading - projection.bearing;
  return (
    <g class={old ? 'vehicle old' : 'vehicle'} transform={`translate(${x} ${y}) rotate(${turned})`}>
      {heading === null ? <circle r={9} /> : <path d="M0 -16L11 12L0 6L-11 12Z" />}
    </g>
  );
}

/** A point with a text, small without one; dragged where `onMove` is given. */
export function Marker({
  at,
  text,
  kind,
  chosen = false,
  onMove,
  onChoose,
}: {
  at: Place;
  text: string;
  kind: string;
  chosen?: boolean;
  onMove?: (place: Place) => void;
  onChoose?: () => void;
}): JSX.Element {
  const projection = useProjection();
  const frames = useFrames();
  const [dragged, setDragged] = useState<Place | null>(null);
  const held = useRef(false);
  const { x, y } = projection.toScreen(dragged ?? at);
  const under = (event: TargetedPointerEvent<Element>): Place => {
    const box = event.currentTarget.closest('.map')?.getBoundingClientRect();
    return frames.projection.toPlace({
      x: event.clientX - (box?.left ?? 0),
      y: event.clientY - (box?.top ?? 0),
    });
  };
  return (
    <g
      class={`marker ${kind}${chosen ? ' chosen' : ''}${onMove === undefined ? '' : ' movable'}`}
      transform={`translate(${x} ${y})`}
      onPointerDown={(event) => {
        if (onMove === undefined && onChoose === undefined) return;
        event.stopPropagation();
        onChoose?.();
        held.current = onMove !== undefined;
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => held.current && setDragged(under(event))}
      onPointerUp={() => {
        held.current = false;
        if (dragged !== null) onMove?.(dragged);
        setDragged(null);
      }}
      onPointerCancel={() => {
        held.current = false;
        setDragged(null);
      }}
    >
      {onMove === undefined && onChoose === undefined ? null : (
        <rect class="hit" x={-22} y={-22} width={44} height={44} />
      )}
      <circle r={text === '' ? 4 : 13} />
      <text dy="0.35em">{text}</text>
    </g>
  );
}
