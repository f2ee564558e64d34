import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { NodeEntry } from '../../../../../shared/fleet/hub-api.ts';
import { seenIn } from '../../../../../shared/flight/seen.ts';
import { now as clock } from '../../api/presence.ts';
import { distance } from '../../map/projection.ts';
import { number } from '../../parts/format.ts';
import { Button, Card, ErrorNote, Field, HoldButton, Note } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import css from '../hub.module.css';
import { hub } from '../words.ts';
import { type Facts, readiness } from './facts.ts';
import { liveOf } from './live.ts';
import { ALWAYS, type Order, type Orders, useOrders, whyNone, whyNot } from './orders.ts';

const TAKEOFF_M = 10;
const STOP_HOLD_MS = 400;

/** Where the vehicle is to go, as it was tapped or typed; null: nowhere yet. */
export const target = signal<{ readonly lat: string; readonly lon: string } | null>(null);

/** What a person here can tell the vehicle of a node to do. */
export function Commands({
  entry,
  facts,
}: {
  readonly entry: NodeEntry;
  readonly facts: Facts;
}): JSX.Element {
  void clock.value;
  const orders = useOrders(entry);
  const { running, outcome } = orders;
  const { body } = liveOf(entry.id);
  const { armed } = seenIn(body);
  const none = whyNone(entry, facts);
  const held = { orders, facts, live: body, none };
  useEffect(() => {
    target.value = null;
  }, [entry.id]);
  return (
    <Card title={t.fly.actions}>
      {none === null ? null : <Note tone="warn">{none}</Note>}
      <ErrorNote error={facts.error} onRetry={facts.reload} />
      <div class={css['orders']}>
        {armed === true ? (
          <HeldOrder {...held} name={t.fly.disarm} order={{ cmd: 'disarm' }} />
        ) : (
          <HeldOrder {...held} name={t.fly.arm} order={{ cmd: 'arm' }} />
        )}
        <HeldOrder {...held} name={t.fly.land} order={{ cmd: 'land' }} />
        <HeldOrder {...held} name={t.fly.rtl} order={{ cmd: 'rtl' }} />
        <HeldOrder {...held} name={t.fly.stop} order={{ cmd: 'stop' }} kind="primary" holdMs={STOP_HOLD_MS} />
      </div>
      <Arming {...held} />
      <Takeoff {...held} />
      <GoThere {...held} />
      <div class="outcome" role={outcome?.tone === 'bad' ? 'alert' : 'status'}>
        {running !== null ? (
          <p class="note info">{t.fly.sending(running)}</p>
        ) : outcome === null ? (
          <p class="hint">{hub.fly.hold}</p>
        ) : (
          <p class={`note ${outcome.tone}`}>{outcome.text}</p>
        )}
      </div>
      <p class="hint">
        {facts.listedAs === null || facts.listedAs === undefined ? null : `${hub.fly.signs(facts.listedAs)} `}
        <Button onClick={facts.reload}>{hub.fly.again}</Button>
      </p>
    </Card>
  );
}

interface Held {
  readonly orders: Orders;
  readonly facts: Facts;
  readonly live: ReturnType<typeof liveOf>['body'];
  /** What stands between this person and every command. */
  readonly none: string | null;
}

/** A command that is given by holding its button: the operator's key signs it then, and not before. */
function HeldOrder({
  orders: { give, ready, running },
  facts,
  live,
  none,
  name,
  order,
  before = [],
  kind = 'plain',
  holdMs,
  why = null,
}: Held & {
  readonly name: string;
  readonly order: Order;
  /** What must be done first. */
  readonly before?: readonly Order[];
  readonly kind?: 'plain' | 'primary';
  readonly holdMs?: number;
  readonly why?: string | null;
}): JSX.Element {
  return (
    <HoldButton
      kind={kind}
      busy={running !== null && !ALWAYS.has(order.cmd)}
      // What is in the way of all stands above them, once.
      why={none === null ? (whyNot(order.cmd, facts, live) ?? why) : ''}
      {...(holdMs === undefined ? {} : { holdMs })}
      onBegin={ready}
      onConfirm={() => give(name, ...before, order)}
    >
      {name}
    </HoldButton>
  );
}

/** Modes in which it would arm; a vehicle that is not armed does not move by them. */
function Arming(held: Held): JSX.Element | null {
  const help = seenIn(held.live).armed === false ? (readiness(held.facts)?.help ?? []) : [];
  if (help.length === 0) return null;
  return (
    <div class={css['orders']}>
      {help.map(({ cmd, args }) => (
        <HeldOrder key={args.join()} {...held} name={t.fly.switchTo(args.join(' '))} order={{ cmd, args }} />
      ))}
    </div>
  );
}

function Takeoff(held: Held): JSX.Element {
  const [text, setText] = useState(String(TAKEOFF_M));
  const height = Number(text);
  const valid = text.trim() !== '' && height >= 1 && height <= 500;
  const arms = seenIn(held.live).armed === false;
  return (
    <div class={css['pair']}>
      <Field label={t.fly.takeoffHeight}>
        {(ids) => (
          <input
            {...ids}
            type="number"
            inputMode="decimal"
            min={1}
            max={500}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
      </Field>
      <HeldOrder
        {...held}
        kind="primary"
        name={t.fly.takeoffNow(valid ? number(height) : t.app.none, arms)}
        order={{ cmd: 'takeoff', args: [height] }}
        before={arms ? [{ cmd: 'arm' }] : []}
        why={valid ? null : t.fly.why.number}
      />
    </div>
  );
}

/** To a place that was tapped on the map or is typed in. */
function GoThere(held: Held): JSX.Element {
  const { lat, lon } = target.value ?? { lat: '', lon: '' };
  const { place: at, altitude } = seenIn(held.live);
  const [text, setText] = useState<string | null>(null);
  const shown = text ?? (altitude === null ? '' : String(Math.max(1, Math.round(altitude))));
  const height = Number(shown);
  const place = { lat: Number(lat), lon: Number(lon) };
  const valid =
    [lat, lon, shown].every((each) => each.trim() !== '') &&
    [place.lat, place.lon, height].every(Number.isFinite) &&
    Math.abs(place.lat) <= 90 &&
    Math.abs(place.lon) <= 180;
  const change = (next: { lat?: string; lon?: string }): void => {
    target.value = { lat, lon, ...next };
  };
  return (
    <details {...(target.value === null ? {} : { open: true })}>
      <summary>{t.fly.goto}</summary>
      <p class="hint">{hub.fly.tap}</p>
      <div class={css['pair']}>
        <Field label={t.fly.lat}>
          {(ids) => (
            <input
              {...ids}
              inputMode="decimal"
              value={lat}
              onInput={(e) => change({ lat: e.currentTarget.value })}
            />
          )}
        </Field>
        <Field label={t.fly.lon}>
          {(ids) => (
            <input
              {...ids}
              inputMode="decimal"
              value={lon}
              onInput={(e) => change({ lon: e.currentTarget.value })}
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
      </div>
      {valid && at !== null ? <p class="hint">{t.fly.gotoFar(number(distance(at, place)))}</p> : null}
      <HeldOrder
        {...held}
        kind="primary"
        name={t.fly.gotoNow}
        order={{ cmd: 'goto', args: [place.lat, place.lon, height] }}
        why={valid ? null : t.fly.why.number}
      />
    </details>
  );
}
