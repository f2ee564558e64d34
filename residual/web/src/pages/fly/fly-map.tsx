import { effect, signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { call, Refused } from '../../api/client.ts';
import { forgetTrack, track } from '../../api/flight.ts';
import { may } from '../../api/node.ts';
import { relayed } from '../../api/relay.ts';
import { fresh, newest } from '../../api/telemetry.ts';
import { useBase } from '../../map/base.tsx';
import { Circle, Line, Marker, Vehicle } from '../../map/layers.tsx';
import { Map } from '../../map/map.tsx';
import { type Place, type View, viewOf } from '../../map/projection.ts';
import { Button } from '../../parts/parts.tsx';
import { t } from '../../strings.ts';
import css from './fly.module.css';
import { home, type Item, itemPlace, itemsOf, lastPlace, placeOf } from './vehicle-state.ts';

/** Where the vehicle is to go, as it was tapped or typed; null: nowhere yet. */
export const target = signal<{ readonly lat: string; readonly lon: string } | null>(null);

const START_ZOOM = 17;
const NOWHERE: View = { lat: 25, lon: 10, zoom: 1.5 };
// MAV_CMD of a fence's parts.
const FENCE = { polygonIn: 5001, polygonOut: 5002, circleIn: 5003, circleOut: 5004 } as const;

// Kept when another page is shown in between.
const view = signal<View | null>(null);
const following = signal(true);

// Another vehicle is somewhere else.
effect(() => {
  void relayed.value;
  target.value = null;
  view.value = null;
  following.value = true;
});

/** Vehicle, track, home, mission, fence and other aircraft. @param large a tap on it is a place to go to */
export function FlyMap({ large }: { readonly large: boolean }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const { base, choice, start } = useBase();
  const place = lastPlace.value;
  const isFresh = fresh('position', ({ position }) => position.lat) !== null;
  const shown: View =
    place !== null && following.value
      ? { ...place, zoom: view.value?.zoom ?? START_ZOOM }
      : (view.value ?? start ?? NOWHERE);
  const showAll = (): void => {
    const { clientWidth: width = 300, clientHeight: height = 300 } = box.current ?? {};
    const all = [place, home.value, ...mission.places, ...fence.flatMap(({ places }) => places)].filter(
      (each) => each !== null,
    );
    const next = viewOf(all, width, height);
    if (next === null) return;
    following.value = false;
    view.value = next;
  };
  const lists = useLists();
  const mission = missionOf(lists.mission);
  const fence = zonesOf(lists.fence);
  const traffic = fresh('traffic', (body) => body.traffic?.vehicles) ?? [];
  const aim = target.value === null ? null : { lat: Number(target.value.lat), lon: Number(target.value.lon) };
  return (
    <div class={css['fly-map']} ref={box}>
      <Map
        label={t.fly.map}
        view={shown}
        onView={(next) => {
          // The wheel over a followed vehicle changes how near one is, a drag stops following.
          const moved = Math.abs(next.lat - shown.lat) + Math.abs(next.lon - shown.lon) > 1e-9;
          if (moved && next.zoom === shown.zoom) following.value = false;
          view.value = next;
        }}
        {...(large
          ? {
              onPick: ({ lat, lon }: Place) => {
                target.value = { lat: lat.toFixed(7), lon: lon.toFixed(7) };
              },
            }
          : {})}
        base={base}
      >
        {fence.map(({ key, places, radius, kind }) =>
          radius === null ? (
            <Line key={key} places={places} kind={kind} closed />
          ) : (
            places.map((centre) => <Circle key={key} centre={centre} radius={radius} kind={kind} />)
          ),
        )}
        <Line places={mission.places} kind="planned" />
        <Line places={track.value} kind="track" />
        {mission.points.map(({ seq, place: at }) => (
          <Marker key={seq} at={at} text={String(seq)} kind="waypoint" chosen={seq === mission.current} />
        ))}
        {home.value === null ? null : <Marker at={home.value} text="H" kind="home" />}
        {traffic.map((aircraft) => {
          const at = placeOf(aircraft);
          return at === null ? null : <Marker key={aircraft.icao} at={at} text="✈" kind="traffic" />;
        })}
        {aim !== null && Number.isFinite(aim.lat) && Number.isFinite(aim.lon) ? (
          <Marker at={aim} text="+" kind="target" />
        ) : null}
        {place === null ? null : (
          <Vehicle
            at={place}
            heading={fresh('position', ({ position }) => position.heading)}
            old={!isFresh}
          />
        )}
      </Map>
      {large ? (
        <div class={css['map-tools']}>
          <Button
            aria-pressed={following.value}
            onClick={() => {
              if (following.value && place !== null) view.value = { ...shown };
              following.value = !following.value;
            }}
          >
            {t.fly.follow}
          </Button>
          <Button onClick={showAll}>{t.fly.showAll}</Button>
          <Button onClick={forgetTrack}>{t.fly.clearTrack}</Button>
          {choice}
        </div>
      ) : null}
    </div>
  );
}

interface MissionShown {
  readonly points: readonly { readonly seq: number; readonly place: Place }[];
  readonly places: readonly Place[];
  readonly current: number | null;
}

const TRIES = 5;
const AGAIN_MS = 2000;

/** The lists that the vehicle holds, one after the other: it can send but one. Again when it says that it holds another number. */
function useLists(): { readonly mission: readonly Item[]; readonly fence: readonly Item[] } {
  const [lists, setLists] = useState<{ mission: readonly Item[]; fence: readonly Item[] }>({
    mission: [],
    fence: [],
  });
  const total = newest.value?.mission?.total ?? null;
  useEffect(() => {
    const stopper = new AbortController();
    const read = async (id: 'mission.get' | 'fence.get', member: 'mission' | 'fence'): Promise<void> => {
      for (let attempt = 0; attempt < TRIES && may(id) && !stopper.signal.aborted; attempt++) {
        try {
          const items = itemsOf(await call(id, { signal: stopper.signal }));
          setLists((held) => ({ ...held, [member]: items }));
          return;
        } catch (error) {
          if (!(error instanceof Refused) || error.code !== 'E_BUSY') return; // the map shows what it has
          await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
        }
      }
    };
    if (total !== null) void read('mission.get', 'mission').then(async () => read('fence.get', 'fence'));
    return () => stopper.abort();
  }, [total]);
  return lists;
}

function missionOf(items: readonly Item[]): MissionShown {
  const points = items.flatMap((item) => {
    const place = itemPlace(item);
    return place === null ? [] : [{ seq: item.seq, place }];
  });
  const current = fresh('mission', (body) => body.mission?.current);
  return { points, places: points.map(({ place }) => place), current };
}

interface Zone {
  readonly key: string;
  /** Of a circle its middle. */
  readonly places: readonly Place[];
  /** m; null: a polygon. */
  readonly radius: number | null;
  readonly kind: string;
}

function zonesOf(items: readonly Item[]): readonly Zone[] {
  const zones: Zone[] = [];
  for (let at = 0; at < items.length; ) {
    const item = items[at];
    if (item === undefined) break;
    const { command, param1 } = item;
    const kind = command === FENCE.polygonIn || command === FENCE.circleIn ? 'fence' : 'fence out';
    const isPolygon = command === FENCE.polygonIn || command === FENCE.polygonOut;
    const isCircle = command === FENCE.circleIn || command === FENCE.circleOut;
    const count = isPolygon ? Math.max(1, param1 ?? 1) : 1;
    const places = items.slice(at, at + count).map(({ x, y }) => ({ lat: x, lon: y }));
    if (isPolygon || isCircle)
      zones.push({ key: `${at}`, places, radius: isCircle ? (param1 ?? 0) : null, kind });
    at += count;
  }
  return zones;
}
