import { type ComponentChildren, createContext, type JSX } from 'preact';
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Button } from '../parts/parts.tsx';
import { t } from '../strings.ts';
import { type Place, type Point, Projection, type View, ZOOM } from './projection.ts';
import './map.css';

/**
 * The map: what is ours (vehicle, track, mission) is drawn as SVG over a base, which is a map file where there is one, else a grid.
 * Layers are children and place themselves by `useProjection`.
 */

const MapContext = createContext<Projection | null>(null);

/** @throws Error outside of a map */
export function useProjection(): Projection {
  const projection = useContext(MapContext);
  if (projection === null) throw new Error('a layer stands outside of a map');
  return projection;
}

interface MapProps {
  /** For screen readers. */
  readonly label: string;
  readonly view: View;
  readonly onView: (view: View) => void;
  /** A click or a tap where no layer takes it. */
  readonly onPick?: (place: Place) => void;
  /** Under the layers. */
  readonly base?: ComponentChildren;
  readonly children?: ComponentChildren;
}

const WHEEL_STEP = 0.0025;
const MOVED_PX = 5;
const KEY_PX = 80;

export function Map({ label, view, onView, onPick, base, children }: MapProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const size = useSize(box);
  const projection = useMemo(() => new Projection(view, size.x, size.y), [view, size]);
  const latest = useRef(projection);
  latest.current = projection;
  const pointers = useRef(new globalThis.Map<number, Point>());
  const moved = useRef(0);

  const at = (event: MouseEvent): Point => {
    const { left, top } = box.current?.getBoundingClientRect() ?? { left: 0, top: 0 };
    return { x: event.clientX - left, y: event.clientY - top };
  };
  /** Changes the zoom and keeps the place under the pointer where it is. */
  const zoomBy = (step: number, around: Point = { x: size.x / 2, y: size.y / 2 }): void => {
    const before = latest.current;
    const zoom = Math.max(ZOOM.min, Math.min(ZOOM.max, before.view.zoom + step));
    const kept = before.toPlace(around);
    const after = new Projection({ ...before.view, zoom }, size.x, size.y);
    const { x, y } = after.toScreen(kept);
    onView({ ...after.toPlace({ x: size.x / 2 + x - around.x, y: size.y / 2 + y - around.y }), zoom });
  };
  const panBy = (dx: number, dy: number): void => {
    const now = latest.current;
    onView({ ...now.view, ...now.toPlace({ x: size.x / 2 - dx, y: size.y / 2 - dy }) });
  };

  const onMove = (event: PointerEvent): void => {
    const last = pointers.current.get(event.pointerId);
    if (last === undefined) return;
    const here = at(event);
    moved.current += Math.hypot(here.x - last.x, here.y - last.y);
    pointers.current.set(event.pointerId, here);
    if (moved.current < MOVED_PX) return;
    const [other] = [...pointers.current].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
    if (other === undefined) panBy(here.x - last.x, here.y - last.y);
    else {
      const apart = (point: Point): number => Math.max(1, Math.hypot(point.x - other.x, point.y - other.y));
      zoomBy(Math.log2(apart(here) / apart(last)), { x: (here.x + other.x) / 2, y: (here.y + other.y) / 2 });
    }
  };
  const onEnd = (event: PointerEvent): void => {
    const alone = pointers.current.size === 1;
    if (
      pointers.current.delete(event.pointerId) &&
      alone &&
      moved.current < MOVED_PX &&
      event.type === 'pointerup'
    )
      onPick?.(latest.current.toPlace(at(event)));
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget) return;
    const pan = {
      ArrowLeft: [KEY_PX, 0],
      ArrowRight: [-KEY_PX, 0],
      ArrowUp: [0, KEY_PX],
      ArrowDown: [0, -KEY_PX],
    }[event.key];
    if (pan !== undefined) panBy(pan[0] ?? 0, pan[1] ?? 0);
    else if (event.key === '+') zoomBy(1);
    else if (event.key === '-') zoomBy(-1);
    else return;
    event.preventDefault();
  };
  const wheel = useRef(zoomBy);
  wheel.current = zoomBy;
  useEffect(() => {
    const element = box.current;
    const onWheel = (event: WheelEvent): void => {
      event.preventDefault();
      wheel.current(-event.deltaY * WHEEL_STEP, at(event));
    };
    // Not passive: the page must not scroll under the map.
    element?.addEventListener('wheel', onWheel, { passive: false });
    return () => element?.removeEventListener('wheel', onWheel);
  }, []);

  return (
    <div
      ref={box}
      class="map"
      role="application"
      aria-label={label}
      tabIndex={0}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        if (pointers.current.size === 0) moved.current = 0;
        pointers.current.set(event.pointerId, at(event));
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={onMove}
      onPointerUp={onEnd}
      onPointerCancel={onEnd}
      onKeyDown={onKey}
    >
      <MapContext.Provider value={projection}>
        {base ?? <Grid size={size} />}
        <svg class="layers" width={size.x} height={size.y} aria-hidden="true">
          {children}
        </svg>
        <ScaleBar />
      </MapContext.Provider>
      {/* The buttons are not places on the map. */}
      <div class="map-buttons" onPointerDown={(event) => event.stopPropagation()}>
        <Button aria-label={t.map.zoomIn} onClick={() => zoomBy(1)}>
          +
        </Button>
        <Button aria-label={t.map.zoomOut} onClick={() => zoomBy(-1)}>
          −
        </Button>
      </div>
    </div>
  );
}

const LENGTHS_M = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 500_000, 1e6,
];
const lengthName = (metres: number): string => (metres < 1000 ? `${metres} m` : `${metres / 1000} km`);

/** The base without a map file: lines a round number of metres apart. */
function Grid({ size }: { size: Point }): JSX.Element {
  const projection = useProjection();
  const { view, metresPerPixel } = projection;
  const step = (LENGTHS_M.find((length) => length / metresPerPixel >= 60) ?? 1e6) / metresPerPixel;
  // Fixed to the ground near the middle: the grid moves with the map.
  const origin = projection.toScreen({
    lat: Math.round(view.lat * 100) / 100,
    lon: Math.round(view.lon * 100) / 100,
  });
  const lines = (length: number, first: number): number[] => {
    const from = ((first % step) + step) % step;
    return Array.from({ length: Math.max(0, Math.ceil((length - from) / step)) }, (_, n) => from + n * step);
  };
  const path = [
    ...lines(size.x, origin.x).map((x) => `M${x.toFixed(1)} 0V${size.y}`),
    ...lines(size.y, origin.y).map((y) => `M0 ${y.toFixed(1)}H${size.x}`),
  ].join('');
  return (
    <svg class="grid" width={size.x} height={size.y} aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

function ScaleBar(): JSX.Element {
  const { metresPerPixel } = useProjection();
  const metres = LENGTHS_M.findLast((length) => length / metresPerPixel <= 120) ?? 1;
  return (
    <div class="scale" style={{ width: `${metres / metresPerPixel}px` }}>
      {lengthName(metres)}
    </div>
  );
}

function useSize(box: { readonly current: HTMLElement | null }): Point {
  const [size, setSize] = useState<Point>({ x: 300, y: 300 });
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const watch = new ResizeObserver(() => setSize({ x: element.clientWidth, y: element.clientHeight }));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  return size;
}
