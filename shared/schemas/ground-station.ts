import type { FromSchema } from 'json-schema-to-ts';
import { RADIO_QUALITIES } from '../radio/quality.ts';
import { formerly, type JsonSchema } from './json-schema.ts';
import { pilotState } from './pilot.ts';
import { recordings, recordStarted } from './video.ts';

/** Bodies and answers of a ground station's own rows. */

const nullable = <const T extends 'string' | 'integer' | 'number' | 'object'>(type: T, description: string) =>
  ({ type: [type, 'null'], description }) as const;
const deviceId = {
  type: 'string',
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
  description: 'the drone, as named in GET /api/v1/ground-station/drones',
} as const;

export const GROUND_ROLES = ['direct', 'relay', 'receiver'] as const;
export type GroundRoleName = (typeof GROUND_ROLES)[number];
const role = { enum: GROUND_ROLES } as const;

const roleMembers = {
  role: { ...role, description: 'at the moment; direct until there is a mesh' },
  configured: role,
  supported: { type: 'array', items: role, description: 'on this machine' },
  mesh_capable: { type: 'boolean' },
  missing: nullable('string', 'what a mesh needs and this machine does not have'),
} as const;
const roleNames = ['role', 'configured', 'supported', 'mesh_capable', 'missing'] as const;

export const groundRole = {
  title: 'GroundRole',
  type: 'object',
  required: roleNames,
  properties: roleMembers,
  additionalProperties: false,
} as const satisfies JsonSchema;

