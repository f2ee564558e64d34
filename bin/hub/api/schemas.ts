import type { FromSchema } from 'json-schema-to-ts';
import { SCOPES } from '../../../shared/auth/scopes.ts';
import { credentialRequest, grantTags, nodeEntry, STORED_TEXT } from '../../../shared/fleet/hub-api.ts';

/** Bodies and answers of the hub's own API, beside those of shared/fleet/hub-api.ts. Times are ms since 1970. */

function object<const P, const R extends readonly (keyof P & string)[]>(properties: P, required: R) {
  return { type: 'object', required, properties, additionalProperties: false } as const;
}
function list<const I>(items: I) {
  return { type: 'array', items } as const;
}

const id = nodeEntry.properties.id;
const time = { type: 'integer', description: 'ms since 1970' } as const;
const timeOrNull = { ...time, type: ['integer', 'null'] } as const;
const count = { type: 'integer', minimum: 0 } as const;
const label = { type: 'string', minLength: 1, maxLength: 128, pattern: STORED_TEXT } as const;
const textOrNull = { type: ['string', 'null'] } as const;
const { scopes, nodes } = credentialRequest.properties;
const secret = { type: 'string', description: 'shown this once' } as const;

export const nodesQuery = object(
  {
    after: { ...id, description: 'the id after which the list goes on' },
    limit: { type: 'integer', minimum: 1, maximum: 10_000, default: 1000 },
    q: { type: 'string', maxLength: 128, description: 'a part of the id or the name, in any case' },
    online: { type: 'boolean' },
    alarm: { type: 'boolean', description: 'only those with one, or without' },
    profile: nodeEntry.properties.profile,
  },
  ['limit'],
);
export const nodeList = object(
  {
    nodes: list(nodeEntry),
    total: { ...count, description: 'how many fit, on all pages' },
    next: { ...textOrNull, description: '`after` of the next page; null on the last' },
  },
  ['nodes', 'total', 'next'],
);

export const liveQuery = object(
  {
    nodes: {
      type: 'string',
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}(?:,[A-Za-z0-9][A-Za-z0-9._-]{0,63}){0,15}$',
      description: 'their ids, separated by commas, at most 16',
    },
    telemetry_hz: {
      type: 'number',
      minimum: 0,
      maximum: 10,
      default: 5,
      description: 'messages a second; each node decides (fleet.watched_hz)',
    },
    pictures_hz: {
      type: 'number',
      minimum: 0,
      maximum: 5,
      default: 0,
      description: 'small pictures a second; each node decides (fleet.pictures)',
    },
  },
  ['nodes', 'telemetry_hz', 'pictures_hz'],
);
export const eventsQuery = object(
  {
    node: id,
    after: {
      type: 'integer',
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'an `id`; without it the newest are answered',
    },
    limit: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
  },
  ['limit'],
);
const storedEvent = object(
  {
    id: { ...count, description: 'of the hub: in the order in which it has stored them' },
    node: id,
    stream: { type: 'string' },
    seq: count,
    at: { ...time, description: "by the node's clock, ms since 1970" },
    received_at: time,
    kind: { type: 'string' },
    detail: { type: 'object' },
  },
  ['id', 'node', 'stream', 'seq', 'at', 'received_at', 'kind', 'detail'],
);
export const eventList = object(
  { events: list(storedEvent), last: { ...count, description: '`after` of the next request' } },
  ['events', 'last'],
);

export const codeAnswer = object({ code: secret, expires_at: time }, ['code', 'expires_at']);

const held = { id: { type: 'string' }, scopes, nodes, tags: grantTags, made_at: time } as const;
const credential = {
  ...held,
  label,
  operator: { type: 'string', description: 'who made it' },
  used_at: timeOrNull,
  bound: { type: 'boolean', description: 'whether a key has used it' },
} as const;
export const credentialList = object(
  {
    credentials: list(
      object(credential, [
        'id',
        'label',
        'operator',
        'scopes',
        'nodes',
        'tags',
        'made_at',
        'used_at',
        'bound',
      ]),
    ),
  },
  ['credentials'],
);
export const credentialMade = object({ id: held.id, credential: secret }, ['id', 'credential']);

export const operatorRequest = object(
  { name: label, scopes: { ...scopes, items: { enum: SCOPES } }, nodes, tags: grantTags },
  ['name', 'scopes'],
);
export const operatorList = object(
  { operators: list(object({ ...held, name: label }, ['id', 'name', 'scopes', 'nodes', 'tags', 'made_at'])) },
  ['operators'],
);
export const ended = object({ ended: { type: 'string', description: 'its id' } }, ['ended']);

export const meAnswer = object(
  {
    kind: { enum: ['operator', 'machine'] },
    id: { type: 'string' },
    name: { type: 'string' },
    scopes,
    nodes,
    tags: grantTags,
    fleet: id,
    fleet_name: { type: 'string' },
  },
  ['kind', 'id', 'name', 'scopes', 'nodes', 'tags', 'fleet', 'fleet_name'],
);

export const fleetAnswer = object(
  {
    fleet: id,
    name: { type: 'string' },
    version: { type: 'string' },
    broker: object({ url: { type: 'string' }, connected: { type: 'boolean' }, problem: textOrNull }, [
      'url',
      'connected',
      'problem',
    ]),
    nodes: count,
    online: count,
    alarms: count,
    policy_seq: count,
    dropped: object(
      {
        unknown: { ...count, description: 'messages of nodes that are not enrolled, since the start' },
        malformed: { ...count, description: 'messages that are not what they should be, since the start' },
      },
      ['unknown', 'malformed'],
    ),
  },
  ['fleet', 'name', 'version', 'broker', 'nodes', 'online', 'alarms', 'policy_seq', 'dropped'],
);

export const auditQuery = object({ limit: { type: 'integer', minimum: 1, maximum: 1000, default: 200 } }, [
  'limit',
]);
export const auditAnswer = object({ records: { ...list({ type: 'object' }), description: 'newest first' } }, [
  'records',
]);
export const auditVerdict = object(
  { ok: { type: 'boolean' }, head_not_checked: textOrNull, files: list({ type: 'object' }) },
  ['ok', 'head_not_checked', 'files'],
);
export const healthAnswer = object(
  {
    ok: { type: 'boolean' },
    version: { type: 'string' },
    broker: { type: 'boolean' },
    disk: { type: 'boolean', description: 'it took what was written to it within the last 2 s' },
    problem: { ...textOrNull, description: 'what is wrong with the disk' },
  },
  ['ok', 'version', 'broker', 'disk', 'problem'],
);

export type NodesQuery = FromSchema<typeof nodesQuery>;
export type LiveQuery = FromSchema<typeof liveQuery>;
export type EventsQuery = FromSchema<typeof eventsQuery>;
