import { useComputed } from '@preact/signals';
import { Navigation } from 'lucide';
import type { ComponentChildren, JSX } from 'preact';
import { steady } from '../../api/steady.ts';
import { age, firstItem, fresh, type Group } from '../../api/telemetry.ts';
import { bearing, distance } from '../../map/projection.ts';
import { number, span } from '../../parts/format.ts';
import { Icon, Stat } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { home, placeOf } from '../../vehicle/vehicle-state.ts';
import { batteryLeft } from './battery-left.ts';
import { flightTime, stopwatch } from './flight-time.ts';
import { compass } from './horizon.tsx';
import css from './instruments.module.css';

const LOW = 30;
const EMPTY = 15;
/** The arrow home turns by so many degrees at a time. */
const ARROW_STEP = 5;

const shown = (value: number | null, digits = 0): string | null =>
  value === null ? null : number(value, digits);

/** Each is drawn anew only when what it says changes: the vehicle tells ten times a second. */
const read = {
  height: () =>
    shown(
      fresh('position', ({ position }) => position.alt_rel),
      1,
    ),
  ground: () =>
    shown(
      fresh('velocity', ({ velocity }) => velocity.groundspeed),
      1,
    ),
  climb: () =>
    shown(
      fresh('velocity', ({ velocity }) => velocity.climb),
      1,
    ),
  home: () => homeDistance(),
  percent: () => shown(fresh('battery', ({ battery }) => battery.remaining)),
  volts: () =>
    shown(
      fresh('battery', ({ battery }) => battery.voltage),
      1,
    ),
  heading: () => {
    const heading = fresh('position', ({ position }) => position.heading);
    return heading === null ? null : `${number(heading)}° ${compass(heading)}`;
  },
  air: () =>
    shown(
      fresh('velocity', ({ velocity }) => velocity.airspeed),
      1,
    ),
  wind: () =>
    shown(
      fresh('wind', ({ wind }) => wind?.speed),
      1,
    ),
  sea: () => shown(fresh('position', ({ position }) => position.alt_msl)),
  current: () =>
    shown(
      fresh('battery', ({ battery }) => battery.current),
      1,
    ),
  mission: () => {
    const mission = fresh('mission', (body) => body.mission);
    if (typeof mission?.current !== 'number' || !mission.total) return null;
    return t.fly.missionItem({ seq: mission.current, last: (firstItem.value ?? 0) + mission.total - 1 });
  },
  place: () => {
    const place = fresh('position', ({ position }) => placeOf(position));
    return place === null ? null : `${place.lat.toFixed(6)}, ${place.lon.toFixed(6)}`;
  },
} as const satisfies Record<string, () => string | null>;

/** The figures that are read while flying, each in a place of its own. */
export function KeyFigures(): JSX.Element {
  return (
    <dl class={css['key-figures']}>
      <Figure label={t.fly.height} unit="m" read={read.height} />
      <Figure label={t.fly.ground} unit="m/s" read={read.ground} />
      <Figure label={t.fly.climb} unit="m/s" read={read.climb} />
      <Figure label={t.fly.home} unit="m" read={read.home}>
        <HomeArrow />
      </Figure>
      <Battery />
      <FlightClock />
    </dl>
  );
}

function Figure({
  label,
  unit,
  read: value,
  tone = '',
  note = null,
  children,
}: {
  readonly label: string;
  readonly unit: string;
  readonly read: () => string | null;
  readonly tone?: string;
  readonly note?: string | null;
  readonly children?: ComponentChildren;
}): JSX.Element {
  const text = useComputed(value).value;
  return (
    <div class={`stat ${text === null ? 'stale' : tone}`}>
      <dt>{label}</dt>
      <dd>
        {text ?? t.app.none}
        {text === null ? null : <small> {unit}</small>}
        {children}
        {note === null ? null : <small class={css['note']}>{note}</small>}
      </dd>
    </div>
  );
}

/** Seen from the vehicle's nose: up is ahead. */
const homeTurn = steady(() => {
  const place = fresh('position', ({ position }) => placeOf(position));
  const heading = fresh('position', ({ position }) => position.heading);
  if (place === null || home.value === null || heading === null) return null;
  if (distance(place, home.value) < 2) return null;
  return Math.round((bearing(place, home.value) - heading) / ARROW_STEP) * ARROW_STEP;
});

function HomeArrow(): JSX.Element | null {
  const turn = homeTurn.value;
  return turn === null ? null : (
    <span class={css['arrow']} style={{ '--turn': `${turn - 45}deg` }}>
      <Icon of={Navigation} />
    </span>
  );
}

const batteryTone = steady(() => {
  const { remaining, state } = fresh('battery', ({ battery }) => battery) ?? {};
  if (state === 'critical' || state === 'emergency' || state === 'failed') return 'bad';
  if (typeof remaining === 'number') return remaining < EMPTY ? 'bad' : remaining < LOW ? 'warn' : '';
  return state === 'low' ? 'warn' : '';
});

