import type { FromSchema } from 'json-schema-to-ts';
import { SCOPES } from '../auth/scopes.ts';
import { credentialRequest, grantTags, nodeEntry, nodeTags, STORED_TEXT } from '../fleet/hub-api.ts';
import { NODE_ORDERS, NODE_STATES } from '../fleet/node-state.ts';
import { mapSource } from '../schemas/maps.ts';

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

const DEGREES = '-?[0-9]{1,3}(?:\\.[0-9]{1,9})?';
const bbox = {
  type: 'string',
  pattern: `^${DEGREES}(?:,${DEGREES}){3}$`,
  maxLength: 100,
  examples: ['170,-50,-170,-30'],
  description: 'west,south,east,north in degrees; west above east goes across the date line',
} as const;
const { tags, group } = nodeTags.properties;
/** Which nodes. */
const filters = {
  q: { type: 'string', maxLength: 128, description: 'a part of the id or the name, in any case' },
  state: {
    enum: NODE_STATES,
    description: '`armed`: or not known; `attention`: an alarm, a low battery, silence, …',
  },
  tag: tags.items,
  group: { type: 'string', pattern: group.pattern },
  bbox,
  profile: nodeEntry.properties.profile,
} as const;

export const codeQuery = object(
  { node: { ...id, description: 'which is enrolled: the code lets it, and nobody else, enrol again' } },
  [],
);

