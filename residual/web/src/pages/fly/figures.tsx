import { useComputed } from '@preact/signals';
import { Navigation } from 'lucide';
import type { JSX } from 'preact';
import { steady } from '../../api/steady.ts';
import { firstItem, fresh, type Group, last, type Telemetry } from '../../api/telemetry.ts';
import { bearing, distance } from '../../map/projection.ts';
import { number, span } from '../../parts/format.ts';
import { Icon, Stat } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import { batteryTones } from '../../vehicle/limits.ts';
import { agoText, astrayText, here, home, placeOf } from '../../vehicle/vehicle-state.ts';
import { batteryLeft } from './battery-left.ts';
import { flightTime, stopwatch } from './flight-time.ts';
import { compass } from './horizon.tsx';
import css from './instruments.module.css';

/** The arrow home turns by so many degrees at a time. */
const ARROW_STEP = 5;

const shown = (value: number | null | undefined, digits = 0): string | null =>
  value === null || value === undefined ? null : number(value, digits);

/** A figure that the vehicle tells, and the part of the telemetry whose age it has: the last stays, pale, with that age. */
interface Read {
  readonly group: Group;
  readonly pick: (body: Telemetry) => string | null;
}
const told = (group: Group, pick: Read['pick']): Read => ({ group, pick });

/** Each is drawn anew only when what it says changes: the vehicle tells ten times a second. */
const read = {
  // Also of a vehicle that has lost its place: its barometer goes on.
  height: told('position', ({ position }) => shown(position.alt_rel, 1)),
  ground: told('velocity', ({ velocity }) => shown(velocity.groundspeed, 1)),
  climb: told('velocity', ({ velocity }) => shown(velocity.climb, 1)),
  percent: told('battery', ({ battery }) => shown(battery.remaining)),
  heading: told('position', ({ position: { heading } }) =>
    typeof heading === 'number' ? `${number(heading)}° ${compass(heading)}` : null,
  ),
  air: told('velocity', ({ velocity }) => shown(velocity.airspeed, 1)),
  wind: told('wind', ({ wind }) => shown(wind?.speed, 1)),
  sea: told('position', ({ position }) => shown(position.alt_msl)),
  current: told('battery', ({ battery }) => shown(battery.current, 1)),
  mission: told('mission', ({ mission }) => {
    if (typeof mission?.current !== 'number' || !mission.total) return null;
    return t.fly.missionItem({ seq: mission.current, last: (firstItem.value ?? 0) + mission.total - 1 });
  }),
  place: told('position', ({ position }) => {
    const place = placeOf(position);
    return place === null ? null : `${place.lat.toFixed(6)}, ${place.lon.toFixed(6)}`;
  }),
} as const satisfies Record<string, Read>;

const volts = steady(() => last(({ battery }) => shown(battery.voltage, 1)));

/** What it says, and for how long it has been old, in words. */
function useRead({ group, pick }: Read): { readonly text: string | null; readonly old: string | null } {
  const text = useComputed(() => last(pick)).value;
  const old = useComputed(() => agoText(group)).value;
  return { text, old: text === null ? null : old };
}

/** The figures that are read while flying, each in a place of its own. */
export function KeyFigures(): JSX.Element {
  return (
    <dl class={css['key-figures']}>
      <Figure label={t.fly.height} unit="m" read={read.height} />
      <Figure label={t.fly.ground} unit="m/s" read={read.ground} />
      <Figure label={t.fly.climb} unit="m/s" read={read.climb} />
      <HomeFigure />
      <Battery />
      <FlightClock />
    </dl>
  );
}

function Figure({
  read: of,
  ...rest
}: Omit<Parameters<typeof Stat>[0], 'value' | 'old'> & { readonly read: Read }): JSX.Element {
  const { text, old } = useRead(of);
  return <Stat {...rest} value={text} old={old} />;
}

/** Made of two places, so of now or not at all. */
function HomeFigure(): JSX.Element {
  return (
    <Stat label={t.fly.home} unit="m" value={homeDistance.value} note={astrayText.value}>
      <HomeArrow />
    </Stat>
  );
}

const homeDistance = steady(() =>
  here.value === null || home.value === null ? null : number(distance(here.value, home.value)),
);

/** Seen from the vehicle's nose: up is ahead. */
const homeTurn = steady(() => {
  const place = here.value;
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

const left = steady(() => (batteryLeft.value === null ? null : Math.floor(batteryLeft.value)));

function Battery(): JSX.Element {
  const tones = batteryTones.value;
  const minutes = left.value === null ? '' : t.fly.batteryLeft({ minutes: left.value });
  return (
    <Figure
      label={t.app.vehicle.batteryLabel}
      unit="%"
      read={read.percent}
      tone={tones.percent}
      note={
        <>
          {volts.value === null ? null : <span class={tones.volts}>{volts.value} V</span>}
          {volts.value === null || minutes === '' ? '' : ' · '}
          {minutes}
        </>
      }
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
        {time?.isSeen === true ? <small class="aside">{t.fly.sinceOpened}</small> : null}
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
  const place = here.value;
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
      <Figure label={t.fly.heading} read={read.heading} />
      <Stat
        label={t.fly.home}
        value={homeDistance.value}
        unit={way === null ? 'm' : `m ${t.fly.homeWay({ bearing: way })}`}
        note={astrayText.value}
      />
      <Figure label={t.fly.air} read={read.air} unit="m/s" />
      <Figure
        label={t.fly.wind}
        read={read.wind}
        unit={from === null ? 'm/s' : `m/s ${t.fly.windFrom({ degrees: from })}`}
      />
      <Figure label={t.fly.heightSea} read={read.sea} unit="m" />
      <Figure label={t.fly.current} read={read.current} unit="A" />
      <Figure label={t.fly.mission} read={read.mission} />
      <Figure label={t.fly.place} read={read.place} />
    </dl>
  );
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
