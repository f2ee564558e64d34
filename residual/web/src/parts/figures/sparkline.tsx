import type { JSX } from 'preact';

const WIDTH = 100;
const HEIGHT = 30;

/** The course of a figure, as wide as its place; null is a gap. What it says stands in words beside it. @param low, high ends of the scale; without them those of the values */
export function Sparkline({
  values,
  low,
  high,
}: {
  readonly values: readonly (number | null)[];
  readonly low?: number;
  readonly high?: number;
}): JSX.Element {
  const known = values.filter((value) => value !== null);
  const [lowest, highest] = [low ?? Math.min(...known), high ?? Math.max(...known)];
  // What does not change runs through the middle.
  const isFlat = lowest === highest;
  const least = isFlat ? lowest - 0.5 : lowest;
  const room = isFlat ? 1 : highest - lowest;
  let pen = 'M';
  const path = values.map((value, at) => {
    if (value === null) {
      pen = 'M';
      return '';
    }
    const x = values.length < 2 ? 0 : (at / (values.length - 1)) * WIDTH;
    const y = HEIGHT - (Math.min(1, Math.max(0, (value - least) / room)) * (HEIGHT - 2) + 1);
    const step = `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
    pen = 'L';
    return step;
  });
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path d={path.join('')} />
    </svg>
  );
}
