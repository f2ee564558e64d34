import { ApiError } from '../errors.ts';
import { isRecord, type JsonObject, listOf, memberOf } from '../member.ts';
import { faultOf } from '../schemas/fault.ts';
import type { MissionItem, MissionPart } from '../schemas/mission-item.ts';
import { inNumbers, itemError } from './check.ts';
import { CMD, isFence, isPlace } from './commands.ts';
import { landingItems } from './landing.ts';
import { numberedFrom } from './numbered.ts';
import { MAX_PATTERNS, type Pattern, type Placed, patternOf, placedIn } from './patterns/placed.ts';
import { simpleItem as planItem, readComplex, readOrbit, writeComplex, writeOrbit } from './patterns/qgc.ts';
import type { Draft, Home } from './wpl.ts';

/**
 * QGroundControl's plan files (https://docs.qgroundcontrol.com/master/en/qgc-dev-guide/file_formats/plan.html), read and written.
 * Items that are read are not checked yet.
 */

/** A plan with the members that we do not know. */
export type Plan = JsonObject & { readonly fileType: 'Plan' };

const FENCE_FRAME = 0;
const RELATIVE = 3;
const ARDUPILOT = 3;
const PX4 = 12;
const QUADROTOR = 2;

export function isPlan(value: unknown): value is Plan {
  return isRecord(value) && value['fileType'] === 'Plan';
}

/** What QGroundControl wrote before its plan files (`.mission`): the mission alone, at the top. */
export function isOldPlan(value: unknown): value is JsonObject {
  return isRecord(value) && typeof value['groundStation'] === 'string' && Array.isArray(value['items']);
}

/** Numbered from 0. @throws itemError; ApiError E_INVALID_VALUE */
export function readOldPlan(plan: JsonObject): Draft {
  const surveys = listOf(plan['complexItems']).length;
  const { items, warnings } = missionItems(plan);
  if (surveys === 0) return { items, warnings };
  const left = `${surveys} survey(s) are left out: the file does not say which items they stand for.`;
  return { items, warnings: [...warnings, left] };
}

/**
 * The items of one part, a mission's numbered from 0; undefined if the plan does not have it. A survey, corridor or structure
 * gives the items that the file expands it to, a landing those that it stands for; an entry that is not understood is left out, with a
 * warning. @throws itemError; ApiError E_INVALID_VALUE
 */
export function readPlan(plan: Plan, part: MissionPart): Draft | undefined {
  switch (part) {
    case 'mission':
      return plan['mission'] === undefined ? undefined : missionItems(objectAt(plan, 'mission'));
    case 'fence':
      return plan['geoFence'] === undefined ? undefined : sure(fenceItems(objectAt(plan, 'geoFence')));
    case 'rally':
      return plan['rallyPoints'] === undefined ? undefined : sure(rallyItems(objectAt(plan, 'rallyPoints')));
  }
}

const sure = (items: readonly unknown[]): Draft => ({ items, warnings: [] });

/** The firmware that a plan was made for, as `firstItemOf` takes it; null: another one, or any. */
export function firmwareOf(plan: Plan): number | null {
  const firmware = memberOf(plan['mission'], 'firmwareType');
  return firmware === PX4 || firmware === ARDUPILOT ? firmware : null;
}

function missionItems(mission: JsonObject): Draft {
  const simple: JsonObject[] = [];
  const warnings: string[] = [];
  for (const [entry, value] of listAt(mission, 'items').entries()) {
    const items = isRecord(value) ? standingFor(value) : null;
    simple.push(...(items ?? []));
    if (items === null)
      warnings.push(
        `Entry ${entry + 1} of the plan (${kindOf(value)}) is left out: the file does not say which items it stands for.`,
      );
  }
  // An empty mission clears that of the vehicle.
  if (simple.length === 0 && warnings.length > 0)
    throw itemError(0, `nothing of the plan is understood. ${warnings[0]?.replace(/\.$/, '')}`);
  // A DO_JUMP names its target by doJumpId (once: id), which QGroundControl counts from 1 where it is not given.
  const byJumpId = new Map(simple.map(({ doJumpId, id }, index) => [doJumpId ?? id ?? index + 1, index]));
  return { items: simple.map((item, index) => simpleItem(item, index, byJumpId)), warnings };
}

function kindOf(entry: unknown): string {
  const kind = memberOf(entry, 'complexItemType');
  return typeof kind === 'string' ? kind.slice(0, 40) : 'of no known kind';
}

