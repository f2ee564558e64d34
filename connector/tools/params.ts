import { setTimeout as delay } from 'node:timers/promises';
import { failsafesOf } from '../../shared/flight/failsafes.ts';
import { familyOf } from '../../shared/flight/modes.ts';
import { type JsonObject, listOf, memberOf } from '../../shared/member.ts';
import type { JsonSchema } from '../../shared/schemas/json-schema.ts';
import { Denial } from '../denial.ts';
import { neighboursOf } from '../neighbours.ts';
import type { Told } from '../planes/ask.ts';
import { askedOr } from '../reach-facts.ts';
import { cursor, name, writing } from './parts.ts';
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

const NAME: JsonSchema = { ...name, description: 'as RTL_ALT, in any case' };

export const paramTools: readonly Tool[] = [
  {
    name: 'params_read_all',
    title: 'Parameters',
    description:
      'Parameters of the flight controller: all, some by name, or what was changed from its default.',
    routes: ['params.get', 'params.changed.get'],
    input: {
      properties: {
        prefix: { type: 'string', maxLength: 16, description: 'begin of the name' },
        search: { type: 'string', maxLength: 16, description: 'part of the name' },
        changed: { type: 'boolean', default: false, description: 'not at their defaults' },
        limit: { type: 'integer', minimum: 1, maximum: 2000, default: 200, description: 'parameters' },
        cursor,
      },
    },
    idempotent: true,
    run: async (context) => {
      const { args } = context;
      const prefix = upper(args['prefix']);
      const search = upper(args['search']);
      const known = args['changed'] === true ? await changedOf(context) : await all(context);
      const found = known.filter((each) => each.name.startsWith(prefix) && each.name.includes(search));
      const params = found.slice(0, Number(args['limit'] ?? 200));
      return {
        value: { total: found.length, returned: params.length, params },
        text: [`${params.length} of ${found.length} parameters`, ...params.map(lineOf)].join('\n'),
      };
    },
  },
  {
    name: 'params_get',
    title: 'One parameter',
    description: 'One parameter: its value in figures and words, default, range, what it is for.',
    routes: ['params.name.get', 'params.get'],
    input: { properties: { name: NAME }, required: ['name'] },
    idempotent: true,
    run: async (context) => {
      const wanted = upper(context.args['name']);
      try {
        const answer = await context.ask('params.name.get', { params: { name: wanted } });
        const { value = null, metadata = null } = answer;
        const decoded = typeof value === 'number' ? inWords(value, metadata ?? {}) : null;
        return {
          value: {
            name: wanted,
            found: true,
            ...answer,
            ...(decoded === null ? {} : { decoded }),
            ...(metadata === null ? { note: NO_METADATA } : {}),
          },
        };
      } catch (error) {
        if (!(error instanceof Denial) || error.reason !== 'not_found') throw error;
        const near = neighboursOf(
          wanted,
          (await all(context)).map((each) => each.name),
        );
        const hint = near.length === 0 ? '' : ` Near it: ${near.join(', ')}.`;
        return {
          value: { name: wanted, found: false, value: null, near },
          text: `The vehicle has no parameter ${wanted}.${hint}`,
        };
      }
    },
  },
  {
    name: 'params_optimize',
    title: 'Check the parameters',
    description:
      'What speaks for a look: failsafes and arming checks that are off, changed parameters outside their documented range.',
    routes: ['params.get', 'params.changed.get', 'params.name.get'],
    besides: ['telemetry.get'],
    input: {
      properties: {
        focus: { type: 'string', maxLength: 64, description: 'part of the names, or a word: battery' },
      },
    },
    idempotent: true,
    run: async (context) => {
      const { ask, args } = context;
      const known = await all(context);
      const focus = upper(args['focus']);
      const inFocus = (each: { readonly name: string }): boolean => focus === '' || isAbout(each.name, focus);
      const differing = (await changedOf(context)).filter(inFocus);
      const observations = [...safetyOff(known, await askedOr(ask, 'telemetry.get'))].filter(inFocus);
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
          total: known.length,
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
        'Writes one parameter and reads it back. Failsafes, arming checks, motors and position sources count as flight.',
    },
    ['params.name.post'],
    {
      input: {
        properties: { name: NAME, value: { type: 'number', description: 'in the unit of params_get' } },
        required: ['name', 'value'],
      },
      params: ({ name: key }) => ({ name: upper(key) }),
      body: ({ value }) => ({ value }),
    },
    { idempotent: true },
  ),
];

interface Changed extends Listed {
  readonly default: number | null;
}

async function changedOf({ ask }: ToolContext): Promise<readonly Changed[]> {
  const { changed = [] } = await ask('params.changed.get');
  return listOf(changed).map((each) => {
    const initial = memberOf(each, 'default');
    return {
      name: String(memberOf(each, 'name')),
      value: Number(memberOf(each, 'value')),
      default: typeof initial === 'number' ? initial : null,
    };
  });
}

function lineOf(each: Listed | Changed): string {
  const initial = 'default' in each && each.default !== null ? ` (default ${each.default})` : '';
  return `${each.name} ${each.value}${initial}`;
}

/** What of the safety net does nothing: failsafes, and the checks before arming. */
function safetyOff(
  known: readonly Listed[],
  { autopilot, mav_type: type }: Told<'telemetry.get'>,
): readonly { readonly name: string; readonly value: number; readonly message: string }[] {
  const values = new Map(known.map((each) => [each.name, each.value]));
  const valueOf = (param: string): number | null => values.get(param) ?? null;
  const family = typeof autopilot === 'number' && typeof type === 'number' ? familyOf(autopilot, type) : null;
  const failsafes = family === null ? [] : failsafesOf(family, valueOf);
  return [
    ...CHECKS_OFF.flatMap(({ param, isOff, message }) => {
      const value = valueOf(param);
      return value !== null && isOff(value) ? [{ name: param, value, message }] : [];
    }),
    ...known
      .filter((each) => each.name.startsWith('CBRK_') && each.value !== 0)
      .map((each) => ({ ...each, message: 'a circuit breaker: this protection is off' })),
    ...failsafes
      .filter(({ off }) => off)
      .map(({ failure, param, value }) => ({
        name: param,
        value,
        message: `the failsafe does nothing: ${failure}`,
      })),
  ];
}

/** ArduPilot, to 4.6 (bits that are checked; bit 0: all) and since 4.7 (bits that are skipped): libraries/AP_Arming. */
const CHECKS_OFF: readonly {
  readonly param: string;
  readonly isOff: (value: number) => boolean;
  readonly message: string;
}[] = [
  { param: 'ARMING_CHECK', isOff: (value) => value === 0, message: 'nothing is checked before it arms' },
  {
    param: 'ARMING_CHECK',
    isOff: (value) => value !== 0 && value % 2 === 0,
    message: 'some checks before arming are off',
  },
  { param: 'ARMING_SKIPCHK', isOff: (value) => value !== 0, message: 'checks before arming are skipped' },
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
