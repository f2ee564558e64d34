import { setTimeout as delay } from 'node:timers/promises';
import { Denial } from '../denial.ts';
import { name, reading, writing } from './parts.ts';
import { asRecord, pathOf, type Tool, type ToolContext } from './tool.ts';

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
    const { params, priming, progress: done } = asRecord(await ask({ method: 'GET', path: '/api/params' }));
    if (priming !== true) {
      return Object.entries(asRecord(params))
        .map(([key, value]) => ({ name: key, value: Number(value) }))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1));
    }
    const { got = 0, expected = null } = asRecord(done);
    progress(
      Number(got),
      expected === null ? null : Number(expected),
      'the node downloads parameters from the vehicle',
    );
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
const NO_METADATA = 'This build carries no descriptions of parameters; the value is what the vehicle says.';

export const paramTools: readonly Tool[] = [
  {
    name: 'params_read_all',
    title: 'Parameters',
    description: 'Parameters of the flight controller, by prefix or part of the name.',
    routes: ['params.get'],
    input: {
      properties: {
        prefix: { type: 'string', maxLength: 16 },
        search: { type: 'string', maxLength: 16, description: 'part of the name, upper or lower case' },
        limit: { type: 'integer', minimum: 1, maximum: 2000, default: 200 },
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
        const answer = asRecord(
          await ask({ method: 'GET', path: pathOf('params.name.get', { name: wanted }) }),
        );
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
    description: 'What is known about one parameter, and its value.',
    routes: ['params.name.get'],
    input: { properties: { name }, required: ['name'] },
    output: {
      type: 'object',
      required: ['name', 'metadata', 'note', 'currentValue'],
      properties: {
        name: { type: 'string' },
        metadata: { type: 'null' },
        note: { type: 'string' },
        currentValue: { type: ['number', 'null'] },
      },
    },
    idempotent: true,
    run: async ({ ask, args }) => {
      const wanted = String(args['name']);
      const { value = null } = asRecord(
        await ask({ method: 'GET', path: pathOf('params.name.get', { name: wanted }) }),
      );
      return { value: { name: wanted, metadata: null, note: NO_METADATA, currentValue: value } };
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
  reading(
    {
      name: 'params_optimize',
      title: 'Tuning hints',
      description: 'Parameters outside their documented range.',
    },
    'params.changed.get',
    {
      input: { properties: { focus: { type: 'string', maxLength: 64 } } },
      // It needs the tables of that route, and a rule for each range.
      run: async () => Promise.reject(new Denial('not_supported', NO_METADATA)),
    },
  ),
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

function upper(text: unknown): string {
  return typeof text === 'string' ? text.toUpperCase() : '';
}
