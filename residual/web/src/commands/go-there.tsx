import { Navigation } from 'lucide';
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { distance, type Place } from '../map/projection.ts';
import { number } from '../parts/format.ts';
import { Field } from '../parts/parts.tsx';
import { t } from '../strings.ts';
import css from './commands.module.css';
import { HeldOrder } from './held-order.tsx';
import { type Commands, GRAVE_HOLD_MS, type Order } from './orders.ts';

/** Where the vehicle is to go, as it was tapped or typed. */
export interface Target {
  readonly lat: string;
  readonly lon: string;
}

/** To a place that was tapped on the map or is typed in. @param height of the vehicle above home, m */
export function GoThere({
  commands,
  target,
  onTarget,
  from,
  height,
  onGiven,
}: {
  readonly commands: Commands;
  readonly target: Target | null;
  readonly onTarget: (target: Target) => void;
  readonly from: Place | null;
  readonly height: number | null;
  readonly onGiven?: () => void;
}): JSX.Element {
  const { lat, lon } = target ?? { lat: '', lon: '' };
  const [text, setText] = useState<string | null>(null);
  // It climbs with the vehicle until it is typed, and never sinks with it: that would be a place further down than the one looked at.
  const highest = useRef(0);
  highest.current = Math.max(highest.current, Math.round(height ?? 0));
  const shown = text ?? (height === null ? '' : String(Math.max(1, highest.current)));
  const place = { lat: Number(lat), lon: Number(lon) };
  const up = Number(shown);
  const isPlace =
    [lat, lon].every((each) => each.trim() !== '') && Math.abs(place.lat) <= 90 && Math.abs(place.lon) <= 180;
  const isValid = isPlace && shown.trim() !== '' && Number.isFinite(up);
  return (
    <div class={css['place']}>
      <Field label={t.fly.lat}>
        {(ids) => (
          <input
            {...ids}
            inputMode="decimal"
            value={lat}
            onInput={(event) => onTarget({ lat: event.currentTarget.value, lon })}
          />
        )}
      </Field>
      <Field label={t.fly.lon}>
        {(ids) => (
          <input
            {...ids}
            inputMode="decimal"
            value={lon}
            onInput={(event) => onTarget({ lat, lon: event.currentTarget.value })}
          />
        )}
      </Field>
      <Field label={t.fly.gotoHeight}>
        {(ids) => (
          <input
            {...ids}
            type="number"
            inputMode="decimal"
            value={shown}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
      </Field>
      <HeldOrder
        commands={commands}
        kind="primary"
        icon={Navigation}
        name={t.fly.gotoNow}
        order={{ cmd: 'goto', args: [place.lat, place.lon, up] }}
        why={isValid ? null : t.fly.why.number}
        {...(onGiven === undefined ? {} : { onGiven })}
      />
      <p class="hint">
        {isPlace && from !== null ? t.fly.gotoFar({ metres: number(distance(from, place)) }) : t.fly.gotoHint}
      </p>
    </div>
  );
}

/** What was refused for its distance: the button names the place, as another one may be in the fields by now. */
export function GoFar({
  commands,
  order,
}: {
  readonly commands: Commands;
  readonly order: Order;
}): JSX.Element {
  const [lat = '', lon = ''] = order.args ?? [];
  return (
    <HeldOrder
      commands={commands}
      kind="danger"
      name={t.fly.goFar({ lat: String(lat), lon: String(lon) })}
      order={order}
      holdMs={GRAVE_HOLD_MS}
    />
  );
}