/** Itself; those of a survey, corridor or structure scan, which QGroundControl writes; those of a landing. Null: not understood. */
function standingFor(item: JsonObject): readonly JsonObject[] | null {
  if (item['type'] !== 'ComplexItem') return [item];
  const transect = item['TransectStyleComplexItem'];
  const items = isRecord(transect) ? transect['Items'] : item['Items'];
  if (Array.isArray(items) && items.every(isRecord)) return items;
  // QGroundControl writes no items of a structure scan; of others they were left out.
  const made = readMade(item);
  return made === null ? landingItems(item) : made.items.map(planItem);
}

function readMade(item: JsonObject): Pattern | null {
  const settings = readComplex(item);
  return settings === null ? null : patternOf(settings, item);
}

/**
 * The patterns of a plan with their settings, in the mission that was read from it. One whose settings are not understood is none: its
 * items stand alone.
 * @param mission as `readPlan` and `checkItems` give it
 */
export function patternsIn(plan: Plan, mission: readonly MissionItem[]): readonly Placed[] {
  const patterns: Pattern[] = [];
  let at = 0;
  for (const value of listOf(memberOf(plan['mission'], 'items'))) {
    if (!isRecord(value)) return [];
    if (value['type'] !== 'ComplexItem') {
      at++;
      continue;
    }
    const count = standingFor(value)?.length ?? 0;
    const settings = readComplex(value);
    if (settings !== null) {
      const photos = memberOf(value['TransectStyleComplexItem'], 'CameraShots');
      const items = mission.slice(at, at + count);
      const made = patternOf(settings, value);
      patterns.push({
        settings,
        items,
        photos: typeof photos === 'number' && photos > 0 ? photos : (made?.photos ?? 0),
        source: value,
      });
    }
    at += count;
  }
  for (const value of listOf(memberOf(plan['svc'], 'orbits')).slice(0, MAX_PATTERNS)) {
    const orbit = readOrbit(value);
    const pattern = orbit === null ? null : patternOf(orbit, null);
    if (pattern !== null) patterns.push(pattern);
  }
  return placedIn(mission, patterns);
}

function simpleItem(item: JsonObject, index: number, byJumpId: ReadonlyMap<unknown, number>): unknown {
  const { command, frame, autoContinue } = item;
  const [param1, param2, param3, param4, x, y, z] = paramsOf(item, index);
  const place = typeof command === 'number' && isPlace(command);
  const orZero = (value: unknown): unknown => (value === null && !place ? 0 : value);
  const target = byJumpId.get(param1);
  if (command === CMD.jump && target === undefined)
    throw itemError(index, `DO_JUMP to ${String(param1)}, which is the doJumpId of no item`);
  return {
    seq: index,
    command,
    frame,
    param1: command === CMD.jump ? target : param1,
    param2,
    param3,
    param4,
    x: orZero(x),
    y: orZero(y),
    z: orZero(z),
    autocontinue: autoContinue === false ? 0 : 1,
  };
}

/** Seven; older files have the last three as `coordinate`, and the oldest the others one by one. */
function paramsOf({ params, coordinate, ...item }: JsonObject, index: number): readonly unknown[] {
  const four = params ?? [item['param1'], item['param2'], item['param3'], item['param4']];
  const all: unknown = Array.isArray(coordinate) && Array.isArray(four) ? [...four, ...coordinate] : params;
  if (!Array.isArray(all) || all.length !== 7) throw itemError(index, 'params must be a list of 7');
  return all;
}

function fenceItems(fence: JsonObject): readonly unknown[] {
  const items: JsonObject[] = [];
  // Read as nothing, it would clear the fence of the vehicle.
  if (listAt(fence, 'polygon').length > 0)
    throw invalid('/geoFence/polygon', 'is of an old version; save the plan with a newer QGroundControl');
  for (const polygon of listAt(fence, 'polygons')) {
    const points = isRecord(polygon) && Array.isArray(polygon['polygon']) ? polygon['polygon'] : [];
    const inclusion = isRecord(polygon) && polygon['inclusion'] === true;
    const command = inclusion ? CMD.polygonInclusion : CMD.polygonExclusion;
    if (points.length < 3) throw itemError(items.length, 'a polygon of the fence has fewer than 3 points');
    for (const point of points)
      items.push({ command, param1: points.length, ...placeOf(point, items.length) });
  }
  for (const value of listAt(fence, 'circles')) {
    const circle = isRecord(value) ? value['circle'] : undefined;
    const inclusion = isRecord(value) && value['inclusion'] === true;
    const command = inclusion ? CMD.circleInclusion : CMD.circleExclusion;
    if (!isRecord(circle)) throw itemError(items.length, 'a circle of the fence has no circle member');
    items.push({ command, param1: circle['radius'], ...placeOf(circle['center'], items.length) });
  }
  const home = fence['breachReturn'];
  if (home !== undefined) items.push({ command: CMD.returnPoint, ...placeOf(home, items.length, RELATIVE) });
  return items;
}

