import { STORED_TEXT } from '../../../shared/fleet/hub-api.ts';
import type { FleetEvent, Presence } from '../../../shared/fleet/told.ts';
import type { NodeTopic } from '../../../shared/fleet/topics.ts';
import { readForeignJson } from '../../../shared/foreign-json.ts';
import type { JsonObject } from '../../../shared/member.ts';
import type { JsonSchema } from '../../../shared/schemas/json-schema.ts';
import { validatorOf } from '../../../shared/schemas/validator.ts';

/** What a node says, as far as the hub relies on it; a newer node may say more. */

/** More is no status, no telemetry and no event. */
const MAX_BYTES = 64 * 1024;

/** A picture is no JSON. */
type JsonTopic = Exclude<NodeTopic, 'picture'>;

/** No control characters and no halves of a character: not every database stores them. */
const stored = { type: 'string', pattern: STORED_TEXT } as const;
const time = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;
const seq = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;
const SCHEMAS = {
  presence: {
    type: 'object',
    required: ['online', 'session', 'at', 'version', 'profile', 'name'],
    properties: {
      online: { type: 'boolean' },
      session: { type: 'string', minLength: 1, maxLength: 128 },
      at: time,
      version: { ...stored, maxLength: 128 },
      profile: { enum: ['drone', 'ground-station'] },
      name: { ...stored, maxLength: 128 },
    },
  },
  status: { type: 'object' },
  telemetry: { type: 'object' },
  event: {
    type: 'object',
    required: ['stream', 'seq', 'at', 'kind', 'detail'],
    properties: {
      stream: { ...stored, minLength: 1, maxLength: 64 },
      seq: { ...seq, minimum: 1 },
      after: seq,
      at: time,
      kind: { ...stored, minLength: 1, maxLength: 128 },
      detail: { type: 'object' },
    },
  },
} as const satisfies Record<JsonTopic, JsonSchema>;

interface ToldBodies {
  readonly presence: Presence;
  readonly status: JsonObject;
  readonly telemetry: JsonObject;
  readonly event: FleetEvent;
}

const VALIDATORS = {
  presence: validatorOf(SCHEMAS.presence),
  status: validatorOf(SCHEMAS.status),
  telemetry: validatorOf(SCHEMAS.telemetry),
  event: validatorOf(SCHEMAS.event),
};

/**
 * Null for a body that is not what this topic has; a newer node may say it otherwise.
 * @throws SyntaxError for one that is too large, or no JSON; HostileJson for one that no node of whatever version sends
 */
export function parseBody<T extends JsonTopic>(what: T, payload: Buffer): ToldBodies[T] | null {
  const value = readForeignJson(payload, MAX_BYTES);
  return VALIDATORS[what](value) === null ? (value as ToldBodies[T]) : null;
}
