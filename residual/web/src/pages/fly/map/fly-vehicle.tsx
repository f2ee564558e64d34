import { effect, useComputed } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { type TrackPoint, track } from '../../../api/flight.ts';
import { steady } from '../../../api/steady.ts';
import { newest, oldness } from '../../../api/telemetry.ts';
import { choices, isShown } from '../../../map/choices.ts';
import { useFrames } from '../../../map/context.ts';
import { craftOf } from '../../../map/craft.ts';
import { LiveVehicle } from '../../../map/live-vehicle.tsx';
import { type Scale, TrackLayer } from '../../../map/track-layer.tsx';
import { number } from '../../../parts/format.ts';
import { t } from '../../../strings.ts';
import { astray, astrayText } from '../../../vehicle/vehicle-state.ts';
import css from './map.module.css';
import { following, glide, told } from './state.ts';

/** The vehicle, and the way that it came. */

export function FlyVehicle(): JSX.Element {
  const frames = useFrames();
  // Of a telemetry that comes ten times a second nothing is rendered but what has changed.
  const craft = useComputed(() => craftOf(newest.value?.mav_type)).value;
  const isOld = useComputed(() => oldness('position') !== null).value;
  const text = astrayText.value;
  const strayed = text === null ? null : { state: astray.value?.state ?? '', text };
  // What moves the map while the vehicle stands still, too.
  useEffect(
    () =>
      effect(() => {
        void [told.value, following.value, choices.value];
        frames.wake();
      }),
    [],
  );
  return <LiveVehicle glide={glide} craft={craft} old={isOld} astray={strayed} />;
}

/** Steps in which the scale grows, so that the track is not drawn anew with each point. */
const ROUND = { speed: 5, height: 20 } as const;

type Coloured = keyof typeof ROUND;

let looked: {
  readonly by: Coloured | null;
  readonly points: readonly TrackPoint[];
  readonly least: number;
  readonly most: number;
} = { by: null, points: [], least: Number.POSITIVE_INFINITY, most: Number.NEGATIVE_INFINITY };

/** Looks at what was added alone: a track has thousands of points, and grows ten times a second. */
function scaleOf(points: readonly TrackPoint[], by: Coloured): Scale {
  const last = looked.points.length - 1;
  const goesOn = looked.by === by && last >= 0 && points[last] === looked.points[last];
  let { least, most } = goesOn ? looked : { least: Number.POSITIVE_INFINITY, most: Number.NEGATIVE_INFINITY };
  for (let at = goesOn ? last + 1 : 0; at < points.length; at++) {
    const value = points[at]?.[by] ?? null;
    if (value === null) continue;
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  looked = { by, points, least, most };
  const round = ROUND[by];
  if (least > most) return { least: 0, most: round };
  const from = Math.floor(least / round) * round;
  return { least: from, most: Math.max(from + round, Math.ceil(most / round) * round) };
}

const scale = steady(() => {
  const by = choices.value.track;
  return by === 'plain' ? null : scaleOf(track.value, by);
});

export function FlyTrack(): JSX.Element | null {
  const by = choices.value.track;
  if (!isShown('track')) return null;
  return <TrackLayer points={track.value} by={by === 'plain' ? null : by} scale={scale.value} />;
}

/** What the colours of the track mean. */
export function TrackLegend(): JSX.Element | null {
  const by = choices.value.track;
  const isThere = useComputed(() => track.value.length >= 2).value;
  if (by === 'plain' || scale.value === null || !isShown('track') || !isThere) return null;
  const { least, most } = scale.value;
  return (
    <div class={css['legend']}>
      <span>{t.map[by]}</span>
      <span class={css['colours']} aria-hidden="true" />
      <span class={css['ends']}>
        <span>{number(least)}</span>
        <span>{number(most)}</span>
      </span>
    </div>
  );
}