function rallyItems(rally: JsonObject): readonly unknown[] {
  return listAt(rally, 'points').map((point, index) => ({
    command: CMD.rallyPoint,
    ...placeOf(point, index, RELATIVE),
  }));
}

function placeOf(value: unknown, index: number, frame: number = FENCE_FRAME): JsonObject {
  if (!Array.isArray(value) || value.length < 2)
    throw itemError(index, 'a place must be a list of latitude and longitude');
  const [x, y, z = 0]: readonly unknown[] = value;
  return { frame, x, y, z };
}

function objectAt(plan: JsonObject, name: string): JsonObject {
  const value = plan[name];
  if (isRecord(value)) return value;
  throw invalid(`/${name}`, 'must be an object');
}

/** Absent: empty. */
function listAt(object: JsonObject, name: string): readonly unknown[] {
  const value = object[name] ?? [];
  if (Array.isArray(value)) return value;
  throw invalid(`/${name}`, 'must be a list');
}

function invalid(path: string, message: string): ApiError {
  return new ApiError('E_INVALID_VALUE', `The plan file: ${faultOf({ path, message }, 'it')}.`, {
    errors: [{ path, message }],
  });
}

interface PlanSource {
  /** Where they stand in the mission; without them a plan has single items only. */
  readonly patterns?: readonly Placed[];
  readonly mission: readonly MissionItem[];
  readonly fence: readonly MissionItem[];
  readonly rally: readonly MissionItem[];
  readonly home: Home | null;
  readonly firmware: string | null;
}

/** A plain plan that QGroundControl opens. @throws ApiError E_MISSION_ITEM for a fence that it cannot hold */
export function makePlan({ mission, fence, rally, home, firmware, patterns = [] }: PlanSource): Plan {
  const orbits = patterns.flatMap(({ settings }) =>
    settings.kind === 'orbit' ? [writeOrbit(settings)] : [],
  );
  const { lat, lon, alt } = home ?? { lat: mission[0]?.x ?? 0, lon: mission[0]?.y ?? 0, alt: 0 };
  return {
    fileType: 'Plan',
    version: 1,
    groundStation: 'svc',
    mission: {
      version: 2,
      firmwareType: firmware === 'px4' ? PX4 : ARDUPILOT,
      vehicleType: QUADROTOR,
      cruiseSpeed: 15,
      hoverSpeed: 5,
      globalPlanAltitudeMode: 1,
      plannedHomePosition: [lat, lon, alt],
      items: planItems(numberedFrom(mission, 1), patterns),
    },
    geoFence: inNumbers(0, () => geoFence(fence)),
    rallyPoints: { version: 2, points: rally.map(({ x, y, z }) => [x, y, z]) },
    ...(orbits.length === 0 ? {} : { svc: { version: 1, orbits } }),
  };
}

function planItems(mission: readonly MissionItem[], patterns: readonly Placed[]): readonly JsonObject[] {
  const complex = new Map(patterns.map((pattern) => [pattern.from, pattern]));
  const written: JsonObject[] = [];
  for (let at = 0; at < mission.length; ) {
    const { settings, items = [], photos = 0, source = null } = complex.get(at) ?? {};
    const item = mission[at];
    if (settings !== undefined && settings.kind !== 'orbit' && items.length > 0) {
      const own = mission.slice(at, at + items.length);
      written.push(writeComplex({ settings, items: own, photos, source }));
      at += items.length;
    } else {
      if (item !== undefined) written.push(planItem(item));
      at++;
    }
  }
  return written;
}

function geoFence(items: readonly MissionItem[]): JsonObject {
  const polygons: JsonObject[] = [];
  const circles: JsonObject[] = [];
  let breachReturn: readonly number[] | undefined;
  for (let at = 0; at < items.length; ) {
    const item = items[at];
    if (item === undefined) break;
    const { command, param1, x, y, z } = item;
    const vertices = command === CMD.polygonInclusion || command === CMD.polygonExclusion;
    const count = vertices ? Math.max(1, param1 ?? 1) : 1;
    if (vertices) {
      const polygon = items.slice(at, at + count).map((vertex) => [vertex.x, vertex.y]);
      polygons.push({ inclusion: command === CMD.polygonInclusion, polygon, version: 1 });
    } else if (command === CMD.returnPoint) breachReturn = [x, y, z];
    else if (isFence(command)) {
      const circle = { center: [x, y], radius: param1 };
      circles.push({ circle, inclusion: command === CMD.circleInclusion, version: 1 });
    } else
      throw itemError(
        at,
        `a plan has no room for MAV_CMD ${command} of the fence; JSON and QGC WPL 110 have`,
      );
    at += count;
  }
  return { version: 2, polygons, circles, ...(breachReturn === undefined ? {} : { breachReturn }) };
}
