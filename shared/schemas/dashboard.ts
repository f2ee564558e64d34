import type { JsonSchema } from './json-schema.ts';

const pin = { type: 'string', pattern: '^[0-9]{4,12}$', description: '4 to 12 digits' } as const;

const session = {
  session: { type: 'string', description: 'for the header x-svc-dashboard-session; shown only once' },
  expires_at: { type: 'number', description: 'seconds since 1970' },
  ttl_seconds: { type: 'integer' },
} as const;

export const pinStatus = {
  title: 'PinStatus',
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
  title: 'PinVerifyRequest',
  examples: [{ pin: '2468' }],
  type: 'object',
  properties: { pin: { ...pin, description: '4 to 12 digits; without it the pairing key, as X-SVC-Key' } },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const pinVerifyAnswer = {
  title: 'PinVerifyAnswer',
  type: 'object',
  required: ['session', 'expires_at', 'ttl_seconds'],
  properties: session,
  additionalProperties: false,
} as const satisfies JsonSchema;

/** Scope of the ticket that moves a session; no WebSocket has it. */
export const HANDOVER = 'handover';

export const handoverRequest = {
  title: 'HandoverRequest',
  type: 'object',
  required: ['ticket'],
  properties: {
    ticket: {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      description: 'from POST /api/_ws/ticket with the scope handover; valid once',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const pinSetRequest = {
  title: 'PinSetRequest',
  examples: [{ pin: '1357', current_pin: '2468' }],
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
  title: 'PinSetAnswer',
  type: 'object',
  required: ['pin_set', 'session', 'expires_at', 'ttl_seconds'],
  properties: { pin_set: { const: true }, ...session },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const pinClearAnswer = {
  title: 'PinClearAnswer',
  type: 'object',
  required: ['pin_set'],
  properties: { pin_set: { const: false } },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const ticketRequest = {
  title: 'TicketRequest',
  examples: [{ scope: 'telemetry' }, { scope: 'get', path: '/api/video/snapshot', ttl_seconds: 60 }],
  type: 'object',
  required: ['scope'],
  properties: {
    scope: {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      description:
        'which WebSocket: telemetry, mavlink, vision, gs.pic, plugins.http:<id>, relay:<device id>; get for a read ticket; handover to move the session',
    },
    path: {
      type: 'string',
      pattern: '^/[^?#]*$',
      maxLength: 1024,
      description:
        'of a read ticket: the path that it is for, without a query; /api/plugins/<id>/gcs for all files of an extension’s page',
    },
    ttl_seconds: {
      type: 'integer',
      minimum: 1,
      maximum: 600,
      description:
        'seconds; of a WebSocket 1 to 120, 30 where it is not sent; of a read ticket 1 to 600, 600',
    },
  },
  additionalProperties: false,
  allOf: [
    {
      if: { properties: { scope: { const: 'get' } } },
      else: { properties: { path: false, ttl_seconds: { type: 'integer', maximum: 120 } } },
    },
    {
      if: { properties: { scope: { not: { const: 'get' } } } },
      else: { properties: { path: true }, required: ['path'] },
    },
  ],
} as const satisfies JsonSchema;

export const ticketAnswer = {
  title: 'TicketAnswer',
  type: 'object',
  required: ['ticket', 'scope', 'ttl_seconds', 'expires_at'],
  properties: {
    ticket: {
      type: 'string',
      description:
        'second of the subprotocols svc-ws-ticket, <ticket>, and valid once; of a read ticket ?ticket=<ticket>, for /api/plugins/<id>/gcs the first segment after it, ~<ticket>; of handover the body of POST /api/dashboard/handover',
    },
    scope: { type: 'string' },
    path: { type: 'string', description: 'of a read ticket: the path it opens' },
    ttl_seconds: { type: 'integer' },
    expires_at: { type: 'number', description: 'seconds since 1970' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const dashboardSessions = {
  title: 'DashboardSessions',
  type: 'object',
  required: ['sessions'],
  properties: {
    sessions: {
      type: 'array',
      description: 'oldest first',
      items: {
        type: 'object',
        required: ['id', 'created_at', 'expires_at', 'last_seen_at', 'peer', 'device', 'current'],
        properties: {
          id: { type: 'string', description: 'as in the audit; it opens nothing' },
          created_at: { type: 'number', description: 'seconds since 1970' },
          expires_at: { type: 'number', description: 'seconds since 1970' },
          last_seen_at: {
            type: ['number', 'null'],
            description: 'seconds since 1970; null if not since svc-control started',
          },
          peer: { type: ['string', 'null'], description: 'the address it was last used from' },
          device: {
            type: ['string', 'null'],
            description: 'browser and system of who opened it, as they call themselves; null: not known',
          },
          current: { type: 'boolean', description: 'the caller’s own' },
        },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const sessionEnded = {
  title: 'DashboardSessionEnded',
  type: 'object',
  required: ['id', 'ended'],
  properties: { id: { type: 'string' }, ended: { const: true } },
  additionalProperties: false,
} as const satisfies JsonSchema;
