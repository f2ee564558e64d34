import type { FromSchema } from 'json-schema-to-ts';
import { SCOPES } from '../auth/scopes.ts';
import { STATEMENTS } from '../schemas/fleet-statements.ts';
import { MAX_CALL_BYTES } from './told.ts';

/**
 * The HTTP API of svc-hub, as its callers see it: nodes that enrol, connectors, the page. Paths are in docs/contract/fleet.md. Errors
 * have the node's form `{code, detail}`.
 */

/** The connector's own public key (JWK, base64url of its JSON) and a request for a client certificate (DER, base64url). */
export const CALLER_KEY_HEADER = 'x-svc-caller-key';
export const CALLER_CSR_HEADER = 'x-svc-caller-csr';

/** No control character and no half of a character (PostgreSQL stores no NUL; RFC 9839 says which else to keep out of a text). */
export const STORED_TEXT = '^[^\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff]*$';

/** A tag, or the name of a group. */
const TAG = '[a-z0-9][a-z0-9._-]{0,31}';

const id = STATEMENTS['svc-renew'].properties.node;
const pem = { type: 'string', maxLength: 16_384 } as const;
const text = { type: 'string', maxLength: 128 } as const;
const scopes = STATEMENTS['svc-machine-token'].properties.scopes;
const nodes = STATEMENTS['svc-machine-token'].properties.nodes;
const time = { type: 'integer', description: 'ms since 1970' } as const;
const brokerWs = {
  type: 'string',
  maxLength: 500,
  description: 'wss://host:port/path: the same broker by WebSocket, for networks that let only 443 through',
} as const;
const jws = { type: 'string', maxLength: 1_000_000, description: 'compact JWS' } as const;

const tag = { type: 'string', pattern: `^${TAG}$`, examples: ['north'] } as const;
/** Of one node. */
export const MAX_TAGS = 32;
const tags = { type: 'array', items: tag, maxItems: MAX_TAGS, uniqueItems: true } as const;
const group = {
  ...tag,
  type: ['string', 'null'],
  description: 'the one that it belongs to; null: none',
} as const;

/** What gives rights on nodes, of a person or a machine; `group:x`: on those of group x. */
export const grantTags = {
  type: 'array',
  items: { type: 'string', pattern: `^(?:group:)?${TAG}$`, examples: ['north', 'group:survey'] },
  maxItems: 64,
  uniqueItems: true,
  description: 'also every node with one of these tags, now and later; `group:x`: of the group x',
} as const;

/** POST /v1/nodes/{id}/tags: what the node has from now on. */
export const nodeTags = {
  type: 'object',
  required: ['tags', 'group'],
  properties: { tags, group },
  additionalProperties: false,
} as const;

/** POST /v1/enroll; the one-time secret is the credential. */
export const enrollRequest = {
  type: 'object',
  required: ['secret', 'device_id', 'name', 'profile', 'version', 'csr', 'signing_key'],
  properties: {
    secret: { type: 'string', pattern: '^[0-9a-f]{32}$' },
    device_id: id,
    name: { ...text, format: 'shown-name' },
    profile: { enum: ['drone', 'ground-station'] },
    version: { ...text, pattern: STORED_TEXT },
    csr: {
      ...pem,
      description: 'PKCS #10 for the client certificate, ECDSA P-256, PEM; its subject is not used',
    },
    signing_key: STATEMENTS['svc-machine-token'].properties.cnf.properties.jwk,
  },
  additionalProperties: false,
} as const;

/** The answer to enrolling and to renewing. */
export const enrolled = {
  type: 'object',
  required: ['fleet', 'node', 'broker', 'ca', 'certificate', 'policy'],
  properties: {
    fleet: id,
    node: id,
    broker: { type: 'string', description: 'mqtts://host:port' },
    broker_ws: brokerWs,
    ca: { ...pem, description: "of the broker's and the nodes' certificates" },
    certificate: pem,
    policy: jws,
  },
  additionalProperties: false,
} as const;

/** POST /v1/renew: a `svc-renew` statement by the node. */
export const renewRequest = {
  type: 'object',
  required: ['statement'],
  properties: { statement: jws },
  additionalProperties: false,
} as const;

/** The ways to one TURN server, the best first, as in `video.ice.servers`. */
export const turnUrls = {
  type: 'array',
  minItems: 1,
  maxItems: 4,
  uniqueItems: true,
  items: { type: 'string', format: 'ice-url', maxLength: 256 },
} as const;

/** The answer to POST /v1/turn, for a `svc-turn` statement by the node; no servers: the fleet has none. */
export const turnGrant = {
  type: 'object',
  required: ['ice_servers', 'ttl_s'],
  properties: {
    ice_servers: {
      type: 'array',
      maxItems: 4,
      items: {
        type: 'object',
        required: ['urls', 'username', 'credential'],
        properties: {
          urls: turnUrls,
          username: { type: 'string', pattern: '^[!-~]{1,128}$' },
          credential: { type: 'string', pattern: '^[!-~]{1,256}$' },
        },
        additionalProperties: false,
      },
    },
    ttl_s: { type: 'integer', minimum: 60, maximum: 7 * 24 * 3600, description: 'seconds until they end' },
  },
  additionalProperties: false,
} as const;