export const nodesQuery = object(
  {
    cursor: {
      type: 'string',
      pattern: '^[A-Za-z0-9_-]{1,2500}$',
      description: '`next` of the page before, asked for in the same way',
    },
    limit: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
    order: {
      enum: NODE_ORDERS,
      default: 'id',
      description: '`oldest`: not heard for the longest; `newest`: enrolled last; `battery`: the lowest',
    },
    ...filters,
  },
  ['limit', 'order'],
);
export const clustersQuery = object(
  {
    ...filters,
    zoom: {
      type: 'number',
      minimum: 0,
      maximum: 22,
      default: 0,
      description: 'of a map whose world is 512 px wide at 0',
    },
  },
  ['zoom'],
);
const degrees = { type: 'number', minimum: -180, maximum: 180 } as const;
const cluster = object(
  {
    count,
    online: count,
    alarms: count,
    attention: { ...count, description: 'that need somebody' },
    lat: degrees,
    lon: degrees,
    bounds: { ...list(degrees), description: 'west, south, east, north of what it has' },
    node: {
      anyOf: [
        { type: 'null' },
        object(
          {
            id,
            name: { type: 'string' },
            heading: { type: ['number', 'null'], description: 'degrees from north' },
            phase: { enum: ['flying', 'armed', 'ground', 'unknown', 'away'] },
            attention: { enum: ['alarm', 'wasArmed', 'armedUnknown', 'lowBattery', 'silent', null] },
            fresh: { type: 'boolean', description: 'whether its place is of now' },
          },
          ['id', 'name', 'heading', 'phase', 'attention', 'fresh'],
        ),
      ],
      description: 'the only one of its cell; null: there are more',
    },
  },
  ['count', 'online', 'alarms', 'attention', 'lat', 'lon', 'bounds', 'node'],
);
export const clusterList = object(
  {
    zoom: { ...count, description: 'of the cells: less than asked for where there would be too many' },
    total: { ...count, description: 'how many fit' },
    placed: { ...count, description: 'how many of them have told a place' },
    cells: list(cluster),
  },
  ['zoom', 'total', 'placed', 'cells'],
);
export const tagList = object(
  {
    tags: {
      ...list(object({ tag: grantTags.items, nodes: count }, ['tag', 'nodes'])),
      description: 'the most frequent first, at most 500; `group:x`: the group x',
    },
  },
  ['tags'],
);
export const streamQuery = object(
  {
    nodes: {
      type: 'string',
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}(?:,[A-Za-z0-9][A-Za-z0-9._-]{0,63}){0,199}$',
      maxLength: 13_000,
      description: 'only these, their ids separated by commas, at most 200; without it all',
    },
  },
  [],
);
export const nodeList = object(
  {
    nodes: list(nodeEntry),
    total: { ...count, description: 'how many fit, on all pages' },
    next: { ...textOrNull, description: '`cursor` of the next page; null on the last' },
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
const untilSignedOut = {
  group: {
    ...textOrNull,
    description: 'of the provider, which gave the rights; null for an operator of the hub',
  },
  expires_at: { ...timeOrNull, description: 'when the sign-in ends, ms since 1970; null: it does not' },
} as const;
export const operatorList = object(
  {
    operators: list(
      object({ ...held, name: label, ...untilSignedOut }, [
        'id',
        'name',
        'scopes',
        'nodes',
        'tags',
        'made_at',
        'group',
        'expires_at',
      ]),
    ),
  },
  ['operators'],
);
export const signInAnswer = object(
  {
    provider: {
      anyOf: [
        { type: 'null' },
        object(
          {
            name: { type: 'string' },
            page_url: { type: 'string' },
            issuer: { type: 'string' },
            scopes: {
              type: 'array',
              items: { type: 'string' },
              description: 'of OAuth, that sign-ins ask for',
            },
            resources: {
              type: 'array',
              items: { type: 'string' },
              description: 'for which access tokens of the issuer are taken',
            },
          },
          ['name', 'page_url', 'issuer', 'scopes', 'resources'],
        ),
      ],
      description: 'what to sign in with, and the address of the page that can; null: there is none',
    },
  },
  ['provider'],
);
export const signInBegun = object(
  { url: { type: 'string', description: 'of the provider; it sends the browser back to the page' } },
  ['url'],
);
export const signInRequest = object(
  {
    answer: {
      type: 'string',
      minLength: 1,
      maxLength: 8192,
      pattern: '^[\\x21-\\x7e]*$',
      description: 'the query with which the provider sent the browser back, without the question mark',
    },
  },
  ['answer'],
);
export const signInToken = object(
  {
    token: {
      type: 'string',
      minLength: 1,
      maxLength: 16_384,
      pattern: '^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$',
      description: 'an access token as a JWT (RFC 9068), compact',
    },
    resource: {
      type: 'string',
      maxLength: 500,
      description: 'that it must be for: one of the provider’s `resources`',
    },
  },
  ['token', 'resource'],
);
export const signedIn = object({ id: held.id, credential: secret, ...untilSignedOut }, [
  'id',
  'credential',
  'group',
  'expires_at',
]);
export const ended = object({ ended: { type: 'string', description: 'its id' } }, ['ended']);

export const meAnswer = object(
  {
    kind: { enum: ['operator', 'machine'] },
    id: { type: 'string' },
    name: { type: 'string' },
    scopes,
    nodes,
    tags: grantTags,
    expires_at: untilSignedOut.expires_at,
    fleet: id,
    fleet_name: { type: 'string' },
  },
  ['kind', 'id', 'name', 'scopes', 'nodes', 'tags', 'expires_at', 'fleet', 'fleet_name'],
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
    drones: count,
    online: count,
    alarms: count,
    armed: { ...count, description: 'or not known' },
    attention: { ...count, description: 'that need somebody' },
    phases: object({ flying: count, armed: count, ground: count, unknown: count, away: count }, [
      'flying',
      'armed',
      'ground',
      'unknown',
      'away',
    ]),
    away_since: {
      ...timeOrNull,
      description: 'when the last of those that are away was heard, ms since 1970',
    },
    policy_seq: count,
    dropped: object(
      {
        unknown: { ...count, description: 'messages of nodes that are not enrolled, since the start' },
        malformed: { ...count, description: 'messages that are not what they should be, since the start' },
      },
      ['unknown', 'malformed'],
    ),
  },
  [
    'fleet',
    'name',
    'version',
    'broker',
    'nodes',
    'drones',
    'online',
    'alarms',
    'armed',
    'attention',
    'phases',
    'away_since',
    'policy_seq',
    'dropped',
  ],
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

/** GET /readyz */
export const readyAnswer = object(
  { ready: { const: true }, name: { type: 'string', description: 'of this replica, at the broker' } },
  ['ready', 'name'],
);

export type NodesQuery = FromSchema<typeof nodesQuery>;
export type ClustersQuery = FromSchema<typeof clustersQuery>;
export type StreamQuery = FromSchema<typeof streamQuery>;
export type LiveQuery = FromSchema<typeof liveQuery>;
export type EventsQuery = FromSchema<typeof eventsQuery>;

export const mapSources = object({ sources: list(mapSource) }, ['sources']);
const tilePart = { type: 'integer', minimum: 0, maximum: 2 ** 22 - 1 } as const;
export const tileQuery = object({ z: { ...tilePart, maximum: 22 }, x: tilePart, y: tilePart }, [
  'z',
  'x',
  'y',
]);
