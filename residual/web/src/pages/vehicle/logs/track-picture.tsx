import type { JSX } from 'preact';
import css from './logs.module.css';

const SIZE = 100;
const EDGE = 6;

/** Where a flight went, north up, as large as its place; a dot where it began. */
export function TrackPicture({
  label,
  track,
}: {
  readonly label: string;
  readonly track: readonly { readonly lat: number; readonly lon: number }[];
}): JSX.Element | null {
  const [first] = track;
  if (first === undefined) return null;
  const east = Math.cos((first.lat * Math.PI) / 180);
  const points = track.map(({ lat, lon }) => ({ x: (lon - first.lon) * east, y: first.lat - lat }));
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const [width, height] = [Math.max(...xs) - left, Math.max(...ys) - top];
  // What has not moved is a point in the middle.
  const scale = (SIZE - 2 * EDGE) / (Math.max(width, height) || 1);
  const drawn = points.map(({ x, y }) => ({
    x: SIZE / 2 + (x - left - width / 2) * scale,
    y: SIZE / 2 + (y - top - height / 2) * scale,
  }));
  return (
    <svg class={css['track']} viewBox={`0 0 ${SIZE} ${SIZE}`} role="img" aria-label={label}>
      <polyline points={drawn.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ')} />
      <circle cx={drawn[0]?.x} cy={drawn[0]?.y} r={3.5} />
    </svg>
  );
}
