import { BATTERY_FUNCTIONS, BATTERY_STATES } from '../flight/battery-state.ts';
import { CLIENT_ID_PATTERN } from '../flight/pilot.ts';
import { SYSTEM_STATES } from '../flight/system-state.ts';
import { TELEMETRY_GROUPS } from '../flight/telemetry-groups.ts';
import { extensionValues, MAX_EXTENDING } from './extension-values.ts';
import { formerly, type JsonSchema } from './json-schema.ts';

/** What the vehicle says: the snapshot, and the queries of its sockets. */

const number = { type: ['number', 'null'] } as const satisfies JsonSchema;
const speed = { ...number, description: 'm/s' } as const;
const volts = { ...number, description: 'V' } as const;
const amperes = { ...number, description: 'A' } as const;
const variance = {
  ...number,
  description: 'without unit: 1 is the limit at which the vehicle trusts it no more',
} as const;
const integer = { type: ['integer', 'null'] } as const satisfies JsonSchema;
const text = { type: ['string', 'null'] } as const satisfies JsonSchema;
const numbers = { type: ['array', 'null'], items: { type: 'number' } } as const satisfies JsonSchema;

const trafficVehicle = {
  title: 'TrafficVehicle',
  type: 'object',
  required: ['icao', 'callsign', 'lat', 'lon', 'alt_m', 'distance_m', 'age_s'],
  properties: {
    icao: { type: 'string', description: 'hexadecimal' },
    callsign: text,
    squawk: integer,
    emitter: { ...integer, description: 'ADSB_EMITTER_TYPE' },
    lat: number,
    lon: number,
    alt_m: number,
    alt_type: { enum: ['pressure', 'gnss', null] },
    heading_deg: number,
    speed_mps: { ...number, description: 'over ground' },
    climb_mps: number,
    speed_ms: formerly(number, '`speed_mps`'),
    climb_ms: formerly(number, '`climb_mps`'),
    distance_m: { ...number, description: 'from the vehicle, over ground' },
    age_s: { type: 'number', description: 'since the receiver heard it' },
    simulated: { type: 'boolean', description: 'reports itself as simulated' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const esc = {
  title: 'Esc',
  type: 'object',
  required: ['number', 'rpm', 'voltage', 'current', 'temperature', 'errors', 'failures'],
  properties: {
    number: { type: 'integer', minimum: 1 },
    rpm: number,
    voltage: volts,
    current: amperes,
    temperature: { ...number, description: 'degrees Celsius' },
    errors: { ...integer, description: 'reported since boot' },
    failures: { ...integer, description: 'ESC_FAILURE_FLAGS' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const battery = {
  title: 'Battery',
  type: 'object',
  required: [
    'id',
    'function',
    'voltage_v',
    'current_a',
    'remaining_percent',
    'consumed_mah',
    'temperature_c',
    'cells_v',
    'state',
  ],
  properties: {
    id: { type: 'integer', description: 'of BATTERY_STATUS' },
    function: { enum: BATTERY_FUNCTIONS },
    voltage_v: number,
    current_a: number,
    remaining_percent: number,
    consumed_mah: number,
    temperature_c: number,
    cells_v: numbers,
    state: { enum: [...BATTERY_STATES, null] },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const failsafe = {
  type: 'object',
  description: 'what the vehicle does by itself because something failed',
  required: ['active', 'reasons'],
  properties: {
    active: { type: ['boolean', 'null'], description: 'null: no heartbeat has said' },
    reasons: {
      type: 'array',
      maxItems: 32,
      items: { type: 'string' },
      description: 'radio, station, battery, estimator, fence, …; empty: it does not say',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

/** Names and units: deg, m, m/s, rad, V, A, percent, degrees Celsius, microseconds. Null: never received. */
export const telemetry = {
  title: 'Telemetry',
  type: 'object',
  required: [
    'mavlink_alive',
    'heartbeat_age_s',
    'armed',
    'mode',
    'position',
    'velocity',
    'attitude',
    'battery',
    'gps',
  ],
  properties: {
    mavlink_alive: { type: 'boolean', description: 'anything of the vehicle came within 3 s' },
    heartbeat_age_s: number,
    link_age_s: { ...number, description: 's since its newest message of whatever kind' },
    system_id: { ...integer, description: 'MAVLink system id of the vehicle' },
    mav_type: integer,
    autopilot: integer,
    armed: { type: ['boolean', 'null'] },
    mode: text,
    position: {
      type: 'object',
      properties: {
        lat: number,
        lon: number,
        alt_msl: { ...number, description: 'm above mean sea level' },
        alt_rel: { ...number, description: 'm above home' },
        heading: { ...number, description: 'degrees from true north' },
        state: {
          enum: ['ok', 'estimated', 'lost', null],
          description:
            'estimated: reckoned on without a fix; lost: the vehicle does not know where it is, lat and lon are where it last knew; null: it has told of no place',
        },
      },
      additionalProperties: false,
    },
    velocity: {
      type: 'object',
      properties: {
        vx: { ...speed, description: 'm/s to the north' },
        vy: { ...speed, description: 'm/s to the east' },
        vz: { ...speed, description: 'm/s downwards' },
        groundspeed: speed,
        airspeed: speed,
        climb: { ...speed, description: 'm/s upwards' },
      },
      additionalProperties: false,
    },
    attitude: {
      type: 'object',
      properties: {
        roll_deg: number,
        pitch_deg: number,
        yaw_deg: number,
        roll: formerly(number, '`roll_deg` in radians'),
        pitch: formerly(number, '`pitch_deg` in radians'),
        yaw: formerly(number, '`yaw_deg` in radians'),
      },
      additionalProperties: false,
    },
    battery: {
      type: 'object',
      properties: {
        voltage: volts,
        current: amperes,
        remaining: { ...number, description: 'percent' },
        temperature: { ...number, description: 'degrees Celsius' },
        cell_voltages: numbers,
        state: {
          enum: [...BATTERY_STATES, null],
          description: "by the vehicle's own thresholds, the worst of all batteries; null: it does not say",
        },
      },
      additionalProperties: false,
    },
    batteries: {
      type: ['array', 'null'],
      description: 'each that tells of itself; null: none does',
      maxItems: 32,
      items: battery,
    },
    system_state: { enum: [...SYSTEM_STATES, null], description: 'MAV_STATE of the newest heartbeat' },
    failsafe,
    gps: {
      type: 'object',
      properties: {
        fix_type: { ...integer, description: 'GPS_FIX_TYPE' },
        satellites: integer,
        eph: { ...number, description: 'HDOP, without unit' },
        epv: { ...number, description: 'VDOP, without unit' },
      },
      additionalProperties: false,
    },
    home: {
      type: 'object',
      properties: { lat: number, lon: number, alt_msl: { ...number, description: 'm above mean sea level' } },
      additionalProperties: false,
    },
    rc: {
      type: 'object',
      properties: {
        channels: {
          type: ['array', 'null'],
          items: number,
          description: 'µs; null: a channel that the receiver does not use',
        },
        rssi: { ...number, description: '0 to 254 of the receiver, without unit' },
      },
      additionalProperties: false,
    },
    servo_outputs: { ...numbers, maxItems: 32, description: 'µs, from the first output on; 0: not driven' },
    esc: {
      type: ['array', 'null'],
      description: 'speed controllers of the motors; null: none has said anything',
      maxItems: 32,
      items: esc,
    },
    vibration: {
      type: ['object', 'null'],
      required: ['x', 'y', 'z', 'clips'],
      properties: {
        x: { ...number, description: 'm/s²; null from PX4' },
        y: { ...number, description: 'm/s²; null from PX4' },
        z: { ...number, description: 'm/s²; of PX4 the length of all three' },
        clips: {
          type: 'array',
          maxItems: 3,
          items: { type: 'integer' },
          description: 'how often each accelerometer was beyond its range since boot',
        },
      },
      additionalProperties: false,
    },
    wind: {
      type: ['object', 'null'],
      description: 'as the vehicle estimates it; null: it has no estimate',
      required: ['speed', 'direction'],
      properties: {
        speed: { type: 'number', description: 'm/s' },
        direction: { type: 'number', description: 'degrees that it comes from' },
      },
      additionalProperties: false,
    },
    throttle: { ...number, description: 'percent' },
    ekf: {
      type: 'object',
      properties: {
        source: { enum: ['EKF_STATUS_REPORT', 'ESTIMATOR_STATUS', null] },
        ok: {
          type: ['boolean', 'null'],
          description:
            'attitude, velocity, height and a position are known, no fault is named, variances are low',
        },
        flags: { ...integer, description: 'EKF_STATUS_FLAGS or ESTIMATOR_STATUS_FLAGS' },
        variances: {
          type: 'object',
          properties: {
            velocity: variance,
            pos_horiz: variance,
            pos_vert: variance,
            compass: variance,
            terrain: variance,
            airspeed: variance,
          },
          additionalProperties: false,
        },
      },
      additionalProperties: false,
    },
    landed_state: { enum: ['on_ground', 'in_air', 'takeoff', 'landing', null] },
    mission: {
      type: 'object',
      properties: {
        current: {
          ...integer,
          description:
            "the vehicle's number of the item under way, its seq in GET /api/mission; null for home",
        },
        reached: { ...integer, description: "the vehicle's number of the item reached last" },
        total: integer,
        state: { enum: ['none', 'not_started', 'active', 'paused', 'complete', null] },
      },
      additionalProperties: false,
    },
    prearm: {
      type: 'object',
      description: 'whether the disarmed vehicle would arm',
      required: ['can_arm', 'reasons', 'checked_at'],
      properties: {
        can_arm: { type: ['boolean', 'null'], description: 'null: unknown, or it is armed' },
        reasons: {
          type: 'array',
          maxItems: 32,
          items: {
            type: 'object',
            required: ['text', 'source', 'at'], // an older node has no help
            properties: {
              text: { type: 'string' },
              source: {
                enum: ['statustext', 'event', 'sys_status', 'mode', 'rc', 'remote_id'],
                description:
                  'mode and rc: known by the node, said by the vehicle only when somebody arms; remote_id: said by its transmitter, the vehicle may arm all the same',
              },
              at: { type: 'string', description: 'when the vehicle last told it' },
              help: {
                type: ['object', 'null'],
                description: 'the remedy; null: unknown',
                required: ['text', 'commands'],
                properties: {
                  text: { type: 'string' },
                  commands: {
                    type: 'array',
                    description: 'any one of these does it, the best first; as the body of POST /api/command',
                    items: {
                      type: 'object',
                      required: ['cmd', 'args'],
                      properties: {
                        cmd: { enum: ['mode'] },
                        args: { type: 'array', items: { type: 'string' } },
                      },
                      additionalProperties: false,
                    },
                  },
                },
                additionalProperties: false,
              },
            },
            additionalProperties: false,
          },
        },
        checked_at: { ...text, description: 'when the vehicle last told' },
        takeoff_mode: {
          type: ['string', 'null'],
          description: 'the mode that takeoff changes to; null: it cannot take off, or unknown',
        },
      },
      additionalProperties: false,
    },
    traffic: {
      type: ['object', 'null'],
      description: 'other aircraft; null: the vehicle has reported none',
      required: ['vehicles'],
      properties: { vehicles: { type: 'array', maxItems: 32, items: trafficVehicle } },
      additionalProperties: false,
    },
    collision: {
      type: ['object', 'null'],
      description: 'the aircraft that the vehicle considers a threat; null: none',
      required: ['id', 'source', 'level', 'action', 'time_s', 'horizontal_m', 'vertical_m'],
      properties: {
        id: { type: 'string', description: 'ICAO address as in traffic, or a system id' },
        source: { enum: ['adsb', 'mavlink', null] },
        level: { enum: ['low', 'high'] },
        action: {
          enum: [
            'none',
            'report',
            'ascend_or_descend',
            'move_horizontally',
            'move_perpendicular',
            'rtl',
            'hover',
            null,
          ],
        },
        time_s: { ...number, description: 'until the closest approach' },
        horizontal_m: { ...number, description: 'closest horizontal distance' },
        vertical_m: number,
      },
      additionalProperties: false,
    },
    fence: {
      type: ['object', 'null'],
      description: 'null: the vehicle has told nothing about a fence',
      required: ['breached', 'count', 'type'],
      properties: {
        breached: { type: 'boolean' },
        count: { type: 'integer', description: 'breaches since it booted' },
        type: { enum: ['min_alt', 'max_alt', 'boundary', null] },
      },
      additionalProperties: false,
    },
    sources: {
      type: 'object',
      description: 'the message a value is from, where two carry it',
      properties: {
        position: { enum: ['GLOBAL_POSITION_INT', 'GPS_RAW_INT', 'HIGH_LATENCY', 'HIGH_LATENCY2', null] },
        battery: { enum: ['SYS_STATUS', 'BATTERY_STATUS', 'HIGH_LATENCY', 'HIGH_LATENCY2', null] },
      },
      additionalProperties: false,
    },
    ages: {
      type: 'object',
      description: 'seconds since each part was last received',
      properties: Object.fromEntries(
        TELEMETRY_GROUPS.map((group) => [group, { ...number, description: 'seconds' }]),
      ),
      additionalProperties: false,
    },
    extensions: {
      type: 'object',
      description:
        'values from extensions, by extension id; gone 10 s after they last sent it, and when they end',
      maxProperties: MAX_EXTENDING,
      additionalProperties: extensionValues,
    },
    last_heartbeat: text,
    last_update: text,
    statustext: {
      type: 'array',
      items: {
        type: 'object',
        properties: { at: { type: 'string' }, severity: { type: 'integer' }, text: { type: 'string' } },
        additionalProperties: false,
      },
    },
    param_cached_count: { type: 'integer' },
    param_expected_count: integer,
    param_generation: { type: 'integer' },
    param_priming: { type: 'boolean' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

/** A browser sends no header with a WebSocket. */
const clientIdQuery = {
  type: 'string',
  pattern: CLIENT_ID_PATTERN,
  examples: ['tablet-1'],
  description: 'instead of x-svc-client-id',
} as const satisfies JsonSchema;

/** `GET /api/telemetry/ws?rate=5&fields=position,battery` */
export const telemetryQuery = {
  type: 'object',
  properties: {
    rate: {
      type: 'string',
      pattern: '^(?:10|[1-9]|[0-9]\\.[0-9]{0,2}[1-9])$',
      examples: ['2'],
      description: 'snapshots a second, above 0 and at most 10; default: each as it comes',
    },
    fields: {
      type: 'string',
      pattern: '^[a-z_]{1,40}(?:,[a-z_]{1,40}){0,39}$',
      examples: ['position,battery'],
      description: 'members of the snapshot to send, separated by commas; without it, all',
    },
    client_id: clientIdQuery,
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

/** `GET /api/offboard/ws?client_id=tablet-1`, and the sticks. */
export const heldQuery = {
  type: 'object',
  properties: { client_id: clientIdQuery },
  additionalProperties: false,
} as const satisfies JsonSchema;

/** `GET /api/mavlink/ws?msgs=ATTITUDE@5,HEARTBEAT&force=1` */
export const mavlinkQuery = {
  type: 'object',
  properties: {
    msgs: {
      type: 'string',
      maxLength: 1024,
      pattern: '^[A-Z0-9_]{1,64}(?:@[0-9.]{1,8})?(?:,[A-Z0-9_]{1,64}(?:@[0-9.]{1,8})?)*$',
      examples: ['HEARTBEAT,ATTITUDE@5'],
      description: 'messages to send, by name or number, each with @Hz as an upper bound; without it, all',
    },
    force: { enum: ['0', '1'], description: '1 overrides the armed guard; a token needs destructive' },
    client_id: clientIdQuery,
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
