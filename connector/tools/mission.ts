import { ApiError } from '../../shared/errors.ts';
import type { JsonObject } from '../../shared/member.ts';
import { warningsOf } from '../../shared/mission/check.ts';
import { itemsIn, type Reading } from '../../shared/mission/document.ts';
import { FIGURE_KINDS, patternItems } from '../../shared/mission/patterns/from-figures.ts';
import { reachText } from '../../shared/mission/reach.ts';
import { plainDocument } from '../../shared/mission/spoken-items.ts';
import { summaryOf } from '../../shared/mission/summary.ts';
import { warningText } from '../../shared/mission/warning.ts';
import type { JsonSchema } from '../../shared/schemas/json-schema.ts';
import {
  type FirstItem,
  firstItemOf,
  MISSION_PARTS,
  type MissionItem,
  type MissionPart,
} from '../../shared/schemas/mission-item.ts';
import { Denial } from '../denial.ts';
import type { Ask } from '../planes/ask.ts';
import { knownOf, listIn } from '../reach-facts.ts';
import { asRecord, rowOf } from '../rows.ts';
import { ALLOW_FAR, flying } from './flight.ts';
import type { Arguments, Tool } from './tool.ts';

/** Missions, fences and rally points: `GET|PUT|DELETE /api/mission|fence|rally`. */

const PART: JsonSchema = {
  type: 'string',
  enum: [...MISSION_PARTS],
  default: 'mission',
  description: 'which list',
};
const DOCUMENT: JsonSchema = {
  type: 'object',
  description:
    'what mission_build answers, a QGC plan, or {items: [{command, frame, param1..param4, x (lat), y (lon), z (m)}]}, MAVLink numbers or names; frame 3: m above home',
};
const degrees = (limit: number): JsonSchema => ({
  type: 'number',
  minimum: -limit,
  maximum: limit,
  description: 'deg',
});
/** A survey of 700 items would fill a model's context. */
const ITEMS_SHOWN = 50;

function partOf({ part }: Arguments): MissionPart {
  return MISSION_PARTS.find((each) => each === part) ?? 'mission';
}

/** In numbers. @throws ApiError E_INVALID_VALUE for a pattern that cannot be made */
function documentOf(args: Arguments): JsonObject {
  return plainDocument(asRecord(args['document']));
}

/** What would be sent, for its class; what cannot be read is refused later. */
function readable(args: Arguments): JsonObject {
  try {
    return documentOf(args);
  } catch (error) {
    if (error instanceof ApiError) return {};
    throw error;
  }
}

/** @param first as `firstOf` gives it @throws ApiError E_MISSION_ITEM, E_INVALID_VALUE */
function readingOf(args: Arguments, first: FirstItem | null): Reading {
  const part = partOf(args);
  const document = documentOf(args);
  if (document['fileType'] !== 'Plan' && !Array.isArray(document['items']))
    throw new ApiError('E_INVALID_VALUE', 'document has neither items nor a plan.');
  const reading = itemsIn(document, part, first);
  if (reading === undefined) throw new ApiError('E_INVALID_VALUE', `The plan has no ${part}.`);
  return reading;
}

/** The vehicle's number of a mission's first item; null: not known. @throws Denial */
async function firstOf(ask: Ask): Promise<FirstItem | null> {
  return firstItemOf((await ask('telemetry.get')).autopilot);
}

/** What a list would do, for the person who allows it: how far it goes, what can cost the vehicle, the rest. */
async function summedUp(args: Arguments, items: readonly MissionItem[], ask: Ask): Promise<string> {
  const part = partOf(args);
  const reach = part === 'fence' ? '' : reachText(items, await knownOf(ask));
  const far = args['allow_far'] === true ? 'Also where goto may not (allow_far).' : '';
  return [far, reach, summaryOf(part, items)].filter((each) => each !== '').join(' ');
}

/** A route of the part that the call names. */
function routeOf<M extends 'get' | 'put' | 'delete'>(method: M, args: Arguments): `${MissionPart}.${M}` {
  return `${partOf(args)}.${method}`;
}

