import { setTimeout as delay } from 'node:timers/promises';
import { type JsonObject, listOf, memberOf } from '../../shared/member.ts';
import { Denial } from '../denial.ts';
import { cursor, name, reading, writing } from './parts.ts';
import type { Tool, ToolContext } from './tool.ts';

const POLL_MS = 300;
/** Long enough for a download over a bad radio link; a client that cannot wait cancels. */
const MAX_POLLS = 400;

interface Listed {
  readonly name: string;
  readonly value: number;
}

/** All parameters, waiting for the node's download from the vehicle with its progress. */
async function all({ ask, progress, signal }: ToolContext): Promise<readonly Listed[]> {
  for (let poll = 0; poll < MAX_POLLS; poll++) {
    const { params = {}, priming, progress: done } = await ask('params.get');
    if (priming !== true) {
      return Object.entries(params)
        .map(([key, value]) => ({ name: key, value: Number(value) }))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1));
    }
    const { got = 0, expected = null } = done ?? {};
    progress(got, expected, 'the node downloads parameters from the vehicle');
    await delay(POLL_MS, undefined, { signal }).catch(() => {
      throw new Denial('cancelled');
    });
  }
  throw new Denial('rest_down', 'The parameters are still on their way from the vehicle. Try again.');
}

const LISTED = {
  type: 'object',
  required: ['name', 'value'],
  properties: { name: { type: 'string' }, value: { type: 'number' } },
} as const;
const NO_METADATA =
  'Nothing describes this parameter: the vehicle does not, and the operator has put no file below param-metadata/.';
/** Each is one request to the node. */
const MAX_LOOKED_AT = 100;

/** The text of a value, or of its bits; null if none is known. */
function inWords(value: number, metadata: JsonObject): string | null {
  const { values, bitmask } = metadata;
  const named = memberOf(
    listOf(values).find((each) => memberOf(each, 'value') === value),
    'text',
  );
  if (typeof named === 'string') return named;
  if (!Array.isArray(bitmask)) return null;
  const set = listOf(bitmask).filter(
    (each) => Math.floor(value / 2 ** Number(memberOf(each, 'bit'))) % 2 !== 0,
  );
  return set.length === 0 ? '(no bits set)' : set.map((each) => String(memberOf(each, 'text'))).join(', ');
}

/** A sentence if the value is outside its documented range. */
function outside(value: number, { min, max }: JsonObject): string | null {
  // The vehicle keeps 32-bit floats: what rounds to the limit is the limit.
  if (typeof min === 'number' && Math.fround(value) < Math.fround(min)) return `below its minimum of ${min}`;
  return typeof max === 'number' && Math.fround(value) > Math.fround(max)
    ? `above its maximum of ${max}`
    : null;
}