export const groundRoleRequest = {
  title: 'GroundRoleRequest',
  type: 'object',
  required: ['role'],
  properties: { role },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const groundRoleAnswer = {
  title: 'GroundRoleAnswer',
  type: 'object',
  required: [...roleNames, 'previous', 'noop'],
  properties: { ...roleMembers, previous: role, noop: { type: 'boolean', description: 'nothing changed' } },
  additionalProperties: false,
} as const satisfies JsonSchema;

const drone = {
  title: 'GroundDrone',
  type: 'object',
  required: ['slot', 'device_id', 'name', 'link', 'quality', 'last_seen'],
  properties: {
    slot: { type: 'integer', description: '0 is the single drone' },
    device_id: { type: 'string' },
    name: { type: 'string' },
    link: nullable('string', 'the state of its radio link, as GET /api/wfb has it; null: unknown'),
    quality: { enum: [...RADIO_QUALITIES, null], description: 'of that link, as GET /api/wfb has it' },
    last_seen: nullable('string', 'RFC 3339; when it last answered through the relay'),
  },
  additionalProperties: false,
} as const;

export const groundDrones = {
  title: 'GroundDrones',
  type: 'object',
  required: ['active', 'drones'],
  properties: {
    active: nullable('string', 'the drone that this node flies and shows; null: none is bound in its slot'),
    drones: { type: 'array', items: drone },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const activeDroneRequest = {
  title: 'ActiveDroneRequest',
  examples: [{ device_id: 'svc-d4e5f6' }],
  type: 'object',
  required: ['device_id'],
  properties: { device_id: deviceId },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const groundRecordings = {
  title: 'GroundRecordings',
  type: 'object',
  required: ['recording', 'current', 'recordings', 'items'],
  properties: {
    recording: { type: 'boolean' },
    current: { ...recordStarted, type: ['object', 'null'] },
    recordings: { ...recordings.properties.recordings, description: 'of the received video, newest first' },
    items: formerly(recordings.properties.recordings, '`recordings`'),
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const SCREENS = ['home', 'link', 'drone', 'network', 'system', 'qr'] as const;
const screenList = {
  type: 'array',
  uniqueItems: true,
  maxItems: SCREENS.length,
  items: { enum: SCREENS },
} as const;

const brightness = { type: 'integer', minimum: 0, maximum: 255 } as const;
const autoDim = { type: 'boolean' } as const;
const cycleSeconds = { type: 'integer', minimum: 1, maximum: 60, description: 'seconds a screen' } as const;
const mapping = {
  title: 'GroundUiMapping',
  examples: [{ B1_short: 'cycle_screen', B1_long: 'toggle_backlight' }],
  type: 'object',
  maxProperties: 16,
  'x-says': 'must have names from B1_short to B8_long',
  propertyNames: { pattern: '^B[1-8]_(?:short|long)$' },
  additionalProperties: { type: 'string', pattern: '^[a-z][a-z0-9_]{0,31}$' },
  description: 'the action of each press; replaced as a whole',
} as const;

export const groundUi = {
  title: 'GroundUi',
  type: 'object',
  required: ['oled', 'buttons', 'screens'],
  properties: {
    oled: {
      type: 'object',
      required: ['brightness', 'auto_dim_enabled', 'screen_cycle_seconds'],
      properties: {
        brightness: { ...brightness, default: 204 },
        auto_dim_enabled: { ...autoDim, default: true },
        screen_cycle_seconds: { ...cycleSeconds, default: 5 },
      },
      additionalProperties: false,
      default: {},
    },
    buttons: {
      type: 'object',
      required: ['mapping'],
      properties: {
        mapping: {
          ...mapping,
          default: {
            B1_short: 'cycle_screen',
            B1_long: 'toggle_backlight',
            B2_short: 'show_network',
            B2_long: 'show_qr',
            B3_short: 'confirm',
            B3_long: 'pair_drone',
          },
        },
      },
      additionalProperties: false,
      default: {},
    },
    screens: {
      type: 'object',
      required: ['order', 'enabled'],
      properties: {
        order: { ...screenList, default: SCREENS },
        enabled: { ...screenList, default: SCREENS },
      },
      additionalProperties: false,
      default: {},
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const groundUiRequest = {
  title: 'GroundUiRequest',
  examples: [{ oled: { brightness: 120 } }],
  type: 'object',
  minProperties: 1,
  properties: {
    oled: {
      type: 'object',
      properties: { brightness, auto_dim_enabled: autoDim, screen_cycle_seconds: cycleSeconds },
      additionalProperties: false,
    },
    buttons: {
      type: 'object',
      required: ['mapping'],
      properties: { mapping },
      additionalProperties: false,
    },
    screens: {
      type: 'object',
      properties: { order: screenList, enabled: screenList },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export type GroundUiState = FromSchema<typeof groundUi>;
export type GroundUiChange = FromSchema<typeof groundUiRequest>;

export const factoryResetRequest = {
  title: 'FactoryResetRequest',
  examples: [{ confirm: 'svc-a1b2c3' }],
  type: 'object',
  required: ['confirm'],
  properties: {
    confirm: { type: 'string', maxLength: 64, description: "this ground station's own device id" },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const factoryResetAnswer = {
  title: 'FactoryResetAnswer',
  type: 'object',
  required: ['device_id', 'removed', 'kept', 'restarting'],
  properties: {
    device_id: { type: 'string' },
    removed: { type: 'array', items: { type: 'string' } },
    kept: { type: 'array', items: { type: 'string' } },
    restarting: { const: true, description: 'the node restarts in a moment, without a pairing' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const groundStatus = {
  title: 'GroundStatus',
  type: 'object',
  required: [
    'profile',
    'paired_drones',
    'active',
    'link',
    'gcs',
    'network',
    'system',
    'recording',
    'video',
    'role',
    'relay',
  ],
  properties: {
    profile: { const: 'ground-station' },
    paired_drones: {
      type: 'array',
      items: {
        type: 'object',
        required: ['slot', 'device_id', 'name', 'key_fingerprint', 'proved'],
        properties: {
          slot: { type: 'integer' },
          device_id: { type: 'string' },
          name: { type: 'string' },
          key_fingerprint: { type: 'string' },
          proved: { type: 'boolean', description: 'whether the link with this key has carried data' },
        },
        additionalProperties: false,
      },
    },
    active: nullable('string', 'the active drone'),
    link: nullable('object', 'the radio, as GET /api/wfb; null: unknown'),
    gcs: {
      type: 'object',
      required: ['clients', 'pic'],
      properties: {
        clients: {
          type: ['array', 'null'],
          description: 'clients of the MAVLink endpoints; null while svc-link is down',
          items: {
            type: 'object',
            required: ['endpoint', 'name', 'last_seen_s'],
            properties: {
              endpoint: { type: 'string' },
              name: { type: 'string' },
              last_seen_s: nullable('number', 'since its newest frame, null before the first'),
            },
            additionalProperties: false,
          },
        },
        pic: { ...pilotState, description: 'the pilot in command' },
      },
      additionalProperties: false,
    },
    network: nullable('object', 'as GET /api/v1/ground-station/network; null: unknown'),
    system: {
      type: 'object',
      required: ['cpu_pct', 'ram_used_mb', 'ram_total_mb', 'temp_c', 'uptime_seconds', 'agent_version'],
      properties: {
        cpu_pct: nullable('number', 'percent'),
        ram_used_mb: nullable('integer', 'MB'),
        ram_total_mb: nullable('integer', 'MB'),
        temp_c: nullable('number', 'the hottest zone, degrees Celsius'),
        uptime_seconds: { type: 'integer', description: 'of the node' },
        agent_version: { type: 'string' },
      },
      additionalProperties: false,
    },
    recording: { type: ['boolean', 'null'], description: 'null: unknown' },
    video: nullable('object', 'as GET /api/video; null: unknown'),
    role: { ...groundRole, required: roleNames },
    relay: {
      type: 'array',
      description: 'of each drone',
      items: {
        type: 'object',
        required: ['device_id', 'silent_ms', 'latency_ms'],
        properties: {
          device_id: { type: 'string' },
          silent_ms: nullable('integer', 'since its last answer; null before the first'),
          latency_ms: nullable('integer', 'round trip of the newest ping'),
        },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
