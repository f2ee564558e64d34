import type { JsonSchema } from './json-schema.ts';

/** Parameters of the vehicle: read, written, described. */

const number = { type: ['number', 'null'] } as const satisfies JsonSchema;
const integer = { type: ['integer', 'null'] } as const satisfies JsonSchema;
const text = { type: ['string', 'null'] } as const satisfies JsonSchema;

/** What is known of a parameter besides its value; null where it is not said. */
export const paramMetadata = {
  title: 'ParamMetadata',
  type: ['object', 'null'],
  required: [
    'group',
    'user_level',
    'label',
    'description',
    'units',
    'min',
    'max',
    'increment',
    'values',
    'bitmask',
    'reboot_required',
  ],
  properties: {
    group: text,
    user_level: { ...text, description: 'for whom the firmware means it: Standard, Advanced, Developer' },
    label: text,
    description: text,
    units: text,
    min: number,
    max: number,
    increment: number,
    values: {
      type: ['array', 'null'],
      items: {
        type: 'object',
        required: ['value', 'text'],
        properties: { value: { type: 'number' }, text: { type: 'string' } },
        additionalProperties: false,
      },
    },
    bitmask: {
      type: ['array', 'null'],
      items: {
        type: 'object',
        required: ['bit', 'text'],
        properties: { bit: { type: 'integer' }, text: { type: 'string' } },
        additionalProperties: false,
      },
    },
    reboot_required: { type: ['boolean', 'null'] },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const paramDetails = {
  type: { type: 'integer', description: 'MAV_PARAM_TYPE' },
  default: { ...number, description: 'null: unknown' },
  metadata: { ...paramMetadata, description: 'null: nothing describes this parameter' },
} as const satisfies Record<string, JsonSchema>;

export const paramList = {
  title: 'ParamList',
  type: 'object',
  required: ['params', 'count', 'cached', 'priming', 'priming_timeout', 'progress'],
  properties: {
    params: { type: 'object', additionalProperties: { type: 'number' } },
    count: { ...integer, description: 'how many the vehicle says it has' },
    cached: { type: 'integer' },
    priming: { type: 'boolean', description: 'a download is under way' },
    priming_timeout: { type: 'boolean', description: 'the newest download ended with some missing' },
    progress: {
      type: 'object',
      required: ['got', 'expected'],
      properties: { got: { type: 'integer' }, expected: integer },
      additionalProperties: false,
    },
    details: {
      type: 'object',
      description: 'with ?details=1: of each of `params`, as GET /api/params/{name} has it',
      additionalProperties: {
        type: 'object',
        required: ['type', 'default', 'metadata'],
        properties: paramDetails,
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const paramListQuery = {
  type: 'object',
  properties: {
    details: { enum: ['0', '1'], description: '1: with defaults and descriptions; up to 1 MB' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const paramValue = {
  title: 'ParamValue',
  type: 'object',
  required: ['name', 'value', 'type', 'default', 'metadata'],
  properties: {
    name: { type: 'string' },
    value: { type: 'number' },
    ...paramDetails,
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const paramsChanged = {
  title: 'ParamsChanged',
  type: 'object',
  required: ['changed', 'count', 'unknown', 'priming'],
  properties: {
    changed: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'value', 'default'],
        properties: { name: { type: 'string' }, value: { type: 'number' }, default: { type: 'number' } },
        additionalProperties: false,
      },
    },
    count: { type: 'integer', description: 'how many differ' },
    unknown: { type: 'integer', description: 'parameters with an unknown default' },
    priming: { type: 'boolean', description: 'a download is under way' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const paramsDescribed = {
  title: 'ParamsDescribed',
  type: 'object',
  required: ['firmware', 'described'],
  properties: {
    firmware: { enum: ['ardupilot', 'px4'], description: 'whose format the file has' },
    described: { type: 'integer', description: 'how many parameters it describes' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

/** What makes the vehicle another one or erases it is written by whoever names it once more. */
const confirms = {
  oneOf: [
    { type: 'string', maxLength: 16 },
    { type: 'array', maxItems: 500, items: { type: 'string', maxLength: 16 } },
  ],
  'x-says': 'must be the name of a parameter, or a list of names',
  description:
    'the names once more of parameters that make the vehicle another one, or erase it (docs/contract/edge.md#scope)',
} as const satisfies JsonSchema;

export const paramsReset = {
  title: 'ParamsReset',
  type: 'object',
  properties: {
    names: {
      type: 'array',
      minItems: 1,
      maxItems: 500,
      uniqueItems: true,
      items: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]{0,15}$' },
      description: 'each gets its default; without it, the vehicle resets all of its parameters',
    },
    confirm: confirms,
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const paramWrite = {
  title: 'ParamWrite',
  examples: [{ value: 3000 }],
  type: 'object',
  required: ['value'],
  properties: { value: { type: 'number' }, confirm: confirms },
  additionalProperties: false,
} as const satisfies JsonSchema;

/** Answered after the vehicle has reported the value; otherwise the error's body has the same members. */
export const paramWritten = {
  title: 'ParamWritten',
  type: 'object',
  required: ['name', 'value', 'ack', 'cached_value', 'type'],
  properties: {
    name: { type: 'string' },
    value: { type: 'number', description: 'the requested value' },
    ack: { type: 'boolean' },
    cached_value: { ...number, description: 'the value that the vehicle reported' },
    type: { type: 'integer', description: 'MAV_PARAM_TYPE' },
    reboot_required: {
      type: ['boolean', 'null'],
      description: 'the vehicle uses the value after a reboot; null: unknown',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const paramValues = {
  type: 'object',
  minProperties: 1,
  maxProperties: 500,
  propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_]{0,15}$' },
  additionalProperties: { type: 'number' },
  'x-says': 'must be 1 to 500 parameters, each by its name of up to 16 letters, digits and _',
  description: 'written in this order, up to the first failure',
} as const satisfies JsonSchema;

export const paramListWrite = {
  title: 'ParamListWrite',
  examples: [{ params: { RTL_ALT: 3000, FENCE_ENABLE: 1 } }],
  type: 'object',
  required: ['params'],
  properties: {
    params: paramValues,
    confirm: confirms,
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const paramListWritten = {
  title: 'ParamListWritten',
  type: 'object',
  required: ['written', 'results'],
  properties: { written: { type: 'integer' }, results: { type: 'array', items: paramWritten } },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const paramsResetDone = {
  title: 'ParamsResetDone',
  type: 'object',
  required: ['all', 'written', 'results', 'reboot_required'],
  properties: {
    all: { type: 'boolean', description: 'the vehicle resets all of its parameters' },
    written: { type: 'integer' },
    results: { type: 'array', items: paramWritten },
    reboot_required: { type: ['boolean', 'null'], description: 'null: unknown' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
