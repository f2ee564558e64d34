import type { FromSchema } from 'json-schema-to-ts';
import type { JsonSchema } from './json-schema.ts';

/** Bodies and answers of the peripherals. */

export const PERIPHERAL_KINDS = ['serial', 'usb', 'camera', 'i2c', 'gpio', 'network'] as const;
export type PeripheralKind = (typeof PERIPHERAL_KINDS)[number];

const text = { type: ['string', 'null'] } as const;
const hex = { type: ['string', 'null'], description: 'four hexadecimal digits; null: it has none' } as const;
const time = (description: string) =>
  ({ type: ['string', 'null'], format: 'date-time', description }) as const;

const action = {
  title: 'PeripheralKnownAction',
  type: 'object',
  required: ['id', 'display_name', 'does', 'available', 'requires_confirm'],
  properties: {
    id: { type: 'string' },
    display_name: { type: 'string' },
    does: { type: 'string', description: 'what this node does for it' },
    available: { type: 'boolean', description: 'false: this version cannot do it' },
    requires_confirm: { type: 'boolean' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const MANIFEST = {
  id: { type: 'string' },
  display_name: { type: 'string' },
  capabilities: { type: 'array', items: { type: 'string' } },
  actions: { type: 'array', items: action },
  has_config: { type: 'boolean', description: 'whether PUT …/config accepts one' },
} as const;

const FACTS = {
  id: { type: 'string', description: 'stays the same over a re-enumeration and a restart' },
  kind: { enum: PERIPHERAL_KINDS },
  name: { type: 'string', description: 'what it is, in words' },
  connected: { type: 'boolean' },
  first_seen: time('by this run of svc-residual'),
  last_seen: time('when it was there for the last time'),
  part_of: { type: ['string', 'null'], description: 'the id of the USB device it is part of' },
  bus: { type: ['string', 'null'], description: 'usb, i2c-1, pci, platform, …' },
  address: { type: ['string', 'null'], description: 'on its bus' },
  device_paths: { type: 'array', items: { type: 'string' }, description: 'the device, then its other names' },
  vendor_id: hex,
  product_id: hex,
  vendor: text,
  product: text,
  serial: text,
  driver: text,
  facts: {
    type: 'object',
    description: 'members of its kind only: label, lines, mac, state, …; null: unknown',
    additionalProperties: { type: ['string', 'number', 'null'] },
  },
  rate_hz: { type: ['number', 'null'], description: 'null: not measured' },
  used_by: {
    type: ['array', 'null'],
    description: 'the processes that have its device open; null: unknown',
    items: {
      type: 'object',
      required: ['pid', 'process', 'ours'],
      properties: {
        pid: { type: 'integer' },
        process: { type: 'string', description: "the kernel's name of it" },
        ours: { type: ['string', 'null'], description: 'svc-…, if it is a process of this node' },
      },
      additionalProperties: false,
    },
  },
} as const;

const REQUIRED = [
  'id',
  'kind',
  'name',
  'connected',
  'first_seen',
  'last_seen',
  'part_of',
  'bus',
  'address',
  'device_paths',
  'vendor_id',
  'product_id',
  'vendor',
  'product',
  'serial',
  'driver',
  'facts',
  'rate_hz',
  'used_by',
  'manifest',
] as const;

export const peripheral = {
  title: 'Peripheral',
  type: 'object',
  required: REQUIRED,
  properties: {
    ...FACTS,
    manifest: {
      type: ['object', 'null'],
      description: 'the description of this kind of device; null: none',
      required: ['id', 'display_name', 'capabilities', 'actions', 'has_config'],
      properties: MANIFEST,
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const peripheralList = {
  title: 'PeripheralList',
  type: 'object',
  required: ['peripherals', 'count', 'sources'],
  properties: {
    peripherals: { type: 'array', items: peripheral, description: 'those unplugged since the start too' },
    count: { type: 'integer', description: 'how many are connected' },
    sources: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'ok', 'error'],
        properties: {
          name: { type: 'string' },
          ok: { type: 'boolean' },
          error: { type: ['string', 'null'], description: 'why something may be missing' },
        },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const peripheralDetail = {
  title: 'PeripheralDetail',
  type: 'object',
  required: [...REQUIRED, 'config'],
  properties: {
    ...FACTS,
    manifest: {
      type: ['object', 'null'],
      required: ['id', 'display_name', 'capabilities', 'actions', 'has_config', 'origin', 'config_schema'],
      properties: {
        ...MANIFEST,
        origin: { type: 'string', description: 'its file; shipped: it is part of this version' },
        config_schema: { type: ['object', 'null'], description: 'JSON Schema 2020-12' },
      },
      additionalProperties: false,
    },
    config: { type: ['object', 'null'], description: 'as it was put; null: never' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const peripheralConfig = {
  title: 'PeripheralConfig',
  examples: [{ gain: 3 }],
  type: 'object',
  description: "fits the manifest's config_schema",
} as const satisfies JsonSchema;

export const peripheralConfigured = {
  title: 'PeripheralConfigured',
  type: 'object',
  required: ['persisted', 'peripheral_id', 'path'],
  properties: {
    persisted: { const: true },
    peripheral_id: { type: 'string' },
    path: { type: 'string' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const peripheralAction = {
  title: 'PeripheralActionRequest',
  examples: [{ action_id: 'rescan' }],
  type: 'object',
  required: ['action_id'],
  properties: {
    action_id: { type: 'string', minLength: 1, maxLength: 64 },
    confirm: { type: 'boolean', description: 'true, where the action requires it' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const peripheralActed = {
  title: 'PeripheralActionAnswer',
  type: 'object',
  required: ['ok', 'dispatched_at', 'message'],
  properties: {
    ok: { const: true },
    dispatched_at: { type: 'string', format: 'date-time' },
    message: { type: 'string' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const rule = {
  title: 'PeripheralMatch',
  type: 'object',
  minProperties: 1,
  properties: {
    kind: { enum: PERIPHERAL_KINDS },
    vid: { type: 'string', pattern: '^[0-9a-f]{4}$' },
    pid: { type: 'string', pattern: '^[0-9a-f]{4}$' },
    driver: { type: 'string', minLength: 1, maxLength: 64 },
    regex: { type: 'string', minLength: 1, maxLength: 200 },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

/** A file of the operator, and what is shipped. */
export const peripheralManifest = {
  title: 'PeripheralManifest',
  type: 'object',
  required: ['id', 'display_name', 'match'],
  properties: {
    id: { type: 'string', pattern: '^[a-z0-9][a-z0-9._-]{0,63}$' },
    display_name: { type: 'string', format: 'shown-name', minLength: 1, maxLength: 128 },
    match: {
      type: ['array', 'object'],
      minItems: 1,
      maxItems: 64,
      items: rule,
      if: { type: 'array' },
      else: rule,
    },
    capabilities: { type: 'array', maxItems: 32, items: { type: 'string', minLength: 1, maxLength: 64 } },
    actions: {
      type: 'array',
      maxItems: 16,
      items: {
        type: 'object',
        required: ['id', 'display_name', 'does'],
        properties: {
          id: { type: 'string', pattern: '^[a-z0-9][a-z0-9._-]{0,63}$' },
          display_name: { type: 'string', format: 'shown-name', minLength: 1, maxLength: 128 },
          does: { type: 'string', minLength: 1, maxLength: 64 },
          service: { type: 'string', minLength: 1, maxLength: 64 },
          baud: { type: 'integer', minimum: 300, maximum: 4_000_000 },
          requires_confirm: { type: 'boolean' },
        },
        additionalProperties: false,
      },
    },
    config_schema: { type: 'object' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;
type Rule = Frozen<FromSchema<typeof rule>>;

/** A manifest as it is written. */
export type PeripheralManifest = Omit<Frozen<FromSchema<typeof peripheralManifest>>, 'match'> & {
  /** One of them is enough, and of one every member must fit. */
  readonly match: Rule | readonly Rule[];
};
export type PeripheralAction = NonNullable<PeripheralManifest['actions']>[number];
