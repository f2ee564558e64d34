import type { JsonSchema } from './json-schema.ts';

export const remoteId = {
  title: 'RemoteId',
  type: 'object',
  required: ['state', 'reasons', 'operator_id_set', 'operator_place', 'transmitter'],
  properties: {
    state: {
      enum: ['absent', 'ready', 'not_ready'],
      description: 'what the transmitter last said; absent: none was heard within 5 s',
    },
    reasons: { type: 'array', items: { type: 'string' }, maxItems: 1, description: "the transmitter's own" },
    operator_id_set: { type: 'boolean' },
    operator_place: {
      enum: ['live', 'fixed', null],
      description: 'live: said over the API within 5 min; fixed: of the config; null: none is sent',
    },
    transmitter: {
      type: ['object', 'null'],
      description: 'null: none was heard within 5 s',
      required: ['system', 'component', 'age_s'],
      properties: {
        system: { type: 'integer' },
        component: { type: 'integer' },
        age_s: { type: 'number' },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

/** Degrees, m above the WGS 84 ellipsoid. */
export const operatorPlace = {
  title: 'OperatorPlace',
  type: 'object',
  required: ['lat', 'lon'],
  properties: {
    lat: { type: 'number', minimum: -90, maximum: 90 },
    lon: { type: 'number', minimum: -180, maximum: 180 },
    alt: { type: 'number', minimum: -1000, maximum: 31_767, description: 'above the WGS 84 ellipsoid' },
    accuracy_m: {
      type: 'number',
      minimum: 0,
      maximum: 100,
      description: 'one that is known worse would name a place where the operator is not',
    },
  },
  additionalProperties: false,
  examples: [{ lat: 48.137, lon: 11.575, accuracy_m: 8 }],
} as const satisfies JsonSchema;
