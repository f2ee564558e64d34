import { GROUP } from '../../../shared/fleet/node-labels.ts';
import {
  attentionOf,
  isIn,
  isPresent,
  type Phase,
  phaseOf,
  type Standing,
  type StatusFacts,
  toldSince,
  urgencyOf,
} from '../../../shared/fleet/node-state.ts';
import type { ClustersQuery, NodesQuery } from '../api/schemas.ts';

/** What lists, figures and the map ask of all nodes: in memory, in one pass, so that 100 000 cost milliseconds. */

/** A node, as far as it is looked for. */
export interface Findable extends Standing {
  readonly id: string;
  readonly name: string;
  readonly profile: 'drone' | 'ground-station';
  readonly enrolled_at: number;
  readonly seen_at: number | null;
  /** Tags, and `group:name`. */
  readonly labels: ReadonlySet<string>;
  /** Id and name in small letters. */
  readonly words: string;
  /** Of `sortTextOf`. */
  readonly sortText: string;
  readonly facts: StatusFacts;
  /** Its place in Web Mercator; null: it has none. */
  readonly at: Mercator | null;
}

/** x 0 at 180° west to 1 at 180° east, y 0 at the north to 1 at the south. */
export interface Mercator {
  readonly x: number;
  readonly y: number;
}

type Filters = Pick<NodesQuery, 'q' | 'state' | 'tag' | 'group' | 'bbox' | 'profile'>;

/** A place in an order: the number first, then the text, which no two nodes have in common. */
interface Position {
  readonly rank: number;
  readonly text: string;
}

/** Cells of the map, px at the zoom that was asked for, of a world of 512 px at zoom 0. */
const CELL_PX = 64;
const WORLD_PX = 512;
/** Of a number within a name; a longer one is compared as text. */
const DIGITS = 9;
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

/** By it nodes are in the order of their names, 2 before 10, and each has a place of its own. */
export function sortTextOf({ id, name }: Pick<Findable, 'id' | 'name'>): string {
  return `${name.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(DIGITS, '0'))}\n${id}`;
}

/** A page of those that fit, and how many fit on all pages. `next` is null on the last. */
export function pageOf<T extends Findable>(
  nodes: Iterable<T>,
  query: NodesQuery,
  now: number,
): { readonly nodes: readonly T[]; readonly total: number; readonly next: string | null } {
  const { limit, cursor } = query;
  const fits = selector(query, now);
  const positionOf = positionIn(query.order, now);
  const after = cursor === undefined ? null : positionFrom(cursor);
  let total = 0;
  let found: { readonly node: T; readonly position: Position }[] = [];
  /** What comes behind it is on no page of this length. */
  let worst: Position | null = null;
  const cut = (): void => {
    found.sort((a, b) => compare(a.position, b.position));
    found = found.slice(0, limit + 1);
    if (found.length > limit) worst = found[limit]?.position ?? null;
  };
  for (const node of nodes) {
    if (!fits(node)) continue;
    total++;
    const position = positionOf(node);
    if (after !== null && compare(position, after) <= 0) continue;
    if (worst !== null && compare(position, worst) > 0) continue;
    found.push({ node, position });
    if (found.length > 2 * limit + 64) cut();
  }
  cut();
  const last = found.length > limit ? found[limit - 1] : undefined;
  return {
    nodes: found.slice(0, limit).map(({ node }) => node),
    total,
    next: last === undefined ? null : cursorOf(last.position),
  };
}

function positionIn(order: NodesQuery['order'], now: number): (node: Findable) => Position {
  const named = (rank: number, { sortText: text }: Findable): Position => ({ rank, text });
  switch (order) {
    case 'id':
      return ({ id }) => ({ rank: 0, text: id });
    case 'name':
      return (node) => named(0, node);
    case 'attention':
      return (node) => named(urgencyOf(node, node.facts, now), node);
    case 'oldest':
      return (node) => named(node.seen_at ?? 0, node);
    case 'newest':
      return (node) => named(-node.enrolled_at, node);
    case 'battery':
      return (node) => named(node.facts.battery ?? Number.POSITIVE_INFINITY, node);
  }
}

