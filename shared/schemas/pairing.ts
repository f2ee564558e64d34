import type { JsonSchema } from './json-schema.ts';
import { shownName } from './shown-name.ts';
import { tlsPin } from './tls.ts';

export const pairingInfo = {
  title: 'PairingInfo',
  type: 'object',
  required: [
    'paired',
    'device_id',
    'name',
    'mdns_host',
    'profile',
    'version',
    'paired_at',
    'code_required',
    'entry',
  ],
  properties: {
    paired: { type: 'boolean' },
    device_id: { type: 'string' },
    name: { type: 'string' },
    mdns_host: { type: 'string' },
    profile: { enum: ['drone', 'ground-station'] },
    version: { type: 'string' },
    paired_at: { type: ['number', 'null'], description: 'seconds since 1970' },
    code_required: { type: 'boolean' },
    entry: {
      enum: ['open', 'credential', 'nearer'],
      description:
        'how this caller is let in: at once, for example by the session that it shows; with a credential (a token is not looked at here); or not from where it is, as nobody has paired the node yet',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const pairingCode = {
  title: 'PairingCode',
  type: 'object',
  required: ['code', 'expires_at'],
  properties: { code: { type: 'string' }, expires_at: { type: 'number', description: 'seconds since 1970' } },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const claimRequest = {
  title: 'PairingClaimRequest',
  examples: [{ user_id: 'pilot', code: 'K7M2QX' }],
  type: 'object',
  required: ['user_id'],
  properties: {
    user_id: {
      ...shownName,
      minLength: 1,
      maxLength: 128,
      description: 'the name of the person who pairs',
    },
    code: { type: 'string', minLength: 6, maxLength: 6, description: 'the pairing code' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const claimAnswer = {
  title: 'PairingClaimAnswer',
  type: 'object',
  required: ['api_key', 'device_id', 'name', 'mdns_host', 'tls'],
  properties: {
    api_key: { type: 'string', description: 'the pairing key; shown only once' },
    device_id: { type: 'string' },
    name: { type: 'string' },
    mdns_host: { type: 'string' },
    tls: tlsPin,
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const unpairAnswer = {
  title: 'UnpairAnswer',
  type: 'object',
  required: ['paired'],
  properties: { paired: { const: false } },
  additionalProperties: false,
} as const satisfies JsonSchema;
