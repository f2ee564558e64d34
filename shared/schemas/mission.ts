import type { JsonSchema } from './json-schema.ts';
import { MISSION_PARTS, missionItem, param } from './mission-item.ts';

/** The bodies of /api/mission, /api/fence and /api/rally (docs/contract/flight.md#missions). */

const items = { type: 'array', items: missionItem } as const;
const id = {
  type: ['integer', 'null'],
  description: "the vehicle's own id of the list; null if it tells none",
} as const;

const list = {
  title: 'MissionList',
  type: 'object',
  required: ['items', 'count', 'from', 'read_at', 'id'],
  properties: {
    items,
    count: { type: 'integer' },
    from: { enum: ['vehicle', 'cache'] },
    read_at: { type: 'string', format: 'date-time' },
    id,
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const plan = {
  title: 'PlanFile',
  type: 'object',
  required: ['fileType'],
  properties: { fileType: { const: 'Plan', description: 'a plan file of QGroundControl' } },
} as const satisfies JsonSchema;

/** By `format`: the list, a plan file, or the text of a `QGC WPL 110` file. */
export const missionAnswer = {
  title: 'MissionAnswer',
  anyOf: [list, plan, { type: 'string' }],
} as const satisfies JsonSchema;

/** The items are checked one by one by shared/mission/check.ts, which names the index of a wrong one. */
export const missionWrite = {
  'x-says':
    'must be {"items": [...]}, a plan file or .mission file of QGroundControl, or text: QGC WPL 110, or points of a fence or of rally points',
  title: 'MissionWrite',
  examples: [
    {
      items: [
        {
          seq: 1,
          frame: 3,
          command: 16,
          param1: 0,
          param2: 0,
          param3: 0,
          param4: null,
          x: -35.3621,
          y: 149.1651,
          z: 30,
          autocontinue: 1,
        },
      ],
    },
  ],
  anyOf: [
    {
      type: 'object',
      required: ['items'],
      properties: {
        items: {
          type: 'array',
          items: {},
          description:
            'as GET shows them; seq may be left out, or go up by one from 0 or 1: the vehicle gives its own',
        },
        allow_far: {
          type: 'boolean',
          description:
            'also where goto may not: further than flight.max_goto_m, beyond the fence, below the ground',
        },
        manual: { type: 'boolean', description: 'also items that choose a mode which needs sticks' },
      },
      additionalProperties: false,
    },
    plan,
    {
      type: 'object',
      required: ['items', 'groundStation'],
      properties: { items: { type: 'array', items: {} }, groundStation: { type: 'string' } },
      description: 'a .mission file of an older QGroundControl',
    },
    {
      type: 'string',
      description: 'as text/plain: QGC WPL 110, or the points of a fence or of rally points',
    },
  ],
} as const satisfies JsonSchema;

/** A sentence, or a member that the vehicle holds otherwise than it was sent (shared/mission/warning.ts). */
const missionWarning = {
  title: 'MissionWarning',
  anyOf: [
    { type: 'string' },
    {
      type: 'object',
      required: ['part', 'index', 'seq', 'member', 'sent', 'held'],
      properties: {
        part: { enum: MISSION_PARTS },
        index: { type: 'integer', description: 'the place of the item in the list, from 0' },
        seq: { type: 'integer', description: "the vehicle's number of the item" },
        member: { enum: ['param1', 'param2', 'param3', 'param4', 'x', 'y', 'z', 'autocontinue'] },
        sent: param,
        held: param,
      },
      additionalProperties: false,
    },
  ],
} as const satisfies JsonSchema;

export const missionWritten = {
  title: 'MissionWritten',
  type: 'object',
  required: ['items', 'count', 'id', 'warnings', 'parts'],
  properties: {
    items,
    count: { type: 'integer' },
    id,
    warnings: { type: 'array', items: missionWarning },
    parts: {
      type: 'object',
      description: 'how many items of each list were written, or would be',
      propertyNames: { enum: MISSION_PARTS },
      examples: [{ mission: 3, fence: 1 }],
      additionalProperties: { type: 'integer' },
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const flag = { enum: ['0', '1'] } as const;

export const missionGetQuery = {
  type: 'object',
  properties: {
    format: { enum: ['json', 'plan', 'wpl'], description: 'default json' },
    refresh: { ...flag, description: '1: read from the vehicle, not from the cache' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const missionPutQuery = {
  type: 'object',
  properties: {
    allow_far: { ...flag, description: '1: as allow_far in the body, for a plan file and for text' },
    manual: { ...flag, description: '1: as manual in the body' },
    dry_run: { ...flag, description: '1: only check, send nothing' },
    parts: {
      type: 'string',
      pattern: '^(?:mission|fence|rally)(?:,(?:mission|fence|rally)){0,2}$',
      examples: ['mission,fence'],
      description: "which parts of a plan file to write; without it, the route's own",
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