/** GET /api/mcp/session, with a machine credential as bearer. */
export const callerSession = {
  type: 'object',
  required: [
    'id',
    'operator',
    'fleet',
    'scopes',
    'nodes',
    'broker',
    'ca',
    'certificate',
    'token',
    'expires_at',
  ],
  properties: {
    id: { type: 'string', description: 'the caller at the broker' },
    operator: text,
    fleet: id,
    scopes,
    nodes,
    broker: { type: 'string' },
    broker_ws: brokerWs,
    ca: pem,
    certificate: pem,
    token: jws,
    expires_at: time,
  },
  additionalProperties: false,
} as const;

/** POST /v1/me/token: the public key that signs this person's calls, made in their browser. */
export const personTokenRequest = {
  type: 'object',
  required: ['key'],
  properties: {
    key: STATEMENTS['svc-machine-token'].properties.cnf.properties.jwk,
    nodes: {
      type: 'array',
      items: id,
      maxItems: 100,
      uniqueItems: true,
      description: 'for these alone, as far as the person sees them; without it for all that they see',
    },
  },
  additionalProperties: false,
} as const;

/** Its answer: a machine token for that key, with the person's own scopes and nodes. */
export const personToken = {
  type: 'object',
  required: ['id', 'fleet', 'scopes', 'nodes', 'token', 'expires_at'],
  properties: {
    id: { type: 'string', description: 'the caller, as nodes name it' },
    fleet: id,
    scopes,
    nodes,
    token: jws,
    expires_at: time,
  },
  additionalProperties: false,
} as const;

/** POST /v1/nodes/{id}/calls: a `svc-call` statement, signed by whoever asks. The hub carries it. */
export const carryRequest = {
  type: 'object',
  required: ['call'],
  properties: {
    call: {
      type: 'string',
      minLength: 1,
      maxLength: MAX_CALL_BYTES,
      pattern: '^[A-Za-z0-9_.-]+$',
      description: 'compact JWS',
    },
    timeout_ms: {
      type: 'integer',
      minimum: 1000,
      maximum: 130_000,
      description: 'how long the reply is waited for; 30 000 without it',
    },
  },
  additionalProperties: false,
} as const;

/** Its answer: the node's `svc-reply` statement, for whoever asked to verify. */
export const carriedReply = {
  type: 'object',
  required: ['reply'],
  properties: { reply: { ...jws, description: 'compact JWS, by the key that the hub lists for the node' } },
  additionalProperties: false,
} as const;

/** By the hub's clock: the node's own may be wrong, and what is shown must not look newer than it is. */
const receivedAt = {
  ...time,
  type: ['integer', 'null'],
  description: 'when the hub received it, ms since 1970; null: not, or not since it knows',
} as const;

/** One of GET /v1/nodes, and the data of an event of GET /v1/nodes/stream. */
export const nodeEntry = {
  type: 'object',
  required: [
    'id',
    'name',
    'profile',
    'version',
    'enrolled_at',
    'signing_key',
    'online',
    'seen_at',
    'status',
    'alarm',
  ],
  properties: {
    id,
    name: text,
    profile: { enum: ['drone', 'ground-station'] },
    version: text,
    enrolled_at: time,
    signing_key: STATEMENTS['svc-machine-token'].properties.cnf.properties.jwk,
    online: { type: 'boolean' },
    seen_at: {
      ...time,
      type: ['integer', 'null'],
      description: 'when the hub last heard of it, ms since 1970',
    },
    status: { type: ['object', 'null'], description: 'its newest status' },
    status_at: receivedAt,
    telemetry: { type: ['object', 'null'], description: 'only in GET /v1/nodes/{id}' },
    telemetry_at: receivedAt,
    alarm: {
      type: ['string', 'null'],
      description: 'what a person must look at: its key is on two machines, …',
    },
    tags,
    group,
  },
  additionalProperties: false,
} as const;

/** POST /v1/credentials. */
export const credentialRequest = {
  type: 'object',
  required: ['label', 'scopes'],
  properties: {
    label: { ...text, pattern: STORED_TEXT },
    scopes: { ...scopes, items: { enum: SCOPES } },
    nodes,
    tags: grantTags,
  },
  additionalProperties: false,
} as const;

type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;
export type EnrollRequest = Frozen<FromSchema<typeof enrollRequest>>;
export type Enrolled = Frozen<FromSchema<typeof enrolled>>;
export type TurnGrant = FromSchema<typeof turnGrant>;
export type CallerSession = Frozen<FromSchema<typeof callerSession>>;
export type PersonToken = Frozen<FromSchema<typeof personToken>>;
export type NodeTags = Frozen<FromSchema<typeof nodeTags>>;
export type NodeEntry = Frozen<FromSchema<typeof nodeEntry>>;