const left = steady(() => (batteryLeft.value === null ? null : Math.floor(batteryLeft.value)));

function Battery(): JSX.Element {
  const volts = useComputed(read.volts).value;
  const notes = [
    volts === null ? '' : `${volts} V`,
    left.value === null ? '' : t.fly.batteryLeft({ minutes: left.value }),
  ].filter((each) => each !== '');
  return (
    <Figure
      label={t.app.vehicle.batteryLabel}
      unit="%"
      read={read.percent}
      tone={batteryTone.value}
      note={notes.length === 0 ? null : notes.join(' · ')}
    />
  );
}

function FlightClock(): JSX.Element {
  const time = flightTime.value;
  return (
    <div class={`stat ${time === null ? 'stale' : ''}`}>
      <dt>{t.fly.flight}</dt>
      <dd>
        {time === null ? t.app.none : stopwatch(time.seconds)}
        {time?.isSeen === true ? <small class={css['note']}>{t.fly.sinceOpened}</small> : null}
      </dd>
    </div>
  );
}

const progress = steady(() => {
  const { current, total, state } = fresh('mission', (body) => body.mission) ?? {};
  if (typeof current !== 'number' || !total || (state !== 'active' && state !== 'paused')) return null;
  const first = firstItem.value ?? 0;
  // By the vehicle's own numbers, as on the map, in its messages and in the plan.
  return {
    at: current,
    last: first + total - 1,
    flown: Math.max(0, current - first),
    of: total,
    state,
  } as const;
});

/** How far the mission has come; nothing while none is flown. */
export function MissionProgress(): JSX.Element | null {
  const now = progress.value;
  if (now === null || now.of < 2) return null;
  return (
    <div class={css['mission']}>
      <span>{t.fly.missionProgress({ at: now.at, of: now.last, paused: now.state === 'paused' })}</span>
      <progress max={now.of} value={Math.min(now.of, now.flown)} aria-label={t.fly.missionTitle} />
    </div>
  );
}

const wayHome = steady(() => {
  const place = fresh('position', ({ position }) => placeOf(position));
  return place === null || home.value === null ? null : number(bearing(place, home.value));
});

const windFrom = steady(() => {
  const from = fresh('wind', ({ wind }) => wind?.direction);
  return from === null ? null : number(from);
});

/** Everything else, on demand. */
export function AllFigures(): JSX.Element {
  const way = wayHome.value;
  const from = windFrom.value;
  return (
    <dl class="stats">
      <Detail label={t.fly.heading} read={read.heading} group="position" />
      <Detail
        label={t.fly.home}
        read={read.home}
        unit={way === null ? 'm' : `m ${t.fly.homeWay({ bearing: way })}`}
      />
      <Detail label={t.fly.air} read={read.air} unit="m/s" />
      <Detail
        label={t.fly.wind}
        read={read.wind}
        unit={from === null ? 'm/s' : `m/s ${t.fly.windFrom({ degrees: from })}`}
      />
      <Detail label={t.fly.heightSea} read={read.sea} unit="m" />
      <Detail label={t.fly.current} read={read.current} unit="A" />
      <Detail label={t.fly.mission} read={read.mission} />
      <Detail label={t.fly.place} read={read.place} group="position" />
    </dl>
  );
}

function Detail({
  label,
  read: value,
  unit = '',
  group,
}: {
  readonly label: string;
  readonly read: () => string | null;
  readonly unit?: string;
  /** Whose age is told where there is no value of now. */
  readonly group?: Group;
}): JSX.Element {
  const text = useComputed(value).value;
  const seconds = useComputed(() => (text !== null || group === undefined ? null : age(group))).value;
  return <Stat label={label} value={text} unit={unit} age={seconds === null ? null : span(seconds)} />;
}

const traffic = steady(() => fresh('traffic', (body) => body.traffic?.vehicles) ?? []);

/** Other aircraft that the vehicle hears, beside the map that shows them. */
export function Traffic(): JSX.Element | null {
  const vehicles = traffic.value;
  if (vehicles.length === 0) return null;
  const { name, distance: far, height, age: heard } = t.fly.trafficColumns;
  return (
    <section>
      <h3>{t.fly.traffic}</h3>
      <div class="scroll" tabIndex={0} role="group" aria-label={t.fly.traffic}>
        <table>
          <thead>
            <tr>
              <th>{name}</th>
              <th class="number">{far}</th>
              <th class="number">{height}</th>
              <th class="number">{heard}</th>
            </tr>
          </thead>
          <tbody>
            {vehicles.map((aircraft) => (
              <tr key={aircraft.icao}>
                <td>{aircraft.callsign ?? aircraft.icao}</td>
                <td class="number">{number(aircraft.distance_m)} m</td>
                <td class="number">{number(aircraft.alt_m)} m</td>
                <td class="number">{span(aircraft.age_s)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function homeDistance(): string | null {
  const place = fresh('position', ({ position }) => placeOf(position));
  return place === null || home.value === null ? null : number(distance(place, home.value));
}
