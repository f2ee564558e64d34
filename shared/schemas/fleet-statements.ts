import type { FromSchema } from 'json-schema-to-ts';
import { SCOPES } from '../auth/scopes.ts';
import type { JsonSchema } from './json-schema.ts';
import { NONCE_MS } from './nonce.ts';

/**
 * What is said under a signature in a fleet (docs/contract/fleet.md). Each is a compact JWS (RFC 7515), alg Ed25519, whose header
 * has the `typ` of the statement, so that none can be taken for another.
 */

const id = { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' } as const;
/** `<boot>.<n>` of the node that is called. */
const nonce = { type: 'string', pattern: '^[A-Za-z0-9_-]{8,32}\\.[0-9]{1,10}$' } as const;
/** Names one call of one caller. */
const jti = { type: 'string', pattern: '^[A-Za-z0-9_-]{16,64}$' } as const;
/** For how long after its nonce was made a call may begin, ms: then its caller has given up, whoever held it up on its way. */
const within = { type: 'integer', minimum: 0, maximum: NONCE_MS } as const;
const method = { enum: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] } as const;
const path = { type: 'string', minLength: 1, maxLength: 2048, pattern: '^/' } as const;
const seconds = { type: 'integer', minimum: 0, description: 'since 1970' } as const;
/** RFC 8037: an Ed25519 public key. */
export const publicJwk = {
  type: 'object',
  required: ['kty', 'crv', 'x'],
  properties: {
    kty: { const: 'OKP' },
    crv: { const: 'Ed25519' },
    x: { type: 'string', pattern: '^[A-Za-z0-9_-]{43}$', format: 'ed25519-key' },
  },
  additionalProperties: false,
} as const;

function statement<const P, const R extends readonly (keyof P & string)[]>(properties: P, required: R) {
  return { type: 'object', required, properties, additionalProperties: false } as const;
}

export const STATEMENTS = {
  /** By a caller. Its header also has `token`, a machine token, and `confirm` where a person has confirmed the call. */
  'svc-call': statement({ method, path, body: {}, node: id, nonce, within_ms: within, jti }, [
    'method',
    'path',
    'node',
    'nonce',
    'within_ms',
    'jti',
  ]),
  /** By the hub: what the caller with the key `cnf` may ask for. `nodes` null: every node. */
  'svc-machine-token': statement(
    {
      sub: id,
      fleet: id,
      scopes: { type: 'array', items: { enum: SCOPES }, minItems: 1, maxItems: 6, uniqueItems: true },
      nodes: { anyOf: [{ type: 'null' }, { type: 'array', items: id, maxItems: 10_000 }] },
      cnf: statement({ jwk: publicJwk }, ['jwk']),
      iat: seconds,
      exp: seconds,
    },
    ['sub', 'fleet', 'scopes', 'nodes', 'cnf', 'iat', 'exp'],
  ),
  /** By a person: this call, once. `hold`: they stand by and let it pass; `confirm`: they were asked about it. */
  'svc-confirm': statement(
    {
      node: id,
      method,
      path,
      body_sha256: { type: 'string', pattern: '^[0-9a-f]{64}$' },
      nonce,
      jti,
      how: { enum: ['hold', 'confirm'] },
    },
    ['node', 'method', 'path', 'body_sha256', 'nonce', 'jti', 'how'],
  ),
  /** By the node. `body` is the JSON of its answer, null where it had none. */
  'svc-reply': statement(
    { node: id, jti, status: { type: 'integer', minimum: 100, maximum: 599 }, body: {} },
    ['node', 'jti', 'status', 'body'],
  ),
  /** By the hub: the keys that sign for it, and the credentials (by `sub`) that it has ended. */
  'svc-policy': statement(
    {
      fleet: id,
      seq: { type: 'integer', minimum: 1 },
      iat: seconds,
      keys: { type: 'array', items: publicJwk, minItems: 1, maxItems: 8 },
      revoked: { type: 'array', items: id, maxItems: 10_000 },
    },
    ['fleet', 'seq', 'iat', 'keys', 'revoked'],
  ),
  /** By the hub: every event of this stream up to `seq` is stored. */
  'svc-ack': statement(
    { node: id, stream: { type: 'string', maxLength: 64 }, seq: { type: 'integer', minimum: 0 } },
    ['node', 'stream', 'seq'],
  ),
  /**
   * By the hub: somebody looks at this node, so for `seconds` it tells this often, as far as its own config lets it. `nonce` is of the
   * node, as in a call; each statement counts once.
   */
  'svc-watch': statement(
    {
      node: id,
      nonce,
      jti,
      telemetry_hz: { type: 'number', minimum: 0, maximum: 10 },
      pictures_hz: { type: 'number', minimum: 0, maximum: 5 },
      seconds: { type: 'integer', minimum: 1, maximum: 30 },
    },
    ['node', 'nonce', 'jti', 'telemetry_hz', 'pictures_hz', 'seconds'],
  ),
  /** By the node, to the hub's API: a new certificate for the same keys. `csr`: PEM. */
  'svc-renew': statement({ node: id, csr: { type: 'string', maxLength: 4096 }, at: seconds, jti }, [
    'node',
    'csr',
    'at',
    'jti',
  ]),
  /** By the node, to the hub's API: credentials for the fleet's TURN servers. */
  'svc-turn': statement({ node: id, at: seconds, jti }, ['node', 'at', 'jti']),
} as const satisfies Readonly<Record<string, JsonSchema>>;

export type StatementType = keyof typeof STATEMENTS;
type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;
type StatementOf<T extends StatementType> = Frozen<FromSchema<(typeof STATEMENTS)[T]>>;

export type CallStatement = StatementOf<'svc-call'>;
export type MachineToken = StatementOf<'svc-machine-token'>;
export type Confirm = StatementOf<'svc-confirm'>;
export type Reply = StatementOf<'svc-reply'>;
export type Policy = StatementOf<'svc-policy'>;
export type Ack = StatementOf<'svc-ack'>;
export type Watch = StatementOf<'svc-watch'>;
export type Renew = StatementOf<'svc-renew'>;
type AskTurn = StatementOf<'svc-turn'>;
export type PublicJwk = MachineToken['cnf']['jwk'];

/** By type; written out, since the compiler cannot derive the type of a schema that it does not know yet. */
interface Statements {
  readonly 'svc-call': CallStatement;
  readonly 'svc-machine-token': MachineToken;
  readonly 'svc-confirm': Confirm;
  readonly 'svc-reply': Reply;
  readonly 'svc-policy': Policy;
  readonly 'svc-ack': Ack;
  readonly 'svc-watch': Watch;
  readonly 'svc-renew': Renew;
  readonly 'svc-turn': AskTurn;
}
export type Statement<T extends StatementType> = Statements[T];
