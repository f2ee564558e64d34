import { ApiError } from '../../shared/errors.ts';
import type { JsonObject } from '../../shared/member.ts';
import { warningsOf } from '../../shared/mission/check.ts';
import { itemsIn, type Reading } from '../../shared/mission/document.ts';
import { summaryOf } from '../../shared/mission/summary.ts';
import { type MissionWarning, warningText } from '../../shared/mission/warning.ts';
import type { JsonSchema } from '../../shared/schemas/json-schema.ts';
import {
  type FirstItem,
  firstItemOf,
  MISSION_PARTS,
  type MissionItem,
  type MissionPart,
} from '../../shared/schemas/mission-item.ts';
import { Denial } from '../denial.ts';
import { asRecord, pathOf, rowOf } from '../rows.ts';
import { flying } from './flight.ts';
import type { Arguments, Ask, Tool } from './tool.ts';

/** Missions, fences and rally points: `GET|PUT|DELETE /api/mission|fence|rally`. */

const PART: JsonSchema = { type: 'string', enum: [...MISSION_PARTS], default: 'mission' };
const DOCUMENT: JsonSchema = {
  type: 'object',
  description:
    '{items: [{seq?, frame, command, param1..param4, x (lat), y (lon), z (m), autocontinue}]}, MAVLink numbers, as mission_read shows; frame 3: m above home. Or a QGroundControl plan.',
};
const SUMMARY: JsonSchema = {
  type: 'object',
  required: ['summary', 'count', 'warnings'],
  properties: {
    summary: { type: 'string' },
    count: { type: 'integer' },
    warnings: { type: 'array', items: { type: 'string' } },
    items: { type: 'array', items: { type: 'object' } },
  },
};
/** A survey of 700 items would fill a model's context. */
const ITEMS_SHOWN = 50;

function partOf({ part }: Arguments): MissionPart {
  return MISSION_PARTS.find((each) => each === part) ?? 'mission';
}

/** @param first as `firstOf` gives it @throws ApiError E_MISSION_ITEM, E_INVALID_VALUE */
function readingOf(args: Arguments, first: FirstItem | null): Reading {
  const part = partOf(args);
  const document = asRecord(args['document']);
  if (document['fileType'] !== 'Plan' && !Array.isArray(document['items']))
    throw new ApiError('E_INVALID_VALUE', 'document has neither items nor a plan.');
  const reading = itemsIn(document, part, first);
  if (reading === undefined) throw new ApiError('E_INVALID_VALUE', `The plan has no ${part}.`);
  return reading;
}

/** The vehicle's number of a mission's first item; null: not known. @throws Denial */
async function firstOf(ask: Ask): Promise<FirstItem | null> {
  const telemetry = asRecord(await ask({ method: 'GET', path: pathOf('telemetry.get') }));
  return firstItemOf(telemetry['autopilot']);
}

/** A route of the part that the call names. */
function routeOf(method: 'get' | 'put' | 'delete', args: Arguments): string {
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
        from: { type: 'integer', minimum: 0, default: 0 },
        refresh: { type: 'boolean', description: 'from the vehicle, not a cache' },
      },
    },
    output: SUMMARY,
    idempotent: true,
    run: async ({ ask, args }) => {
      const route = routeOf('get', args);
      const answer = asRecord(
        await ask({
          method: 'GET',
          path: pathOf(route) + (args['refresh'] === true ? '?refresh=1' : ''),
          timeoutMs: rowOf(route).limits.timeoutMs + 2000,
        }),
      );
      const items = answer['items'] as readonly MissionItem[];
      const from = Number(args['from'] ?? 0);
      return {
        value: {
          summary: items.length === 0 ? `no ${partOf(args)}` : summaryOf(partOf(args), items),
          count: items.length,
          warnings: warningsOf(items).map(warningText),
          read_at: answer['read_at'],
          items: items.filter(({ seq }) => seq >= from).slice(0, ITEMS_SHOWN),
        },
      };
    },
  },
  {
    name: 'mission_check',
    title: 'Check a mission',
    description: 'Checks a mission and says what it would do; sends nothing.',
    toolset: 'mission',
    routes: ['telemetry.get'],
    input: {
      properties: { part: PART, document: { type: 'object', description: 'as mission_upload takes it' } },
      required: ['document'],
    },
    output: SUMMARY,
    idempotent: true,
    run: async ({ ask, args }) => {
      const first = await firstOf(ask);
      try {
        const { items, warnings } = readingOf(args, first);
        const value = {
          summary: summaryOf(partOf(args), items),
          count: items.length,
          warnings: [...warnings, ...warningsOf(items)].map(warningText),
        };
        return { value };
      } catch (error) {
        if (error instanceof ApiError) throw new Denial('invalid_arguments', error.message, error.extras);
        throw error;
      }
    },
  },
  {
    name: 'mission_upload',
    title: 'Replace the mission',
    description: 'Replaces mission, fence or rally points; done when read back equal.',
    toolset: 'mission',
    routes: ['mission.put', 'fence.put', 'rally.put', 'telemetry.get'],
    input: { properties: { part: PART, document: DOCUMENT }, required: ['document'] },
    output: SUMMARY,
    idempotent: true,
    summary: async (args, ask) => summaryOf(partOf(args), readingOf(args, await firstOf(ask)).items),
    run: async ({ ask, args }) => {
      const route = routeOf('put', args);
      const answer = asRecord(
        await ask({
          method: 'PUT',
          path: pathOf(route),
          body: args['document'],
          timeoutMs: rowOf(route).limits.timeoutMs + 2000,
        }),
      );
      const items = answer['items'] as readonly MissionItem[];
      const warnings = (answer['warnings'] as readonly MissionWarning[]).map(warningText);
      return { value: { summary: summaryOf(partOf(args), items), count: items.length, warnings } };
    },
  },
  {
    name: 'mission_clear',
    title: 'Clear the mission',
    description: 'Clears the mission, or the rally points.',
    toolset: 'mission',
    routes: ['mission.delete', 'rally.delete'],
    input: { properties: { part: { type: 'string', enum: ['mission', 'rally'], default: 'mission' } } },
    output: { type: 'object', required: ['count'], properties: { count: { type: 'integer' } } },
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
    output: { type: 'object', required: ['count'], properties: { count: { type: 'integer' } } },
    idempotent: true,
    phrase: 'REMOVE THE FENCE',
    run: async ({ ask }) => clear(ask, 'fence.delete'),
  },
  flying({
    name: 'mission_set_current',
    title: 'Go on with an item',
    cmd: 'missionSetCurrent',
    input: { properties: { seq: { type: 'integer', minimum: 0, maximum: 65_534 } }, required: ['seq'] },
    args: ({ seq }) => [Number(seq)],
    options: { toolset: 'mission' },
  }),
];

async function clear(ask: Ask, route: string): Promise<{ readonly value: JsonObject }> {
  const timeoutMs = rowOf(route).limits.timeoutMs + 2000;
  const { count } = asRecord(await ask({ method: 'DELETE', path: pathOf(route), timeoutMs }));
  return { value: { count } };
}