function compare(a: Position, b: Position): number {
  if (a.rank !== b.rank) return a.rank < b.rank ? -1 : 1;
  return a.text < b.text ? -1 : Number(a.text > b.text);
}

function cursorOf({ rank, text }: Position): string {
  return Buffer.from(`${rank} ${text}`).toString('base64url');
}

/** Whatever it says is some place; a cursor of another order too. */
function positionFrom(cursor: string): Position {
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const space = text.indexOf(' ');
  const rank = Number(text.slice(0, Math.max(0, space)));
  return { rank: Number.isNaN(rank) ? 0 : rank, text: text.slice(space + 1) };
}

function selector(
  { q, state, tag, group, bbox, profile }: Filters,
  now: number,
): (node: Findable) => boolean {
  const part = q?.toLowerCase();
  const box = bbox === undefined ? null : boxOf(bbox);
  return (node) =>
    (part === undefined || node.words.includes(part)) &&
    (profile === undefined || node.profile === profile) &&
    (tag === undefined || node.labels.has(tag)) &&
    (group === undefined || node.labels.has(`${GROUP}${group}`)) &&
    (box === null || isInside(box, node.facts.place)) &&
    (state === undefined || isIn(state, node, node.facts, now));
}

interface Box {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

function boxOf(text: string): Box {
  const [west = -180, south = -90, east = 180, north = 90] = text.split(',').map(Number);
  return { west, south, east, north };
}

/** West of more than east: across the date line. */
function isInside({ west, south, east, north }: Box, place: StatusFacts['place']): boolean {
  if (place === null || place.lat < south || place.lat > north) return false;
  const { lon } = place;
  return west <= east ? lon >= west && lon <= east : lon >= west || lon <= east;
}

/** How many of them are in which phase, and what needs somebody. */
export interface FleetCounts {
  readonly nodes: number;
  readonly drones: number;
  readonly online: number;
  readonly alarms: number;
  /** Also those of which it is not known. */
  readonly armed: number;
  readonly attention: number;
  readonly phases: Readonly<Record<Phase, number>>;
  /** When the last of those that are away was heard, ms since 1970; null: none is away, or none was ever heard. */
  readonly away_since: number | null;
}

export function countsOf(nodes: Iterable<Findable>, now: number): FleetCounts {
  const counts = { nodes: 0, drones: 0, online: 0, alarms: 0, armed: 0, attention: 0 };
  const phases: Record<Phase, number> = { flying: 0, armed: 0, ground: 0, unknown: 0, away: 0 };
  let away: number | null = null;
  for (const node of nodes) {
    const { facts } = node;
    counts.nodes++;
    counts.drones += Number(node.profile === 'drone');
    counts.online += Number(node.online);
    counts.alarms += Number(node.alarm !== null);
    counts.armed += Number(isIn('armed', node, facts, now));
    counts.attention += Number(attentionOf(node, facts, now) !== null);
    phases[phaseOf(node, facts, now)]++;
    if (!node.online && node.seen_at !== null) away = Math.max(away ?? 0, node.seen_at);
  }
  return { ...counts, phases, away_since: away };
}

export interface Tagged {
  readonly tag: string;
  readonly nodes: number;
}

/** Of one answer. */
const MAX_TAGS_TOLD = 500;

/** Tags and groups (`group:name`) with how many have them, the most frequent first. */
export function tagsAmong(nodes: Iterable<Findable>): readonly Tagged[] {
  const counts = new Map<string, number>();
  for (const { labels } of nodes) for (const tag of labels) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts]
    .map(([tag, count]) => ({ tag, nodes: count }))
    .toSorted((a, b) => b.nodes - a.nodes || (a.tag < b.tag ? -1 : 1))
    .slice(0, MAX_TAGS_TOLD);
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
