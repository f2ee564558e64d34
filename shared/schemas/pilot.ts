import { CLIENT_ID_PATTERN } from '../flight/pilot.ts';
import type { JsonSchema } from './json-schema.ts';

const clientId = {
  type: 'string',
  pattern: CLIENT_ID_PATTERN,
  description: 'how the client calls itself, as in its header x-svc-client-id',
} as const;
const time = { type: ['string', 'null'], format: 'date-time' } as const;

const state = {
  claimed_by: { type: ['string', 'null'], description: 'the client that is pilot in command' },
  by: { enum: ['key', 'session', 'token', null], description: 'the credential that claimed it' },
  claimed_at: time,
  last_heartbeat_at: time,
} as const;
const members = ['claimed_by', 'by', 'claimed_at', 'last_heartbeat_at'] as const;

export const pilotState = {
  title: 'PilotState',
  type: 'object',
  required: members,
  properties: state,
  additionalProperties: false,
} as const satisfies JsonSchema;

export const pilotClaimRequest = {
  title: 'PilotClaimRequest',
  examples: [{ client_id: 'tablet-1' }],
  type: 'object',
  required: ['client_id'],
  properties: {
    client_id: clientId,
    take_over: { type: 'boolean', description: 'even if somebody else holds it' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const pilotClaimAnswer = {
  title: 'PilotClaimAnswer',
  type: 'object',
  required: [...members, 'secret'],
  properties: { ...state, secret: { type: 'string', description: 'for the heartbeats; shown only once' } },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const pilotHeartbeatRequest = {
  title: 'PilotHeartbeatRequest',
  examples: [{ client_id: 'tablet-1', secret: 'what the claim answered' }],
  type: 'object',
  required: ['client_id', 'secret'],
  properties: {
    client_id: clientId,
    secret: { type: 'string', minLength: 1, maxLength: 64, description: 'from the answer of the claim' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const pilotReleaseRequest = {
  title: 'PilotReleaseRequest',
  examples: [{ client_id: 'tablet-1' }],
  type: 'object',
  required: ['client_id'],
  properties: { client_id: clientId },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const pilotEvent = {
  title: 'PilotEvent',
  type: 'object',
  required: ['event', 'client_id', ...members],
  properties: {
    event: { enum: ['state', 'claimed', 'taken_over', 'released', 'lapsed', 'ended'] },
    client_id: { type: ['string', 'null'] },
    ...state,
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
