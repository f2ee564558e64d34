import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { TrackPoint } from '../api/flight.ts';
import { shownTheme } from '../parts/theme.ts';
import type { Draw } from './carried-canvas.ts';
import { coloursOf } from './outline.tsx';
import type { Projection } from './projection.ts';
import { useCanvas } from './use-canvas.ts';

/** A way flown, of thousands of points: on a canvas, and what is added to it is drawn alone. */

export interface Scale {
  readonly least: number;
  readonly most: number;
}

/** As many as there are colours `--track-0` and on. */
const STEPS = 8;
const WIDTH_PX = 3.5;
const EDGE_PX = 2;
/** Points nearer to each other than this are one on the screen. */
const NEAR_PX = 1.5;

/** Where nobody asks how fast or how high, only where. */
type Point = Pick<TrackPoint, 'lat' | 'lon'> & Partial<TrackPoint>;

interface Coloured {
  /** Grows at its end; a list that is otherwise another one is drawn anew. */
  readonly points: readonly Point[];
  /** What it is coloured by; null: by nothing. */
  readonly by: 'speed' | 'height' | null;
  /** What the first and the last colour mean. */
  readonly scale: Scale | null;
}

export function TrackLayer({
  points,
  by = null,
  scale = null,
}: Pick<Coloured, 'points'> & Partial<Coloured>): JSX.Element {
  const theme = shownTheme.value;
  const latest = useRef<Coloured>({ points, by, scale });
  latest.current = { points, by, scale };
  const drawn = useRef<readonly Point[]>([]);
  const all: Draw = (pen, projection) => {
    const now = latest.current;
    drawn.current = now.points;
    drawTrack(pen, projection, now, 0);
  };
  const { ref, touch, extend } = useCanvas(all);
  useEffect(() => {
    const before = drawn.current;
    if (before === points) return;
    const last = before.length - 1;
    const isLonger = last >= 0 && points.length > before.length && points[last] === before[last];
    if (!isLonger) return touch();
    drawn.current = points;
    extend((pen, projection) => drawTrack(pen, projection, { points, by, scale }, last));
  }, [points]);
  useEffect(touch, [theme, by, scale?.least, scale?.most]);
  return <canvas ref={ref} class="carried track" aria-hidden="true" />;
}

/** @param from the first point of it */
function drawTrack(
  pen: CanvasRenderingContext2D,
  projection: Projection,
  { points, by, scale }: Coloured,
  from: number,
): void {
  const first = points[from];
  if (first === undefined) return;
  const colour = coloursOf(pen.canvas);
  const edge = new Path2D();
  const paths = new Map<number | null, Path2D>();
  let last = projection.toScreen(first);
  const end = points.length - 1;
  for (let at = from + 1; at <= end; at++) {
    const place = points[at];
    if (place === undefined) break;
    const next = projection.toScreen(place);
    if (at !== end && Math.hypot(next.x - last.x, next.y - last.y) < NEAR_PX) continue;
    const step = by === null ? null : stepOf(place[by] ?? null, scale);
    let path = paths.get(step);
    if (path === undefined) {
      path = new Path2D();
      paths.set(step, path);
    }
    for (const each of [edge, path]) {
      each.moveTo(last.x, last.y);
      each.lineTo(next.x, next.y);
    }
    last = next;
  }
  pen.lineCap = 'round';
  pen.lineWidth = WIDTH_PX + EDGE_PX;
  pen.strokeStyle = colour('--track-edge');
  pen.stroke(edge);
  pen.lineWidth = WIDTH_PX;
  for (const [step, path] of paths) {
    pen.strokeStyle = colour(step === null ? '--track-plain' : `--track-${step}`);
    pen.stroke(path);
  }
}

function stepOf(value: number | null, scale: Scale | null): number | null {
  if (value === null || scale === null) return null;
  const part = scale.most > scale.least ? (value - scale.least) / (scale.most - scale.least) : 0;
  return Math.max(0, Math.min(STEPS - 1, Math.floor(part * STEPS)));
}
