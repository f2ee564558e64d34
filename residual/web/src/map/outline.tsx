import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { shownTheme } from '../parts/theme.ts';
import { useFrames } from './context.ts';
import { type Land, worldOutline } from './outline/outline.ts';
import { distance, type Place, Projection, turn, worldOf } from './projection.ts';
import { useCanvas } from './use-canvas.ts';

/**
 * The base without any map: the outline of the world from afar; from near, where that outline would be wrong by kilometres,
 * plain ground with lines a round number of metres apart.
 */

/** From here on it is ground and grid. */
const NEAR_ZOOM = 8;
const STEPS_M = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000];
const STEP_PX = 60;
/** Degrees of latitude. */
const MAP_ENDS = -85;
const STEPS_DEG = [1, 2, 5, 10, 15, 30];
/** A grid that starts at another place jumps; so far from its start its lines are no longer the distance that they say. */
const ANCHOR_M = 40_000;

// One for all maps of the page, once it is read; null: not yet.
let land: Path2D | null = null;

export function Outline(): JSX.Element {
  const frames = useFrames();
  const theme = shownTheme.value;
  const anchor = useRef<Place>({ lat: 0, lon: 0 });
  const { ref, touch } = useCanvas((pen, projection) => {
    const colour = coloursOf(pen.canvas);
    if (projection.view.zoom >= NEAR_ZOOM) {
      fill(pen, projection, colour('--map-ground'));
      if (distance(anchor.current, projection.view) > ANCHOR_M) anchor.current = projection.view;
      grid(pen, projection, anchor.current, colour('--map-grid'));
      return;
    }
    fill(pen, projection, colour('--map-sea'));
    drawLand(pen, projection, colour('--map-ground'), colour('--map-coast'));
    graticule(pen, projection, colour('--map-grid'));
  });
  useEffect(touch, [theme]);
  useEffect(() => {
    let shown = true;
    const read = async (): Promise<void> => {
      land ??= pathOf(await worldOutline());
      if (shown) touch();
    };
    // Without it there is sea and a graticule; from near nothing is missing.
    if (land === null && frames.view.zoom < NEAR_ZOOM) read().catch(() => undefined);
    const end = frames.add(({ view }) => {
      if (view.zoom >= NEAR_ZOOM || land !== null) return false;
      end();
      read().catch(() => undefined);
      return false;
    });
    return () => {
      shown = false;
      end();
    };
  }, []);
  return <canvas ref={ref} class="carried outline" aria-hidden="true" />;
}

/** Reads a colour of the theme where the canvas stands. */
export function coloursOf(canvas: HTMLCanvasElement): (name: string) => string {
  const style = getComputedStyle(canvas);
  return (name) => style.getPropertyValue(name).trim();
}

function fill(pen: CanvasRenderingContext2D, { width, height }: Projection, colour: string): void {
  pen.fillStyle = colour;
  pen.fillRect(0, 0, width, height);
}

/** In the measure of the world, 0 to 1. */
function pathOf({ coordinates }: Land): Path2D {
  const path = new Path2D();
  for (const ring of coordinates.flat()) {
    // An island on both sides of 180° goes on beyond it; Antarctica goes round the world, and down to where the map ends.
    const goesRound = ring.some(([, lat = 0]) => lat < MAP_ENDS);
    let last: number | null = null;
    for (const [lon = 0, lat = 0] of ring) {
      const beside: number = last === null || goesRound ? lon : last + turn(last, lon);
      const { x, y } = worldOf({ lat, lon: beside });
      if (last === null) path.moveTo(x, y);
      else path.lineTo(x, y);
      last = beside;
    }
    path.closePath();
  }
  return path;
}

/** The copies of the world beside the one in the middle, too. */
const COPIES = [-1, 0, 1];

function drawLand(
  pen: CanvasRenderingContext2D,
  projection: Projection,
  ground: string,
  coast: string,
): void {
  if (land === null) return;
  const before = pen.getTransform();
  const scale = projection.worldPx;
  pen.fillStyle = ground;
  pen.strokeStyle = coast;
  pen.lineWidth = 1 / scale;
  for (const copy of COPIES) {
    const { x, y } = projection.worldToScreen(copy, 0);
    pen.setTransform(before.translate(x, y).rotate(-projection.bearing).scale(scale));
    pen.fill(land, 'evenodd');
    pen.stroke(land);
  }
  pen.setTransform(before);
}

function graticule(pen: CanvasRenderingContext2D, projection: Projection, colour: string): void {
  const degreePx = projection.worldPx / 360;
  const step = STEPS_DEG.find((degrees) => degrees * degreePx >= STEP_PX) ?? 30;
  pen.strokeStyle = colour;
  pen.lineWidth = 1;
  pen.beginPath();
  const line = (from: Place, to: Place, copy: number): void => {
    const [a, b] = [worldOf(from), worldOf(to)];
    const start = projection.worldToScreen(a.x + copy, a.y);
    const end = projection.worldToScreen(b.x + copy, b.y);
    pen.moveTo(start.x, start.y);
    pen.lineTo(end.x, end.y);
  };
  for (const copy of COPIES) {
    for (let lon = -180; lon < 180; lon += step) line({ lat: -85, lon }, { lat: 85, lon }, copy);
    for (let lat = -90 + step; lat < 90; lat += step) line({ lat, lon: -180 }, { lat, lon: 180 }, copy);
  }
  pen.stroke();
}

/** Lines a round number of metres apart, fixed to the ground at `anchor`. */
function grid(pen: CanvasRenderingContext2D, projection: Projection, anchor: Place, colour: string): void {
  const { metresPerPixel, width, height, worldPx } = projection;
  const metres = STEPS_M.find((length) => length / metresPerPixel >= STEP_PX) ?? 50_000;
  // By the place that they start at: they stay where they are when the map is moved to the north.
  const start = new Projection({ ...projection.view, ...anchor }, 1, 1);
  const step = metres / start.metresPerPixel / worldPx;
  const origin = worldOf(anchor);
  const middle = worldOf(projection.view);
  const reach = Math.hypot(width, height) / 2 / worldPx;
  const first = (from: number, at: number): number => at + Math.ceil((from - at) / step) * step;
  pen.strokeStyle = colour;
  pen.lineWidth = 1;
  pen.beginPath();
  const line = (ax: number, ay: number, bx: number, by: number): void => {
    const [a, b] = [projection.worldToScreen(ax, ay), projection.worldToScreen(bx, by)];
    pen.moveTo(a.x, a.y);
    pen.lineTo(b.x, b.y);
  };
  const { x, y } = middle;
  for (let at = first(x - reach, origin.x); at <= x + reach; at += step) line(at, y - reach, at, y + reach);
  for (let at = first(y - reach, origin.y); at <= y + reach; at += step) line(x - reach, at, x + reach, at);
  pen.stroke();
}
