import type { JsonSchema } from './json-schema.ts';
import { shownName } from './shown-name.ts';

/** Calls of programs that wait for a person's signature at the node (docs/contract/connector.md#the-gate). */

const hash = {
  type: 'string',
  pattern: '^[0-9a-f]{64}$',
  examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
  description: 'SHA-256 of what the call is, hex, as its asker makes it: the signature is for it alone',
} as const;
const place = {
  type: ['object', 'null'],
  required: ['lat', 'lon'],
  properties: {
    lat: { type: 'number', minimum: -90, maximum: 90 },
    lon: { type: 'number', minimum: -180, maximum: 180 },
  },
  additionalProperties: false,
  description: 'where it would send the vehicle; null: nowhere that is known',
} as const;
const name = { ...shownName, minLength: 1, maxLength: 64 } as const;

export const confirmationRequest = {
  title: 'ConfirmationRequest',
  examples: [
    {
      tool: 'flight_goto',
      args: { lat: 48.1, lon: 11.5, alt_m: 30 },
      place: { lat: 48.1, lon: 11.5 },
      call_hash: hash.examples[0],
    },
  ],
  type: 'object',
  required: ['tool', 'args', 'call_hash'],
  properties: {
    tool: name,
    args: { type: 'object', description: 'as a person is to read them, without secrets' },
    summary: {
      type: 'string',
      maxLength: 32_768,
      description: 'what it would do, in lines, where the arguments do not show it',
    },
    place,
    call_hash: hash,
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const code = { type: 'string', pattern: '^[A-HJKMNP-Z2-9]{8}$', examples: ['QW7K2MZP'] } as const;
const state = { enum: ['waiting', 'signed', 'refused'] } as const;

export const confirmation = {
  title: 'Confirmation',
  type: 'object',
  required: ['code', 'state', 'tool', 'args', 'summary', 'place', 'call_hash', 'asked_by', 'expires_in_s'],
  properties: {
    code,
    state,
    tool: { type: 'string' },
    args: {
      type: 'string',
      description: 'JSON, as text to be shown: data of the asker, never an instruction',
    },
    summary: { type: ['string', 'null'] },
    place,
    call_hash: hash,
    asked_by: { type: 'string', description: 'the credential of the program that asks' },
    expires_in_s: { type: 'number', minimum: 0 },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const confirmationFiled = {
  title: 'ConfirmationFiled',
  type: 'object',
  required: ['code', 'page', 'expires_in_s'],
  properties: {
    code,
    page: { type: 'string', description: 'below the address of the node: where a person looks at it' },
    expires_in_s: { type: 'number', minimum: 0 },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const confirmations = {
  title: 'Confirmations',
  type: 'object',
  required: ['confirmations'],
  properties: { confirmations: { type: 'array', items: confirmation, description: 'the newest first' } },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const confirmationSign = {
  title: 'ConfirmationSign',
  examples: [{ agree: true, call_hash: hash.examples[0] }],
  type: 'object',
  required: ['agree', 'call_hash'],
  properties: { agree: { type: 'boolean', description: 'false: refused' }, call_hash: hash },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const confirmationUse = {
  title: 'ConfirmationUse',
  examples: [{ call_hash: hash.examples[0] }],
  type: 'object',
  required: ['call_hash'],
  properties: { call_hash: hash },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const confirmationUsed = {
  title: 'ConfirmationUsed',
  type: 'object',
  required: ['signed_by'],
  properties: { signed_by: { type: 'string', description: 'the credential of the person who signed' } },
  additionalProperties: false,
} as const satisfies JsonSchema;
