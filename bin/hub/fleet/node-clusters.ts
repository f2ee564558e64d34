import {
  attentionOf,
  isPresent,
  phaseOf,
  type StatusFacts,
  toldSince,
} from '../../../shared/fleet/node-state.ts';
import type { ClustersQuery } from '../../../shared/hub-api/schemas.ts';
import { type Findable, type Mercator, selector } from './node-query.ts';

/** What the map shows of all nodes: counted cell by cell, in one pass. */

/** Cells of the map, px at the zoom that was asked for, of a world of 512 px at zoom 0. */
const CELL_PX = 64;
const WORLD_PX = 512;
/** Of one answer: more are drawn together until they fit. */
const MAX_CELLS = 600;
/** Above every number of a column at the largest zoom. */
const COLUMNS = 2 ** 26;
/** Beyond it Web Mercator ends. */
const MAX_LAT = 85.05;

export function mercatorOf(place: StatusFacts['place']): Mercator | null {
  if (place === null) return null;
  const lat = Math.max(-MAX_LAT, Math.min(MAX_LAT, place.lat)) * (Math.PI / 180);
  return { x: place.lon / 360 + 0.5, y: 0.5 - Math.asinh(Math.tan(lat)) / (2 * Math.PI) };
}

/** Nodes of one cell of the map. */
interface Cell<T> {
  count: number;
  online: number;
  alarms: number;
  attention: number;
  /** Sums, for the middle. */
  lat: number;
  lon: number;
  west: number;
  south: number;
  east: number;
  north: number;
  /** Any of them; the only one where there is one. */
  readonly first: T;
}

/**
 * Nodes with a place, counted by cells of the map; a node that is alone in its cell comes as itself.
 * @returns `zoom`: the one of the cells, smaller than the one that was asked for where there would be too many
 */
export function clustersOf(nodes: Iterable<Findable>, query: ClustersQuery, now: number) {
  const fits = selector(query, now);
  let zoom = Math.round(query.zoom);
  let columns = (WORLD_PX / CELL_PX) * 2 ** zoom;
  let cells = new Map<number, Cell<Findable>>();
  let total = 0;
  let placed = 0;
  for (const node of nodes) {
    if (!fits(node)) continue;
    total++;
    const { at } = node;
    if (at === null) continue;
    placed++;
    addTo(cells, Math.floor(at.x * columns) * COLUMNS + Math.floor(at.y * columns), node, now);
  }
  while (cells.size > MAX_CELLS && zoom > 0) {
    zoom--;
    columns /= 2;
    cells = joined(cells);
  }
  return { zoom, total, placed, cells: [...cells.values()].map((cell) => shownOf(cell, now)) };
}

function addTo(cells: Map<number, Cell<Findable>>, key: number, node: Findable, now: number): void {
  const { lat = 0, lon = 0 } = node.facts.place ?? {};
  const attention = Number(attentionOf(node, node.facts, now) !== null);
  const cell = cells.get(key);
  if (cell === undefined) {
    const [online, alarms] = [Number(node.online), Number(node.alarm !== null)];
    const bounds = { west: lon, south: lat, east: lon, north: lat };
    cells.set(key, { count: 1, online, alarms, attention, lat, lon, ...bounds, first: node });
    return;
  }
  cell.count++;
  cell.online += Number(node.online);
  cell.alarms += Number(node.alarm !== null);
  cell.attention += attention;
  cell.lat += lat;
  cell.lon += lon;
  cell.west = Math.min(cell.west, lon);
  cell.east = Math.max(cell.east, lon);
  cell.south = Math.min(cell.south, lat);
  cell.north = Math.max(cell.north, lat);
}

/** Each four of them as one. */
function joined(cells: ReadonlyMap<number, Cell<Findable>>): Map<number, Cell<Findable>> {
  const larger = new Map<number, Cell<Findable>>();
  for (const [key, cell] of cells) {
    const [column, row] = [Math.floor(key / COLUMNS), key % COLUMNS];
    const next = Math.floor(column / 2) * COLUMNS + Math.floor(row / 2);
    const into = larger.get(next);
    if (into === undefined) {
      larger.set(next, cell);
      continue;
    }
    for (const sum of ['count', 'online', 'alarms', 'attention', 'lat', 'lon'] as const)
      into[sum] += cell[sum];
    into.west = Math.min(into.west, cell.west);
    into.east = Math.max(into.east, cell.east);
    into.south = Math.min(into.south, cell.south);
    into.north = Math.max(into.north, cell.north);
  }
  return larger;
}

function shownOf(
  { first, count, online, alarms, attention, lat, lon, ...bounds }: Cell<Findable>,
  now: number,
) {
  const { west, south, east, north } = bounds;
  return {
    count,
    online,
    alarms,
    attention,
    lat: lat / count,
    lon: lon / count,
    bounds: [west, south, east, north],
    node: count === 1 ? oneOf(first, now) : null,
  };
}

/** What the map shows of a node that stands alone. */
function oneOf(node: Findable, now: number) {
  const { facts } = node;
  const told = toldSince(node, now);
  return {
    id: node.id,
    name: node.name,
    heading: facts.place?.heading ?? null,
    phase: phaseOf(node, facts, now),
    attention: attentionOf(node, facts, now),
    fresh: told !== null && isPresent(node.online, told + facts.silence),
  };
}
