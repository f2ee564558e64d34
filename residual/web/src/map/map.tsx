import { Minus, Plus } from 'lucide';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Button } from '../parts/button.tsx';
import { t } from '../strings.ts';
import { MapContext, useProjection } from './context.ts';
import { useGestures } from './gestures.ts';
import { Outline } from './outline.tsx';
import { carry, type Place, type Point, type Projection, type View } from './projection.ts';
import { Stage, type StageOwner } from './stage.ts';
import './map.css';

/**
 * The map: what is ours (fence, mission, places) is drawn as SVG over a base, which is a map of the node or the outline of the world.
 * Layers are children and place themselves by `useProjection`; between two renderings they are carried with the view. What moves
 * in every frame paints itself by `useFrames`.
 */

interface MapProps extends StageOwner {
  /** For screen readers. */
  readonly label: string;
  /** The id of a text that says what is to be seen. */
  readonly describedBy?: string;
  readonly view: View;
  /** A click or a tap where no layer takes it. */
  readonly onPick?: ((place: Place) => void) | undefined;
  /** Under the layers. */
  readonly base?: ComponentChildren;
  /** HTML between base and layers: canvases that carry themselves. */
  readonly under?: ComponentChildren;
  /** HTML over the layers. */
  readonly over?: ComponentChildren;
  /** Buttons below those that zoom. */
  readonly tools?: ComponentChildren;
  /** SVG. */
  readonly children?: ComponentChildren;
}

export function Map({
  label,
  describedBy,
  view,
  onPick,
  base,
  under,
  over,
  tools,
  children,
  ...owner
}: MapProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const carrier = useRef<HTMLDivElement>(null);
  const size = useSize(box);
  const [projection, setProjection] = useState<Projection | null>(null);
  const [stage] = useState(() => new Stage(view, owner, setProjection));
  stage.owner = owner;
  const shown = projection ?? stage.live;
  useLayoutEffect(
    () => stage.take(view, size),
    [view.lat, view.lon, view.zoom, view.bearing, size.x, size.y],
  );
  useLayoutEffect(() => {
    stage.drawn = shown;
    if (carrier.current !== null) carrier.current.style.transform = carry(shown, stage.live);
  }, [shown]);
  useEffect(() => {
    const end = stage.frames.add((live) => {
      if (carrier.current !== null) carrier.current.style.transform = carry(stage.drawn, live);
      return false;
    });
    return () => {
      end();
      stage.frames.stop();
    };
  }, []);
  // Whoever drives it has something to move it by.
  useEffect(() => stage.frames.wake(), [owner.drive]);
  const gestures = useGestures(box, stage, onPick);
  const map = useMemo(() => ({ projection: shown, frames: stage.frames }), [shown]);

  return (
    <div
      ref={box}
      class="map"
      role="application"
      aria-label={label}
      aria-describedby={describedBy}
      tabIndex={0}
      {...gestures}
    >
      <MapContext.Provider value={map}>
        {base ?? <Outline />}
        {under}
        <div ref={carrier} class="carrier">
          <svg class="layers" width={shown.width} height={shown.height} aria-hidden="true">
            {children}
          </svg>
        </div>
        {over}
        <ScaleBar />
      </MapContext.Provider>
      {/* The buttons are not places on the map. */}
      <div class="map-buttons" onPointerDown={(event) => event.stopPropagation()}>
        <Button icon={Plus} aria-label={t.map.zoomIn} onClick={() => stage.zoomBy(1)} />
        <Button icon={Minus} aria-label={t.map.zoomOut} onClick={() => stage.zoomBy(-1)} />
        {tools}
      </div>
    </div>
  );
}

const LENGTHS_M = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000,
  1e6, 2e6, 5e6, 1e7,
];
const lengthName = (metres: number): string => (metres < 1000 ? `${metres} m` : `${metres / 1000} km`);

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
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const look = (): void =>
      setSize((last) =>
        last.x === element.clientWidth && last.y === element.clientHeight
          ? last
          : { x: Math.max(1, element.clientWidth), y: Math.max(1, element.clientHeight) },
      );
    look();
    const watch = new ResizeObserver(look);
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  return size;
}
