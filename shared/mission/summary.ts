import type { MissionItem, MissionPart } from '../schemas/mission-item.ts';
import { distance } from './check.ts';
import { CMD, ITEM_COMMANDS, isInDegrees } from './commands.ts';
import { notableIn, notableText } from './notable.ts';

/** MAV_FRAME_GLOBAL and its INT twin: heights above the sea. */
const ABOVE_SEA: ReadonlySet<number> = new Set([0, 5]);
const NAV_RETURN = 20;
const NAV_LAND = 21;

/**
 * What a list would make the vehicle do, in words for the person who allows it: how many, how far, how high, how it ends.
 * Distances over ground, in a straight line from item to item.
 */
export function summaryOf(part: MissionPart, items: readonly MissionItem[]): string {
  if (items.length === 0) return `an empty ${part}: what the vehicle holds is cleared`;
  switch (part) {
    case 'mission':
      return missionSummary(items);
    case 'fence':
      return fenceSummary(items);
    case 'rally':
      return `${items.length} rally point(s), ${heights(items)}`;
  }
}

function missionSummary(items: readonly MissionItem[]): string {
  const places = items.filter(isSomewhere);
  const [start] = places;
  let length = 0;
  let farthest = 0;
  for (const [index, place] of places.entries()) {
    const before = places[index - 1];
    if (before !== undefined) length += distance(before, place);
    if (start !== undefined) farthest = Math.max(farthest, distance(start, place));
  }
  const takeoff = items.find(({ command }) => command === CMD.takeoff);
  const last = items.at(-1);
  const first = items[0]?.seq ?? 0;
  const notable = notableIn(items).map((each) => notableText(each, first));
  const parts = [
    `${items.length} items, ${places.length} of them places`,
    takeoff === undefined ? 'no takeoff' : `takeoff to ${metres(takeoff.z)}`,
    places.length === 0 ? null : heights(places),
    places.length < 2
      ? null
      : `${metres(length)} from the first place to the last, up to ${metres(farthest)} away from the first`,
    last === undefined ? null : `ends with ${ending(last)}`,
  ];
  // What can cost the vehicle comes first, each item by itself: nobody reads to the end of a list.
  return [...notable, parts.filter((each) => each !== null).join('; ')].join(' ');
}

function ending({ command }: MissionItem): string {
  if (command === NAV_RETURN) return 'return to launch';
  if (command === NAV_LAND) return 'landing there';
  return `${ITEM_COMMANDS.get(command)?.name ?? `command ${command}`}, neither landing nor return`;
}

function fenceSummary(items: readonly MissionItem[]): string {
  const parts: string[] = [];
  for (let index = 0; index < items.length; ) {
    const item = items[index];
    if (item === undefined) break;
    const { command, param1 } = item;
    const polygon = command === CMD.polygonInclusion || command === CMD.polygonExclusion;
    const inside = command === CMD.polygonInclusion || command === CMD.circleInclusion;
    const sense = inside ? 'stays inside' : 'stays out of';
    const corners = polygon ? Math.max(1, param1 ?? 1) : 1;
    if (polygon) parts.push(`${sense} a polygon of ${corners} corners, ${extent(items, index, corners)}`);
    else if (command === CMD.returnPoint) parts.push('one return point');
    else parts.push(`${sense} a circle of ${metres(param1 ?? 0)} radius`);
    index += corners;
  }
  return parts.join('; ');
}

/** How far its corners are apart. */
function extent(items: readonly MissionItem[], from: number, corners: number): string {
  const own = items.slice(from, from + corners);
  let across = 0;
  for (const a of own) for (const b of own) across = Math.max(across, distance(a, b));
  return `${metres(across)} across`;
}

function heights(items: readonly MissionItem[]): string {
  const above = (wanted: boolean): string | null => {
    const all = items.filter(({ frame }) => ABOVE_SEA.has(frame) === wanted).map(({ z }) => z);
    if (all.length === 0) return null;
    const [low, high] = [Math.min(...all), Math.max(...all)];
    const range = low === high ? metres(low) : `${metres(low)} to ${metres(high)}`;
    return `${range} above ${wanted ? 'the sea' : 'home or the terrain'}`;
  };
  return [above(false), above(true)].filter((each) => each !== null).join(' and ');
}

function isSomewhere({ frame, command, x, y }: MissionItem): boolean {
  return isInDegrees(frame, command) && (x !== 0 || y !== 0); // 0, 0 is "here", as ArduPilot reads it
}

function metres(value: number): string {
  return Math.abs(value) >= 10_000 ? `${(value / 1000).toFixed(1)} km` : `${Math.round(value * 10) / 10} m`;
}
