import type { JsonSchema } from './json-schema.ts';

const pin = { type: 'string', pattern: '^[0-9]{4,12}$', description: '4 to 12 digits' } as const;

const session = {
  session: { type: 'string', description: 'for the header x-svc-dashboard-session; shown this once' },
  expires_at: { type: 'number', description: 'seconds since 1970' },
  ttl_seconds: { type: 'integer' },
} as const;

export const pinStatus = {
  type: 'object',
  required: ['pin_set', 'locked', 'locked_until', 'retry_after_s'],
  properties: {
    pin_set: { type: 'boolean' },
    locked: { type: 'boolean' },
    locked_until: { type: ['number', 'null'], description: 'seconds since 1970' },
    retry_after_s: { type: ['integer', 'null'], description: 'seconds until the next attempt counts' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const pinVerifyRequest = {
  type: 'object',
  required: ['pin'],
  properties: { pin },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const pinVerifyAnswer = {
  type: 'object',
  required: ['session', 'expires_at', 'ttl_seconds'],
  properties: session,
  additionalProperties: false,
} as const satisfies JsonSchema;

export const pinSetRequest = {
  type: 'object',
  required: ['pin'],
  properties: {
    pin,
    current_pin: {
      ...pin,
      description: 'the present PIN, from a caller without key or session',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const pinSetAnswer = {
  type: 'object',
  required: ['pin_set', 'session', 'expires_at', 'ttl_seconds'],
  properties: { pin_set: { const: true }, ...session },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const pinClearRequest = { type: 'object', additionalProperties: false } as const satisfies JsonSchema;

export const pinClearAnswer = {
  type: 'object',
  required: ['pin_set'],
  properties: { pin_set: { const: false } },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const ticketRequest = {
  type: 'object',
  required: ['scope'],
  properties: {
    scope: {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      description:
        'which WebSocket: telemetry, mavlink, vision, gs.pic, plugins.http:<id>, relay:<device id>',
    },
    ttl_seconds: {
      type: 'integer',
      minimum: 1,
      maximum: 120,
      description: 'seconds; 30 where it is not sent',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const ticketAnswer = {
  type: 'object',
  required: ['ticket', 'scope', 'ttl_seconds', 'expires_at'],
  properties: {
    ticket: { type: 'string', description: 'second of the subprotocols svc-ws-ticket, <ticket>; valid once' },
    scope: { type: 'string' },
    ttl_seconds: { type: 'integer' },
    expires_at: { type: 'number', description: 'seconds since 1970' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