export const missionTools: readonly Tool[] = [
  {
    name: 'mission_read',
    title: 'Read the mission',
    description: 'What the vehicle holds: a summary, and 50 items from seq `from` on.',
    toolset: 'mission',
    routes: ['mission.get', 'fence.get', 'rally.get'],
    input: {
      properties: {
        part: PART,
        from: { type: 'integer', minimum: 0, default: 0, description: 'seq' },
        refresh: { type: 'boolean', description: 'from the vehicle, not a cache' },
      },
    },
    idempotent: true,
    run: async ({ ask, args }) => {
      const route = routeOf('get', args);
      const list = await ask(route, {
        query: { refresh: args['refresh'] === true },
        timeoutMs: rowOf(route).limits.timeoutMs + 2000,
      });
      const { items = [], read_at: readAt } = listIn(list) ?? {};
      const from = Number(args['from'] ?? 0);
      return {
        value: {
          summary: items.length === 0 ? `no ${partOf(args)}` : summaryOf(partOf(args), items),
          count: items.length,
          warnings: warningsOf(items).map(warningText),
          read_at: readAt,
          items: items.filter(({ seq }) => seq >= from).slice(0, ITEMS_SHOWN),
        },
      };
    },
  },
  {
    name: 'mission_check',
    title: 'Check a mission',
    description: 'Checks what a mission would do; sends nothing.',
    toolset: 'mission',
    routes: ['telemetry.get', 'params.get', 'fence.get'],
    input: {
      properties: { part: PART, document: { type: 'object', description: 'as for mission_upload' } },
      required: ['document'],
    },
    idempotent: true,
    run: async ({ ask, args }) => {
      const first = await firstOf(ask);
      const { items, warnings } = understood(() => readingOf(args, first));
      const value = {
        summary: await summedUp(args, items, ask),
        count: items.length,
        warnings: [...warnings, ...warningsOf(items)].map(warningText),
      };
      return { value };
    },
  },
  {
    name: 'mission_build',
    title: 'Build a mission',
    description: 'Makes takeoff, pattern and return of a few figures, for mission_upload. Sends nothing.',
    toolset: 'mission',
    routes: ['telemetry.get', 'params.get', 'fence.get'],
    input: {
      properties: {
        kind: { type: 'string', enum: [...FIGURE_KINDS], description: 'pattern' },
        corners: {
          type: 'array',
          items: { type: 'object', properties: { lat: degrees(90), lon: degrees(180) } },
          maxItems: 400,
          description: 'outline, or line of a corridor',
        },
        lat: { ...degrees(90), description: 'deg, centre' },
        lon: degrees(180),
        radius_m: { type: 'number', description: 'orbit, tower' },
        altitude_m: { type: 'number', description: 'above home' },
        spacing_m: { type: 'number', description: 'lines, layers' },
        photo_every_m: { type: 'number', description: '0: none' },
        heading_deg: { type: 'number', description: 'lines' },
        width_m: { type: 'number', description: 'corridor' },
        distance_m: { type: 'number', description: 'to the tower' },
        top_m: { type: 'number', description: 'above home' },
        bottom_m: { type: 'number', description: 'above home' },
        turns: { type: 'number', description: 'orbit' },
        clockwise: { type: 'boolean', description: 'orbit, tower' },
        speed_m_s: { type: 'number', description: 'm/s' },
        end: {
          type: 'string',
          enum: ['return', 'land', 'stay'],
          default: 'return',
          description: 'after it',
        },
      },
      required: ['kind'],
    },
    idempotent: true,
    run: async ({ ask, args: { cursor: _cursor, node: _node, ...pattern } }) => {
      const first = await firstOf(ask);
      const document = { pattern };
      const { photos, distance } = understood(() => patternItems(pattern));
      const { items, warnings: odd } = understood(() => readingOf({ document }, first));
      const summary = await summedUp({ document }, items, ask);
      const warnings = [...odd, ...warningsOf(items)].map(warningText);
      const far = Math.round(distance);
      const text = [
        `${items.length} items, ${far} m in the pattern, ${photos === 0 ? 'no photos' : `about ${photos} photos`}.`,
        summary,
        ...warnings,
        `mission_upload with document ${JSON.stringify(document)} writes it.`,
      ];
      const value = { document, summary, count: items.length, distance_m: far, photos, warnings };
      return { value, text: text.join('\n') };
    },
  },
  {
    name: 'mission_upload',
    title: 'Replace the mission',
    description: 'Replaces mission, fence or rally points; read back.',
    toolset: 'mission',
    routes: ['mission.put', 'fence.put', 'rally.put', 'telemetry.get', 'params.get', 'fence.get'],
    input: {
      properties: { part: PART, document: DOCUMENT, allow_far: ALLOW_FAR },
      required: ['document'],
    },
    idempotent: true,
    request: (args) => ({ params: {}, body: readable(args) }),
    // It may be larger than the one that the vehicle has, or empty.
    signed: (args) => partOf(args) === 'fence',
    summary: async (args, ask) => summedUp(args, readingOf(args, await firstOf(ask)).items, ask),
    run: async ({ ask, args }) => {
      const route = routeOf('put', args);
      const { items = [], warnings: told = [] } = await ask(route, {
        query: { allow_far: args['allow_far'] === true },
        body: understood(() => documentOf(args)),
        timeoutMs: rowOf(route).limits.timeoutMs + 2000,
      });
      const warnings = told.map(warningText);
      return { value: { summary: summaryOf(partOf(args), items), count: items.length, warnings } };
    },
  },
  {
    name: 'mission_clear',
    title: 'Clear the mission',
    description: 'Clears the mission, or the rally points.',
    toolset: 'mission',
    routes: ['mission.delete', 'rally.delete'],
    input: {
      properties: {
        part: {
          type: 'string',
          enum: ['mission', 'rally'],
          default: 'mission',
          description: 'which list',
        },
      },
    },
    idempotent: true,
    run: async ({ ask, args }) => clear(ask, routeOf('delete', args)),
  },
  {
    name: 'fence_clear',
    title: 'Clear the fence',
    description: 'Removes the fence: the vehicle may fly everywhere.',
    toolset: 'mission',
    routes: ['fence.delete'],
    input: { properties: {} },
    idempotent: true,
    phrase: 'REMOVE THE FENCE',
    run: async ({ ask }) => clear(ask, 'fence.delete'),
  },
  flying({
    name: 'mission_set_current',
    title: 'Go on with an item',
    cmd: 'missionSetCurrent',
    input: {
      properties: { seq: { type: 'integer', minimum: 0, maximum: 65_534, description: 'of mission_read' } },
      required: ['seq'],
    },
    args: ({ seq }) => [Number(seq)],
    options: { toolset: 'mission' },
  }),
];

/** @throws Denial invalid_arguments for what cannot be read */
function understood<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ApiError) throw new Denial('invalid_arguments', error.message, error.extras);
    throw error;
  }
}

async function clear(ask: Ask, route: `${MissionPart}.delete`): Promise<{ readonly value: JsonObject }> {
  const timeoutMs = rowOf(route).limits.timeoutMs + 2000;
  const { count } = await ask(route, { timeoutMs });
  return { value: { count } };
}
