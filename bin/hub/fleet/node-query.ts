import { GROUP } from '../../../shared/fleet/node-labels.ts';
import {
  attentionOf,
  isIn,
  type Phase,
  phaseOf,
  type Standing,
  type StatusFacts,
  urgencyOf,
} from '../../../shared/fleet/node-state.ts';
import type { NodesQuery, tagList } from '../../../shared/hub-api/schemas.ts';
import type { Made } from '../../../shared/schemas/made.ts';

/** What lists and figures ask of all nodes: in memory, in one pass, so that 100 000 cost milliseconds. */

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

/** Of a number within a name; a longer one is compared as text. */
const DIGITS = 9;

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
  const { rankOf, textOf } = orderOf(query.order, now);
  const after = cursor === undefined ? null : positionFrom(cursor);
  let total = 0;
  let found: (Position & { readonly node: T })[] = [];
  /** What comes behind it is on no page of this length. */
  let worst: Position | null = null;
  const cut = (): void => {
    found.sort((a, b) => compare(a.rank, a.text, b));
    found = found.slice(0, limit + 1);
    if (found.length > limit) worst = found[limit] ?? null;
  };
  for (const node of nodes) {
    if (!fits(node)) continue;
    total++;
    const rank = rankOf(node);
    const text = textOf(node);
    if (after !== null && compare(rank, text, after) <= 0) continue;
    if (worst !== null && compare(rank, text, worst) > 0) continue;
    found.push({ node, rank, text });
    if (found.length > 2 * limit + 64) cut();
  }
  cut();
  const last = found.length > limit ? found[limit - 1] : undefined;
  return {
    nodes: found.slice(0, limit).map(({ node }) => node),
    total,
    next: last === undefined ? null : cursorOf(last),
  };
}

/** A node's place in an order, in two parts: an object for each of 100 000 would have to be collected after each question. */
interface Order {
  readonly rankOf: (node: Findable) => number;
  readonly textOf: (node: Findable) => string;
}

function orderOf(order: NodesQuery['order'], now: number): Order {
  const textOf = ({ sortText }: Findable): string => sortText;
  switch (order) {
    case 'id':
      return { rankOf: () => 0, textOf: ({ id }) => id };
    case 'name':
      return { rankOf: () => 0, textOf };
    case 'attention':
      return { rankOf: (node) => urgencyOf(node, node.facts, now), textOf };
    case 'oldest':
      return { rankOf: ({ seen_at: at }) => at ?? 0, textOf };
    case 'newest':
      return { rankOf: ({ enrolled_at: at }) => -at, textOf };
    case 'battery':
      return { rankOf: ({ facts }) => facts.battery ?? Number.POSITIVE_INFINITY, textOf };
  }
}

function compare(rank: number, text: string, other: Position): number {
  if (rank !== other.rank) return rank < other.rank ? -1 : 1;
  return text < other.text ? -1 : Number(text > other.text);
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

/** Whether a node is asked for. */
export function selector(
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

export type Tagged = Made<typeof tagList>['tags'][number];

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
