import type { Feature } from '../profile.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';
import { forceQuery } from '../schemas/no-body.ts';
import { bodySchema } from './body-schema.ts';
import { exampleOf } from './example.ts';
import type { Row } from './row.ts';

/** The words and examples of a row, for OpenAPI and docs/routes.md, all from the row and its schemas. */

export const FEATURE_WORDS: Readonly<Record<Feature, string>> = {
  core: 'The node itself: state, services, time, update.',
  pairing: 'Who may use the node: pairing, PIN, sessions, tickets.',
  mcp: 'Tokens of AI clients.',
  config: 'The configuration.',
  flight: 'The vehicle: commands, telemetry, parameters, missions, calibration.',
  fleet: "The node's fleet.",
  radio: 'The radio between drone and ground station.',
  network: 'Wi-Fi, wired network, hotspot.',
  video: 'Camera, pictures, recordings.',
  whep: 'The picture in a browser, by WebRTC.',
  plugins: 'Extensions.',
  peripherals: 'Devices connected to the computer.',
  vision: 'The detector and its models.',
  logs: 'Logs, events, metrics, the audit.',
  setup: 'The first set-up.',
  dashboard: "The node's own page, and its maps.",
  'ground-station': 'Routes that only a ground station has.',
};

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example: unknown;
}

/** Of path and query, in their order. */
export function parametersOf(row: Row): readonly Parameter[] {
  const inPath = Object.entries(row.params).map(
    ([name, { pattern, description, example }]): Parameter => ({
      name,
      in: 'path',
      required: true,
      description,
      schema: { type: 'string', pattern: `^(?:${pattern})$` },
      example,
    }),
  );
  const guarded = row.armed === 'guard' && row.bodyKind === 'none' && row.method !== 'WS';
  const force: Readonly<Record<string, JsonSchema>> = guarded ? { force: forceQuery } : {};
  const members = Object.entries({ ...force, ...row.query?.properties }).filter(isDescribed);
  const inQuery = members.map(
    ([name, { description = '', examples: _examples, ...schema }]): Parameter => ({
      name,
      in: 'query',
      required: row.query?.required?.includes(name) ?? false,
      description,
      schema,
      example: exampleOf(members.find(([one]) => one === name)?.[1], name),
    }),
  );
  return [...inPath, ...inQuery];
}

/** @returns undefined for a row without a JSON body */
export function bodyExample(row: Row): unknown {
  const schema = bodySchema(row);
  return schema === null ? undefined : exampleOf(schema);
}

/** @returns undefined for an answer that is not JSON */
export function answerExample(row: Row): unknown {
  const answer = Object.entries(row.responses).find(([status]) => status < '300')?.[1];
  return answer?.schema === undefined || answer.schema === null ? undefined : exampleOf(answer.schema);
}

/** In whole sentences: what it does, who may, what refuses it, how large and how long. */
export function descriptionOf(row: Row): string {
  const says = [
    sentence(row.summary),
    access(row),
    row.names.length > 0 ? 'Items that the request names may need a higher class.' : '',
    GUARDS[row.armed],
    row.relay === 'forbid' ? "Not through a ground station's relay." : '',
    row.profiles === 'D' ? 'Drones only.' : row.profiles === 'G' ? 'Ground stations only.' : '',
    row.bodyKind === 'none' ? '' : `The body has at most ${bytes(row.limits.bodyBytes)}.`,
    row.limits.timeoutMs > 30_000 ? `It may take up to ${row.limits.timeoutMs / 1000} s.` : '',
    row.long
      ? 'With `Accept: text/event-stream` it answers 200 at once and sends events: `progress {done, total, text}`, and at the end `result {status, body}` with the plain answer.'
      : '',
    row.method === 'WS' ? `A WebSocket; the scope of its ticket is \`${row.ticket ?? ''}\`.` : '',
    row.built ? '' : 'This version answers 501.',
  ];
  return says.filter((one) => one !== '').join(' ');
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

const GUARDS: Readonly<Record<Row['armed'], string>> = {
  '-': '',
  guard: 'Refused while the vehicle is armed or its state is unknown, unless forced.',
  'guard-if-link':
    'For a unit that carries the link: refused while the vehicle is armed or its state is unknown, unless forced.',
  'guard-if-profile':
    'For a key with `x-armed: guard`: refused while the vehicle is armed or its state is unknown, unless forced.',
  inner: 'The drone applies its own armed guard.',
};

function access({ access: who, scope, onBox, nearOnly, tlsOnly, orKey }: Row): string {
  const trusted = onBox ? ' A trusted process on the node itself needs none.' : '';
  switch (who) {
    case 'public':
      return nearOnly
        ? "Needs no credential in the operator's own networks."
        : `Needs no credential.${orKey ? ' The pairing key can replace the body.' : ''}${tlsOnly ? ' Only by HTTPS, or on the node itself.' : ''}`;
    case 'keyonly':
      return `Needs the pairing key.${trusted}`;
    case 'key':
    case 'ws': {
      const ticket = who === 'ws' ? ['a ticket'] : [];
      const token =
        scope === 'inner' ? 'a token with the class of the route inside' : `a token with \`${scope}\``;
      const all = ['the pairing key', 'a dashboard session', ...(scope === 'none' ? [] : [token]), ...ticket];
      const no = scope === 'none' ? ' Tokens are refused.' : '';
      return `Needs ${all.slice(0, -1).join(', ')} or ${all.at(-1) ?? ''}.${no}${trusted}`;
    }
  }
}

function bytes(count: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB'];
  const power = Math.floor(Math.log2(count) / 10);
  return `${count / 1024 ** power} ${units[power] ?? ''}`;
}

function isDescribed(member: readonly [string, JsonSchema | boolean]): member is [string, JsonSchema] {
  return typeof member[1] !== 'boolean';
}
