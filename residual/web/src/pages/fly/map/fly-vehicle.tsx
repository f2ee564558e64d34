import { useComputed } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { track } from '../../../api/flight.ts';
import { fresh, newest } from '../../../api/telemetry.ts';
import { choices, isShown } from '../../../map/choices.ts';
import { useFrames } from '../../../map/context.ts';
import { craftOf } from '../../../map/craft.ts';
import { LiveVehicle } from '../../../map/live-vehicle.tsx';
import { type Scale, TrackLayer } from '../../../map/track-layer.tsx';
import { number } from '../../../parts/format.ts';
import { t } from '../../../strings.ts';
import css from './map.module.css';
import { glide, told } from './state.ts';

/** The vehicle, and the way that it came. */

export function FlyVehicle(): JSX.Element {
  const frames = useFrames();
  // Of a telemetry that comes ten times a second nothing is rendered but what has changed.
  const craft = useComputed(() => craftOf(newest.value?.mav_type)).value;
  const isOld = useComputed(() => fresh('position', ({ position }) => position.lat) === null).value;
  useEffect(() => told.subscribe(() => frames.wake()), []);
  return <LiveVehicle glide={glide} craft={craft} old={isOld} />;
}

/** Steps in which the scale grows, so that the track is not drawn anew with each point. */
const ROUND = { speed: 5, height: 20 } as const;

function scaleOf(values: readonly (number | null)[], round: number): Scale {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (value === null) continue;
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  if (least > most) return { least: 0, most: round };
  const from = Math.floor(least / round) * round;
  return { least: from, most: Math.max(from + round, Math.ceil(most / round) * round) };
}

export function FlyTrack(): JSX.Element | null {
  const coloured = coloursOfTrack();
  if (!isShown('track')) return null;
  return (
    <TrackLayer points={track.value} values={coloured?.values ?? null} scale={coloured?.scale ?? null} />
  );
}

function coloursOfTrack(): { readonly values: readonly (number | null)[]; readonly scale: Scale } | null {
  const by = choices.value.track;
  if (by === 'plain') return null;
  const values = track.value.map((point) => point[by]);
  return { values, scale: scaleOf(values, ROUND[by]) };
}

/** What the colours of the track mean. */
export function TrackLegend(): JSX.Element | null {
  const by = choices.value.track;
  const coloured = coloursOfTrack();
  if (by === 'plain' || coloured === null || !isShown('track') || track.value.length < 2) return null;
  const { least, most } = coloured.scale;
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
