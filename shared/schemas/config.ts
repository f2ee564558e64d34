/**
 * The config file `config.yaml`: one schema for loading, for `PUT /api/config`, for `GET /api/config/schema` and for the
 * TypeScript type. Our own keywords on a leaf:
 *   x-secret    masked in every answer
 *   x-restart   the processes that read the key only at their start
 *   x-root-only changed by root on the node, never over the API
 *   x-profile   changing it changes what the node is, so the armed guard applies (spec/specification.md 7)
 */
import type { FromSchema } from 'json-schema-to-ts';
import { FEATURES } from '../routes/row.ts';
import type { JsonSchema } from './json-schema.ts';
import { videoConfig } from './video-config.ts';

const toggle = {
  type: 'boolean',
  description: 'true or false overrides what the profile has',
  'x-restart': ['svc-control'],
} as const;
const origins = {
  type: 'array',
  items: { type: 'string', pattern: '^https?://[A-Za-z0-9.:\\[\\]-]{1,128}$' },
  maxItems: 32,
  default: [],
  'x-restart': ['svc-control'],
} as const;

export const configSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'svc node config',
  type: 'object',
  properties: {
    agent: {
      type: 'object',
      properties: {
        profile: {
          enum: ['drone', 'ground-station'],
          default: 'drone',
          description: 'what this node is',
          'x-profile': true,
          'x-restart': ['svc-supervisor'],
        },
        name: {
          type: 'string',
          maxLength: 64,
          default: '',
          description: 'shown to operators; empty: made from the device id',
          'x-restart': ['svc-control'],
        },
      },
      additionalProperties: false,
      default: {},
    },
    api: {
      type: 'object',
      properties: {
        port: {
          type: 'integer',
          minimum: 1,
          maximum: 65535,
          default: 8080,
          description: 'TCP port of the HTTP API',
          'x-restart': ['svc-control'],
        },
        host: {
          type: 'string',
          maxLength: 64,
          default: '::',
          description: 'address that the HTTP API binds; :: is every IPv4 and IPv6 address',
          'x-restart': ['svc-control'],
        },
      },
      additionalProperties: false,
      default: {},
    },
    features: {
      type: 'object',
      description: 'true or false overrides what the profile has',
      properties: {
        residual: {
          type: 'boolean',
          description: 'false: the small headless build',
          'x-restart': ['svc-supervisor'],
        },
        core: toggle,
        pairing: toggle,
        mcp: toggle,
        config: toggle,
        flight: toggle,
        fleet: toggle,
        radio: toggle,
        network: toggle,
        video: toggle,
        whep: toggle,
        plugins: toggle,
        peripherals: toggle,
        vision: toggle,
        logs: toggle,
        setup: toggle,
        dashboard: toggle,
        'ground-station': toggle,
      },
      additionalProperties: false,
      default: {},
    },
    discovery: {
      type: 'object',
      properties: {
        mdns: {
          type: 'boolean',
          default: true,
          description: 'whether the node makes itself known on its networks as _svc._tcp',
          'x-restart': ['svc-control'],
        },
      },
      additionalProperties: false,
      default: {},
    },
    logging: {
      type: 'object',
      properties: {
        level: {
          enum: ['error', 'warn', 'info', 'debug'],
          default: 'info',
          description: 'lowest level that is written',
          'x-restart': ['svc-supervisor'],
        },
        store: {
          type: 'object',
          properties: {
            enabled: {
              type: 'boolean',
              default: true,
              description: 'whether logs, events and metrics are kept for queries',
              'x-restart': ['svc-residual', 'svc-supervisor'],
            },
            max_mb: {
              type: 'integer',
              minimum: 8,
              maximum: 65536,
              default: 256,
              description: 'size of the store, MB; beyond it the oldest records go',
              'x-restart': ['svc-residual'],
            },
            max_age_days: {
              type: 'integer',
              minimum: 1,
              maximum: 3650,
              default: 30,
              description: 'age of the oldest record, days',
              'x-restart': ['svc-residual'],
            },
          },
          additionalProperties: false,
          default: {},
        },
      },
      additionalProperties: false,
      default: {},
    },
    mavlink: {
      type: 'object',
      properties: {
        source: {
          type: 'string',
          pattern: '^(?:auto|sim|serial:/dev/[A-Za-z0-9._/:+-]+:[0-9]+|(?:udp|udpout|tcp):.+:[0-9]{1,5})$',
          maxLength: 128,
          default: 'auto',
          description:
            'auto, serial:/dev/ttyACM0:921600, udp:0.0.0.0:14550, udpout:host:port, tcp:host:port or sim',
          'x-restart': ['svc-link'],
        },
        endpoints: {
          type: 'array',
          maxItems: 8,
          uniqueItems: true,
          items: {
            type: 'string',
            pattern: '^(?:udp|udpout|tcp):.+:[0-9]{1,5}(?:\\?force=1)?$',
            maxLength: 128,
          },
          default: ['udp:127.0.0.1:14550', 'tcp:127.0.0.1:5790'],
          description:
            'where ground stations reach the vehicle: udp:host:port (they send first), udpout:host:port, tcp:host:port; with ?force=1 the armed guard does not hold there',
          'x-restart': ['svc-link'],
        },
        serial_control: {
          type: 'boolean',
          default: false,
          description: 'whether ground stations may send SERIAL_CONTROL',
          'x-restart': ['svc-link'],
        },
        sign_endpoints: {
          type: 'boolean',
          default: true,
          description:
            'where the vehicle takes signed frames only: sign what ground stations send through the endpoints (true), or refuse it',
          'x-restart': ['svc-link'],
        },
      },
      additionalProperties: false,
      default: {},
    },
    mcp: {
      type: 'object',
      properties: {
        token_accept_enabled: {
          type: 'boolean',
          default: false,
          description: 'whether scoped tokens are honoured; changed with `sudo svc mcp enable`',
          'x-root-only': true,
          'x-restart': ['svc-control'],
        },
      },
      additionalProperties: false,
      default: {},
    },
    security: {
      type: 'object',
      properties: {
        api: {
          type: 'object',
          properties: {
            cors_enabled: {
              type: 'boolean',
              default: true,
              description: 'whether browsers from allowed origins may call',
              'x-restart': ['svc-control'],
            },
            cors_origins: { ...origins, description: 'browser origins that may call this node' },
            cors_origins_extra: { ...origins, description: 'more of them' },
            hosts: {
              type: 'array',
              items: { type: 'string', pattern: '^[A-Za-z0-9.-]{1,253}$' },
              maxItems: 32,
              default: [],
              description: 'names, beside localhost and *.local, by which an unpaired node may be called',
              'x-restart': ['svc-control'],
            },
          },
          additionalProperties: false,
          default: {},
        },
        pairing: {
          type: 'object',
          properties: {
            require_code: {
              type: 'boolean',
              default: false,
              description: 'whether a claim must carry the pairing code',
              'x-restart': ['svc-control'],
            },
          },
          additionalProperties: false,
          default: {},
        },
      },
      additionalProperties: false,
      default: {},
    },
    video: videoConfig,
  },
  additionalProperties: false,
} as const;

type Given = FromSchema<typeof configSchema & { readonly $schema: string }>;
/** `T` with every member present, as it is once the defaults are in. */
type Filled<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]-?: Filled<T[K]> }
    : T;

/** The config with all defaults filled in; only the overrides under `features` stay optional. */
export type Config = Filled<Omit<Given, 'features'>> & {
  readonly features: { readonly [K in (typeof FEATURES)[number] | 'residual']?: boolean };
};

export const configPutRequest = {
  type: 'object',
  required: ['key', 'value'],
  properties: {
    key: {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      description: 'dotted path, for example mavlink.source',
    },
    value: { description: 'a JSON value, or its text' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const configSecretAnswer = {
  type: 'object',
  required: ['key', 'value', 'set'],
  properties: {
    key: { type: 'string' },
    value: { description: 'the value; null where none was set' },
    set: { type: 'boolean' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const configPutAnswer = {
  type: 'object',
  required: ['key', 'value', 'persisted', 'restart_required'],
  properties: {
    key: { type: 'string' },
    value: {},
    persisted: { type: 'boolean' },
    restart_required: { type: 'array', items: { type: 'string' } },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
