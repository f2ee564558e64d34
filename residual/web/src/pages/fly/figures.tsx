import type { JSX } from 'preact';
import { flyingSince } from '../../api/flight.ts';
import { now } from '../../api/presence.ts';
import { age, firstItem, fresh, type Group } from '../../api/telemetry.ts';
import { bearing, distance } from '../../map/projection.ts';
import { number, span } from '../../parts/format.ts';
import { Stat } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import css from './fly.module.css';
import { compass } from './horizon.tsx';
import { home, placeOf } from './vehicle-state.ts';

const old = (group: Group): string | null => {
  const seconds = age(group);
  return seconds === null ? null : span(seconds);
};

const shown = (value: number | null, digits = 0): string | null =>
  value === null ? null : number(value, digits);

/** The four figures that are read while flying, over the picture. */
export function KeyFigures(): JSX.Element {
  return (
    <dl class={css['key-figures']}>
      <Stat
        label={t.fly.height}
        value={shown(
          fresh('position', ({ position }) => position.alt_rel),
          1,
        )}
        unit="m"
      />
      <Stat
        label={t.fly.ground}
        value={shown(
          fresh('velocity', ({ velocity }) => velocity.groundspeed),
          1,
        )}
        unit="m/s"
      />
      <Stat
        label={t.fly.climb}
        value={shown(
          fresh('velocity', ({ velocity }) => velocity.climb),
          1,
        )}
        unit="m/s"
      />
      <Stat label={t.fly.home} value={homeDistance()} unit="m" />
    </dl>
  );
}

/** Everything else, beside it. */
export function Figures(): JSX.Element {
  const heading = fresh('position', ({ position }) => position.heading);
  const place = fresh('position', ({ position }) => placeOf(position));
  const mission = fresh('mission', (body) => body.mission);
  const way = place === null || home.value === null ? null : bearing(place, home.value);
  const since = flyingSince.value;
  return (
    <dl class="stats">
      <Stat
        label={t.fly.heading}
        value={heading === null ? null : `${number(heading)}° ${compass(heading)}`}
        age={old('position')}
      />
      <Stat
        label={t.fly.home}
        value={homeDistance()}
        unit={way === null ? 'm' : `m ${t.fly.homeWay(number(way))}`}
      />
      <Stat
        label={t.fly.air}
        value={shown(
          fresh('velocity', ({ velocity }) => velocity.airspeed),
          1,
        )}
        unit="m/s"
      />
      <Stat
        label={t.fly.heightSea}
        value={shown(fresh('position', ({ position }) => position.alt_msl))}
        unit="m"
      />
      <Stat
        label={t.fly.current}
        value={shown(
          fresh('battery', ({ battery }) => battery.current),
          1,
        )}
        unit="A"
      />
      <Stat label={t.fly.flight} value={since === null ? null : span((now.value - since) / 1000)} />
      <Stat
        label={t.fly.mission}
        value={
          typeof mission?.current !== 'number' || !mission.total
            ? null
            : t.fly.missionItem(mission.current, (firstItem.value ?? 0) + mission.total - 1)
        }
      />
      <Stat
        label={t.fly.place}
        value={place === null ? null : `${place.lat.toFixed(6)}, ${place.lon.toFixed(6)}`}
        age={old('position')}
      />
    </dl>
  );
}

function homeDistance(): string | null {
  const place = fresh('position', ({ position }) => placeOf(position));
  return place === null || home.value === null ? null : number(distance(place, home.value));
}
