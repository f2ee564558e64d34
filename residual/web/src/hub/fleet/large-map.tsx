import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Attention, Phase } from '../../../../../shared/fleet/node-state.ts';
import { useProjection } from '../../map/context.ts';
import { type Place, type Projection, type View, worldOf } from '../../map/projection.ts';
import { useHub } from '../use-hub.ts';
import { figuresOf, nodes } from './fleet.ts';
import { FleetMap } from './fleet-map.tsx';
import { queryOf } from './found.ts';
import { kindOf, Many, One, type Placed, placedOf, shortName } from './marks.tsx';
import { chosen, type Selection, selection } from './selection.ts';
import { useLooked } from './watch-fleet.ts';

/** Nodes of one place on the map, as the hub counts them. */
interface Cell extends Place {
  readonly count: number;
  readonly attention: number;
  /** West, south, east, north. */
  readonly bounds: readonly [number, number, number, number];
  /** The only one there. */
  readonly node: {
    readonly id: string;
    readonly name: string;
    readonly heading: number | null;
    readonly phase: Phase;
    readonly attention: Attention | null;
    readonly fresh: boolean;
  } | null;
}

interface Clusters {
  readonly total: number;
  readonly placed: number;
  readonly cells: readonly Cell[];
}

const ALL_MS = 10_000;
const SEEN_MS = 3000;
/** While the map is moved. */
const SETTLE_MS = 120;
/** Told of by the second; more are as old as the cells. */
const MOST_FOLLOWED = 100;
const MOST_NAMES = 40;
/** What is asked for is larger than what is seen by this part on each side. */
const AROUND = 0.25;
/** Enough cells of the whole world to know where they lie. */
const ALL_ZOOM = 3;

/** The map of a fleet that the hub counts, cell by cell. */
export function LargeMap(): JSX.Element {
  const wanted = selection.value;
  const { data } = useHub<Clusters>(pathOf(wanted, ALL_ZOOM, null), ALL_MS);
  const extent = useMemo(() => cornersOf(data?.cells ?? []), [data]);
  const entry = nodes.value?.find((node) => node.entry.id === chosen.value)?.entry;
  return (
    <FleetMap
      extent={extent}
      told={entry === undefined ? null : figuresOf(entry).place}
      placed={data?.placed ?? 0}
      total={data?.total ?? 0}
    >
      {(live, onView) => <Cells wanted={wanted} live={live} onView={onView} />}
    </FleetMap>
  );
}

function Cells({
  wanted,
  live,
  onView,
}: {
  readonly wanted: Selection;
  readonly live: Place | null;
  readonly onView: (view: View) => void;
}): JSX.Element {
  const projection = useProjection();
  const path = useSettled(pathOf(wanted, projection.view.zoom, boxOf(projection)));
  const { data } = useHub<Clusters>(path, SEEN_MS);
  const cells = data?.cells ?? [];
  const singles = cells.flatMap(({ node }) => (node === null ? [] : [node.id]));
  useLooked(singles.length > MOST_FOLLOWED ? [] : singles);
  const now = new Map(nodes.value?.map((node) => [node.entry.id, node.entry]));
  const id = chosen.value;
  const known = id === null ? undefined : now.get(id);
  // The one that is looked at is not lost among others.
  const own = known === undefined ? null : placedOf(known);
  return (
    <>
      {cells.map((cell) => {
        if (cell.node === null)
          return (
            <Many
              key={`${cell.bounds.join(' ')} ${cell.count}`}
              at={cell}
              count={cell.count}
              matters={cell.attention > 0}
              onView={onView}
            />
          );
        if (cell.node.id === own?.id) return null;
        const entry = now.get(cell.node.id);
        const node = (entry === undefined ? null : placedOf(entry)) ?? placedIn(cell, cell.node);
        return <One key={node.id} node={node} at={node.place} isNamed={cells.length <= MOST_NAMES} />;
      })}
      {own === null ? null : <One key={own.id} node={own} at={live ?? own.place} isNamed />}
    </>
  );
}

function placedIn(
  { lat, lon }: Place,
  { id, name, heading, phase, attention, fresh }: NonNullable<Cell['node']>,
): Placed {
  const matters = attention !== null;
  return {
    id,
    name: shortName(name === '' ? id : name),
    place: { lat, lon, heading },
    kind: kindOf(matters, phase),
    old: !fresh,
    matters,
  };
}

function pathOf(wanted: Selection, zoom: number, box: string | null): string {
  const query = { ...queryOf(wanted), zoom: Math.max(0, Math.min(22, Math.round(zoom))), bbox: box };
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]])),
  );
  return `/v1/nodes/clusters?${search.toString()}`;
}

/** What is seen, however it is turned, with something around it; null: all of the world. In steps, so that a small move asks for nothing new. */
function boxOf({ view, width, height, worldPx, bearing }: Projection): string | null {
  const turned = bearing === 0 ? null : Math.hypot(width, height);
  const [across, down] = [turned ?? width, turned ?? height].map((px) => (px * (1 + 2 * AROUND)) / worldPx);
  if (across === undefined || down === undefined || across >= 1) return null;
  const middle = worldOf(view);
  const step = across * AROUND * 0.5;
  const snap = (value: number): number => Math.round(value / step) * step;
  const [x, y] = [snap(middle.x), snap(middle.y)];
  const north = latOf(Math.max(0, y - down / 2));
  const south = latOf(Math.min(1, y + down / 2));
  const [west, east] = [x - across / 2, x + across / 2].map((at) =>
    ((((at % 1) + 1) % 1) * 360 - 180).toFixed(6),
  );
  return `${west},${south.toFixed(6)},${east},${north.toFixed(6)}`;
}

function latOf(y: number): number {
  return (Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180) / Math.PI;
}

/** Corners of what the cells have; of a world full of them every cell has some. */
function cornersOf(cells: readonly Cell[]): readonly Place[] {
  return cells.flatMap(({ bounds: [west, south, east, north] }) => [
    { lat: south, lon: west },
    { lat: north, lon: east },
  ]);
}

/** What a value is once it has not changed for a moment. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
