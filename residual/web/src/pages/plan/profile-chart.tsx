import type { JSX } from 'preact';
import type { Profile } from './estimate/profile.ts';
import { heightText } from './height.ts';
import css from './plan.module.css';
import { planWords } from './plan-words.ts';

const WIDTH = 1000;
const HEIGHT = 100;

/** The way over the ground, seen from the side. What it says stands in words below. */
export function ProfileChart({
  profile,
  hasSource,
  numberOf,
}: {
  readonly profile: Profile;
  readonly hasSource: boolean;
  /** The number that a person knows an item by. */
  readonly numberOf: (at: number) => number;
}): JSX.Element {
  const { points, lowest, isKnown } = profile;
  const heights = points.flatMap(({ ground, flown }) => [ground, flown].filter((each) => each !== null));
  const [least, most] = [Math.min(...heights), Math.max(...heights)];
  const length = Math.max(1, points.at(-1)?.along ?? 1);
  const room = Math.max(10, most - least);
  const x = (along: number): string => ((along / length) * WIDTH).toFixed(1);
  const y = (height: number): string => (HEIGHT - ((height - least) / room) * (HEIGHT - 12) - 6).toFixed(1);
  const path = (pick: (point: (typeof points)[number]) => number | null): string => {
    let pen = 'M';
    return points
      .map((point) => {
        const height = pick(point);
        if (height === null) {
          pen = 'M';
          return '';
        }
        const step = `${pen}${x(point.along)} ${y(height)}`;
        pen = 'L';
        return step;
      })
      .join('');
  };
  const marked = lowest === null ? null : points.find(({ along }) => along === lowest.along);
  return (
    <figure class={css['profile']}>
      {heights.length === 0 ? null : (
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          {isKnown ? <path class={css['ground']} d={groundArea(points, x, y)} /> : null}
          <path class={css['flown']} d={path(({ flown }) => flown)} />
          {marked?.ground == null || marked.flown === null ? null : (
            <path class={css['lowest']} d={`M${x(marked.along)} ${y(marked.ground)}V${y(marked.flown)}`} />
          )}
        </svg>
      )}
      <figcaption>
        <strong>{planWords.profile.title({ above: planWords.above.ground })}</strong>{' '}
        {points.length === 0
          ? planWords.profile.empty
          : lowest !== null
            ? planWords.profile.lowest({
                height: heightText(lowest.clearance, 'ground'),
                item: numberOf(lowest.at),
              })
            : hasSource
              ? planWords.profile.loading
              : planWords.profile.unknown}
      </figcaption>
    </figure>
  );
}

/** Filled down to the bottom, piece by piece where the ground is known. */
function groundArea(
  points: Profile['points'],
  x: (along: number) => string,
  y: (height: number) => string,
): string {
  let path = '';
  let from: string | null = null;
  let to = '';
  for (const { along, ground } of points) {
    if (ground === null) {
      if (from !== null) path += `L${to} ${HEIGHT}L${from} ${HEIGHT}Z`;
      from = null;
      continue;
    }
    path += `${from === null ? 'M' : 'L'}${x(along)} ${y(ground)}`;
    from ??= x(along);
    to = x(along);
  }
  return from === null ? path : `${path}L${to} ${HEIGHT}L${from} ${HEIGHT}Z`;
}
