import type { JSX } from 'preact';
import { steady } from '../../../api/steady.ts';
import { fresh } from '../../../api/telemetry.ts';
import { isShown } from '../../../map/choices.ts';
import { useProjection } from '../../../map/context.ts';
import { Circle, Line, Marker } from '../../../map/layers.tsx';
import type { Place } from '../../../map/projection.ts';
import { withRoom } from '../../../map/room.ts';
import { home, type Item, itemPlace } from '../../../vehicle/vehicle-state.ts';

/** What the vehicle is to do and where it may be: mission with its progress, fence, rally points. */

/** Where items are that have a place, with their numbers. */
export function pointsOf(items: readonly Item[]): readonly { readonly seq: number; readonly place: Place }[] {
  return items.flatMap((item) => {
    const place = itemPlace(item);
    return place === null ? [] : [{ seq: item.seq, place }];
  });
}

const progress = steady(() => fresh('mission', (body) => body.mission));

export function MissionLayer({ items }: { readonly items: readonly Item[] }): JSX.Element | null {
  const mission = progress.value;
  const projection = useProjection();
  if (!isShown('mission')) return null;
  const points = pointsOf(items);
  const room = withRoom(projection, numberedFirst(points));
  const active = mission?.state === 'active' || mission?.state === 'paused' || mission?.state === 'complete';
  const current = mission?.state === 'complete' ? Number.POSITIVE_INFINITY : (mission?.current ?? null);
  const next = current === null ? -1 : points.findIndex(({ seq }) => seq >= current);
  const split = !active || current === null ? 0 : next === -1 ? points.length : next;
  const places = points.map(({ place }) => place);
  return (
    <>
      {split > 1 ? <Line places={places.slice(0, split)} kind="planned flown" /> : null}
      <Line places={places.slice(Math.max(0, split - (active ? 0 : 1)))} kind="planned" />
      {active && split > 0 && split < places.length ? (
        <Line places={places.slice(split - 1, split + 1)} kind="planned current" />
      ) : null}
      {points.map(({ seq, place }, at) => (
        <Marker
          key={seq}
          at={place}
          text={room.has(place) ? String(seq) : ''}
          kind={active && at < split ? 'waypoint flown' : 'waypoint'}
          chosen={seq === current}
        />
      ))}
    </>
  );
}

/** Home and the items of the mission, those first whose number matters most: the one that is flown now, then its ends. */
function numberedFirst(points: ReturnType<typeof pointsOf>): readonly Place[] {
  const now = points.find(({ seq }) => seq === progress.value?.current);
  const first = [now, points[0], points.at(-1), ...points].flatMap((point) => point?.place ?? []);
  return [...(home.value === null ? [] : [home.value]), ...new Set(first)];
}

/** @param mission whose numbers it leaves free */
export function RallyLayer({
  items,
  mission,
}: {
  readonly items: readonly Item[];
  readonly mission: readonly Item[];
}): JSX.Element | null {
  const projection = useProjection();
  if (!isShown('rally')) return null;
  const points = items.map(({ seq, x, y }) => ({ seq, place: { lat: x, lon: y } }));
  const before = numberedFirst(isShown('mission') ? pointsOf(mission) : []);
  const room = withRoom(projection, [...before, ...points.map(({ place }) => place)]);
  return (
    <>
      {points.map(({ seq, place }) => (
        <Marker key={seq} at={place} text={room.has(place) ? `R${seq}` : ''} kind="rally" />
      ))}
    </>
  );
}

export function HomeLayer(): JSX.Element | null {
  return home.value === null ? null : <Marker at={home.value} text="H" kind="home" />;
}

export function FenceLayer({ zones }: { readonly zones: readonly Zone[] }): JSX.Element | null {
  if (!isShown('fence')) return null;
  return (
    <>
      {zones.map(({ key, places, radius, kind }) =>
        radius === null ? (
          <Line key={key} places={places} kind={kind} closed />
        ) : (
          places.map((centre) => <Circle key={key} centre={centre} radius={radius} kind={kind} />)
        ),
      )}
    </>
  );
}

// MAV_CMD of a fence's parts.
const FENCE = { polygonIn: 5001, polygonOut: 5002, circleIn: 5003, circleOut: 5004 } as const;

interface Zone {
  readonly key: string;
  /** Of a circle its middle. */
  readonly places: readonly Place[];
  /** m; null: a polygon. */
  readonly radius: number | null;
  readonly kind: string;
}

export function zonesOf(items: readonly Item[]): readonly Zone[] {
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
