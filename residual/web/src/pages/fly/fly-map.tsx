import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { forgetTrack, track } from '../../api/flight.ts';
import { fresh, newest } from '../../api/telemetry.ts';
import { useBase } from '../../map/base.tsx';
import { Circle, Line, Marker, Vehicle } from '../../map/layers.tsx';
import { Map } from '../../map/map.tsx';
import { type Place, type View, viewOf } from '../../map/projection.ts';
import { Button } from '../../parts/parts.tsx';
import { useAsk } from '../../parts/use-ask.ts';
import { t } from '../../strings.ts';
import { home, itemPlace, itemsOf, lastPlace, placeOf } from './vehicle-state.ts';

/** Where the vehicle is to go, as it was tapped or typed; null: nowhere yet. */
export const target = signal<{ readonly lat: string; readonly lon: string } | null>(null);

const START_ZOOM = 17;
const NOWHERE: View = { lat: 25, lon: 10, zoom: 1.5 };
// MAV_CMD of a fence's parts.
const FENCE = { polygonIn: 5001, polygonOut: 5002, circleIn: 5003, circleOut: 5004 } as const;

// Kept when another page is shown in between.
const view = signal<View | null>(null);
const following = signal(true);

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
  const mission = useMission();
  const fence = useFence();
  const traffic = fresh('traffic', (body) => body.traffic?.vehicles) ?? [];
  const aim = target.value === null ? null : { lat: Number(target.value.lat), lon: Number(target.value.lon) };
  return (
    <div class="fly-map" ref={box}>
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
          <Marker key={seq} at={at} text={String(seq + 1)} kind="waypoint" chosen={seq === mission.current} />
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
        <div class="map-tools">
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

/** Asked again when the vehicle says that it holds another number of items. */
function useMission(): MissionShown {
  const { data, reload } = useAsk('mission.get');
  const total = newest.value?.mission?.total ?? null;
  useEffect(() => {
    if (total !== null) reload();
  }, [total]);
  const points = itemsOf(data).flatMap((item) => {
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

function useFence(): readonly Zone[] {
  const { data } = useAsk('fence.get');
  const items = itemsOf(data);
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