export const paramTools: readonly Tool[] = [
  {
    name: 'params_read_all',
    title: 'Parameters',
    description: 'Parameters of the flight controller, by prefix or part of the name.',
    routes: ['params.get'],
    input: {
      properties: {
        prefix: { type: 'string', maxLength: 16 },
        search: { type: 'string', maxLength: 16 },
        limit: { type: 'integer', minimum: 1, maximum: 2000, default: 200 },
        cursor,
      },
    },
    output: {
      type: 'object',
      required: ['total', 'returned', 'params'],
      properties: {
        total: { type: 'integer' },
        returned: { type: 'integer' },
        params: { type: 'array', items: LISTED },
      },
    },
    idempotent: true,
    run: async (context) => {
      const prefix = upper(context.args['prefix']);
      const search = upper(context.args['search']);
      const found = (await all(context)).filter(
        (each) => each.name.startsWith(prefix) && each.name.includes(search),
      );
      const params = found.slice(0, Number(context.args['limit'] ?? 200));
      return { value: { total: found.length, returned: params.length, params } };
    },
  },
  {
    name: 'params_get',
    title: 'One parameter',
    description: 'The value of one parameter of the flight controller.',
    routes: ['params.name.get'],
    input: { properties: { name }, required: ['name'] },
    output: {
      type: 'object',
      required: ['name', 'found'],
      properties: {
        name: { type: 'string' },
        found: { type: 'boolean' },
        value: { type: ['number', 'null'] },
      },
    },
    idempotent: true,
    run: async ({ ask, args }) => {
      const wanted = String(args['name']);
      try {
        const answer = await ask('params.name.get', { params: { name: wanted } });
        return { value: { name: wanted, found: true, ...answer } };
      } catch (error) {
        if (error instanceof Denial && error.reason === 'not_found')
          return { value: { name: wanted, found: false, value: null } };
        throw error;
      }
    },
  },
  {
    name: 'params_explain',
    title: 'Explain a parameter',
    description: 'What one parameter is for, its range, default and value in words.',
    routes: ['params.name.get'],
    input: { properties: { name }, required: ['name'] },
    output: {
      type: 'object',
      required: ['name', 'metadata', 'current_value'],
      properties: {
        name: { type: 'string' },
        metadata: { type: ['object', 'null'] },
        note: { type: 'string' },
        current_value: { type: ['number', 'null'] },
        default: { type: ['number', 'null'] },
        decoded: { type: 'string', description: 'the value in words' },
      },
    },
    idempotent: true,
    run: async ({ ask, args }) => {
      const wanted = String(args['name']);
      const answer = await ask('params.name.get', { params: { name: wanted } });
      const { value = null, default: initial = null, metadata = null } = answer;
      const decoded = typeof value === 'number' ? inWords(value, metadata ?? {}) : null;
      return {
        value: {
          name: wanted,
          metadata,
          ...(metadata === null ? { note: NO_METADATA } : {}),
          current_value: value,
          default: initial,
          ...(decoded === null ? {} : { decoded }),
        },
      };
    },
  },
  reading(
    {
      name: 'params_diff_from_default',
      title: 'Changed parameters',
      description: 'Parameters that differ from their defaults.',
    },
    'params.changed.get',
  ),
  {
    name: 'params_optimize',
    title: 'Tuning hints',
    description: 'Changed parameters, and which are outside their documented range.',
    routes: ['params.changed.get', 'params.name.get'],
    input: {
      properties: {
        focus: { type: 'string', maxLength: 64, description: 'part of the names, or a word: battery' },
      },
    },
    output: {
      type: 'object',
      required: ['total', 'differs_from_default', 'observations', 'params', 'note'],
      properties: {
        focus: { type: 'string' },
        total: { type: 'integer', description: 'parameters of the vehicle' },
        differs_from_default: { type: 'integer' },
        observations: {
          type: 'array',
          items: {
            type: 'object',
            required: ['name', 'value', 'message'],
            properties: {
              name: { type: 'string' },
              value: { type: 'number' },
              message: { type: 'string' },
            },
          },
        },
        params: { type: 'array', items: { type: 'object' } },
        note: { type: 'string' },
      },
    },
    idempotent: true,
    run: async (context) => {
      const { ask, args } = context;
      const { length: total } = await all(context);
      const { changed = [] } = await ask('params.changed.get');
      const focus = upper(args['focus']);
      const differing = listOf(changed)
        .map(
          (each): Listed => ({
            name: String(memberOf(each, 'name')),
            value: Number(memberOf(each, 'value')),
          }),
        )
        .filter((each) => isAbout(each.name, focus));
      const observations: { name: string; value: number; message: string }[] = [];
      for (const { name: wanted, value } of differing.slice(0, MAX_LOOKED_AT)) {
        const { metadata } = await ask('params.name.get', { params: { name: wanted } });
        const message = outside(value, metadata ?? {});
        if (message !== null) observations.push({ name: wanted, value, message });
      }
      const rest = differing.length - MAX_LOOKED_AT;
      const note = `A value outside its documented range is a question, not a fault.${rest > 0 ? ` ${rest} more changed parameters were not looked at: give a focus.` : ''}`;
      return {
        value: {
          ...(focus === '' ? {} : { focus }),
          total,
          differs_from_default: differing.length,
          observations,
          params: differing,
          note,
        },
      };
    },
  },
  writing(
    {
      name: 'params_set',
      title: 'Set a parameter',
      description:
        'Writes one parameter and reads it back. Fail-safes, arming checks, motors and position sources count as flight.',
    },
    'params.name.post',
    {
      input: { properties: { name, value: { type: 'number' } }, required: ['name', 'value'] },
      params: ({ name: key }) => ({ name: String(key) }),
      body: ({ value }) => ({ value }),
    },
    { idempotent: true },
  ),
];

/** Words whose families of parameters have other names. */
const FAMILIES: Readonly<Record<string, RegExp>> = {
  FAILSAFE: /^(?:FS|AFS|COM|NAV|GF)_/,
  ESTIMATOR: /^(?:EK[23]|EKF2|AHRS)_/,
  ATTITUDE: /^(?:ATC|MC|FW)_/,
  POSITION: /^(?:PSC|MPC|EK[23]_SRC|GPS\d?)_/,
  RADIO: /^RC/,
  BATTERY: /^BAT\d?_/,
  THROTTLE: /^THR_/,
  MOTOR: /^MOT_/,
  MOTORS: /^MOT_/,
};

/** Whether a parameter is about it: by a part of its name, or by a word that its family shortens (BATT_ for battery). */
export function isAbout(parameter: string, focus: string): boolean {
  if (parameter.includes(focus)) return true;
  const word = focus.replaceAll(/[^A-Z0-9]/g, '');
  if (FAMILIES[word]?.test(parameter) === true) return true;
  const [, family = ''] = /^([A-Z]{4,})\d*_/.exec(parameter) ?? [];
  return family !== '' && word.startsWith(family);
}

function upper(text: unknown): string {
  return typeof text === 'string' ? text.toUpperCase() : '';
}
