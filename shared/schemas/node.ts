import { FLIGHT_PHASES } from '../flight/phase.ts';
import { GROUND_ROLES } from './ground-station.ts';
import type { JsonSchema } from './json-schema.ts';
import { failsafe } from './telemetry.ts';

/** Answers about the node itself. Null means: not measured on this machine. */

const nullableNumber = { type: ['number', 'null'] } as const satisfies JsonSchema;
const nullableString = { type: ['string', 'null'] } as const satisfies JsonSchema;
const nullableInteger = { type: ['integer', 'null'] } as const satisfies JsonSchema;

export const healthz = {
  title: 'Health',
  type: 'object',
  required: ['status', 'version'],
  properties: { status: { const: 'ok' }, version: { type: 'string' } },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const readyz = {
  title: 'Readiness',
  type: 'object',
  required: ['ready', 'checks'],
  properties: {
    ready: { type: 'boolean' },
    checks: { type: 'object', additionalProperties: { type: 'boolean' } },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const ping = {
  title: 'Pong',
  type: 'object',
  required: ['pong'],
  properties: { pong: { type: 'integer', description: 'wall clock, ms since 1970' } },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const version = {
  title: 'NodeVersion',
  type: 'object',
  required: ['api_version', 'agent_version', 'capabilities'],
  properties: {
    api_version: { type: 'string' },
    agent_version: { type: 'string' },
    capabilities: {
      type: 'array',
      items: { type: 'string' },
      description: 'feature.<name> for each feature of which this node serves a route',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const time = {
  title: 'NodeTime',
  type: 'object',
  required: ['time_ns', 'monotonic_ns', 'ntp_synced'],
  properties: {
    time_ns: { type: 'integer', description: 'wall clock, ns since 1970' },
    monotonic_ns: { type: 'integer' },
    ntp_synced: { type: ['boolean', 'null'] },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const status = {
  title: 'NodeStatus',
  type: 'object',
  required: ['version', 'uptime_seconds', 'board', 'fc_connected', 'fc_port', 'fc_baud', 'health'],
  properties: {
    version: { type: 'string' },
    uptime_seconds: { type: 'integer' },
    profile: { enum: ['drone', 'ground-station'] },
    board: {
      type: 'object',
      required: ['name', 'tier', 'soc', 'arch', 'cpu_cores', 'ram_mb'],
      properties: {
        name: nullableString,
        tier: { type: 'integer', minimum: 1, maximum: 4 },
        soc: nullableString,
        arch: { type: 'string' },
        cpu_cores: { type: 'integer' },
        ram_mb: { type: 'integer' },
      },
      additionalProperties: false,
    },
    fc_connected: { type: 'boolean' },
    fc_port: nullableString,
    fc_baud: nullableInteger,
    fc_firmware: nullableString,
    fc_source: nullableString,
    fc_heartbeat_age_s: nullableNumber,
    fc_link_age_s: {
      ...nullableNumber,
      description: 's since the newest message of the vehicle of whatever kind',
    },
    system_id: { ...nullableInteger, description: 'MAVLink system id of the vehicle that commands go to' },
    fc_link_hint: {
      enum: ['linked', 'link_down', 'source_unreachable', 'no_heartbeat', 'heartbeat_lost'],
      description: 'the reason for the value of fc_connected',
    },
    fc_simulated: { type: 'boolean' },
    fc_simulated_evidence: { type: 'array', items: { type: 'string' } },
    armed: { enum: [true, false, 'unknown'] },
    flight_phase: {
      enum: FLIGHT_PHASES,
      description:
        '`armed`: and it does not say whether it has left the ground; `unknown`: armed or not, or no vehicle was heard',
    },
    failsafe: { anyOf: [failsafe, { type: 'null' }], description: 'null: the vehicle is not heard' },
    link_problems: {
      type: 'array',
      description:
        'what is wrong with the link: an endpoint that is not open, a source that leads to this node, a lost signing key, another vehicle on it, a vehicle that took the place of another',
      items: {
        type: 'object',
        required: ['code', 'detail'],
        properties: { code: { type: 'string' }, detail: { type: 'string' } },
        additionalProperties: false,
      },
    },
    config: {
      type: 'object',
      required: ['ok', 'problem'],
      properties: { ok: { type: 'boolean' }, problem: nullableString },
      additionalProperties: false,
    },
    health: {
      type: 'object',
      required: ['cpu_percent', 'memory_percent', 'disk_percent', 'temperature'],
      properties: {
        cpu_percent: nullableNumber,
        memory_percent: nullableNumber,
        disk_percent: nullableNumber,
        temperature: { ...nullableNumber, description: 'hottest thermal zone, degrees Celsius' },
        problems: {
          type: 'array',
          description:
            'files of state that cannot be used (`state`, the detail names the file), then what the machine is short of, the worst first: by the means of the last minute, so that a short peak is none; a disk as it is',
          items: {
            type: 'object',
            required: ['part', 'severity', 'detail'],
            properties: {
              part: { enum: ['cpu', 'memory', 'disk', 'temperature', 'state', 'process'] },
              severity: { enum: ['warn', 'bad'] },
              detail: { type: 'string' },
            },
            additionalProperties: false,
          },
        },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const system = {
  title: 'NodeSystem',
  type: 'object',
  required: [
    'cpu_percent',
    'cpu_count',
    'load_avg',
    'memory_total_mb',
    'memory_available_mb',
    'memory_percent',
    'swap_total_mb',
    'swap_used_mb',
    'disk_total_gb',
    'disk_used_gb',
    'disk_percent',
    'temperatures',
  ],
  properties: {
    cpu_percent: nullableNumber,
    cpu_count: { type: 'integer' },
    load_avg: { type: 'array', items: { type: 'number' } },
    memory_total_mb: nullableInteger,
    memory_available_mb: nullableInteger,
    memory_percent: nullableNumber,
    swap_total_mb: nullableInteger,
    swap_used_mb: nullableInteger,
    disk_total_gb: nullableNumber,
    disk_used_gb: nullableNumber,
    disk_percent: nullableNumber,
    temperatures: {
      type: 'object',
      additionalProperties: { type: 'number' },
      description: 'thermal zone -> degrees Celsius',
    },
    recent: {
      type: 'object',
      required: ['every_s', 'samples'],
      description: 'the last ten minutes, the newest last; each sample is the mean of every_s seconds',
      properties: {
        every_s: { type: 'integer', description: 'seconds' },
        samples: {
          type: 'array',
          maxItems: 120,
          items: {
            type: 'object',
            required: ['cpu_percent', 'memory_percent', 'temperature'],
            properties: {
              cpu_percent: nullableNumber,
              memory_percent: nullableNumber,
              temperature: { ...nullableNumber, description: 'hottest thermal zone, degrees Celsius' },
            },
            additionalProperties: false,
          },
        },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const services = {
  title: 'ServiceList',
  type: 'object',
  required: ['services', 'systemd_available'],
  properties: {
    services: {
      type: 'array',
      items: {
        type: 'object',
        required: [
          'name',
          'kind',
          'state',
          'hangs',
          'pid',
          'restarts',
          'uptime_seconds',
          'last_exit',
          'last_words',
          'restart_required',
          'memory_mb',
        ],
        properties: {
          name: { type: 'string' },
          kind: { enum: ['process', 'unit'], description: 'a process of this node, or a unit of systemd' },
          sub_state: { type: 'string', description: "systemd's word; units only" },
          memory_mb: { ...nullableNumber, description: 'PSS, MiB' },
          cpu_seconds: { ...nullableNumber, description: 'processor time since it started, seconds' },
          state: { enum: ['starting', 'running', 'waiting', 'parked', 'stopped'] },
          hangs: { type: 'boolean', description: 'it runs, and has not answered for 5 s' },
          pid: nullableInteger,
          restarts: nullableInteger,
          uptime_seconds: nullableInteger,
          last_exit: { ...nullableString, description: 'exit code or signal of the newest exit' },
          last_words: {
            type: 'array',
            items: { type: 'string' },
            description: 'last lines of stderr before it',
          },
          restart_required: {
            type: 'array',
            items: { type: 'string' },
            description:
              'config keys that changed while the vehicle was armed: they hold after a restart of it once disarmed',
          },
        },
        additionalProperties: false,
      },
    },
    systemd_available: { type: 'boolean' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

/** Where ground stations reach the vehicle, and who is there; counted since the peer came, tx: to it. */
export const heardSystem = {
  type: 'object',
  required: ['system', 'component', 'type', 'autopilot', 'vehicle', 'armed', 'last_heard_s'],
  properties: {
    system: { type: 'integer', minimum: 0, maximum: 255 },
    component: { type: 'integer', minimum: 0, maximum: 255 },
    type: { type: 'integer', description: 'MAV_TYPE' },
    autopilot: { type: 'integer', description: 'MAV_AUTOPILOT' },
    vehicle: { type: 'boolean', description: 'false: a ground station, camera, gimbal or other device' },
    armed: { type: ['boolean', 'null'], description: 'by its newest heartbeat; null of what is no vehicle' },
    last_heard_s: { type: 'number' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const linkEndpoint = {
  title: 'LinkEndpoint',
  type: 'object',
  required: ['name', 'open', 'problem', 'peers_turned_away', 'peers'],
  properties: {
    name: { type: 'string' },
    open: { type: 'boolean' },
    problem: nullableString,
    peers_turned_away: { type: 'integer' },
    peers: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'tx_frames', 'tx_dropped', 'rx_frames', 'rx_dropped', 'rx_refused', 'last_seen_s'],
        properties: {
          name: { type: 'string' },
          tx_frames: { type: 'integer' },
          tx_dropped: { type: 'integer', description: 'it read too slowly' },
          rx_frames: { type: 'integer' },
          rx_dropped: { type: 'integer', description: "the flight controller's side was closed or full" },
          rx_refused: { type: 'integer', description: 'by the armed guard, or because it is read-only' },
          last_seen_s: { type: ['number', 'null'] },
        },
      },
    },
  },
} as const satisfies JsonSchema;

/** A part is null if its process is away. */
export const diagnostics = {
  title: 'Diagnostics',
  type: 'object',
  required: ['agent', 'board', 'system', 'network', 'device', 'services', 'audit', 'mavlink', 'problems'],
  properties: {
    agent: { type: 'object' },
    board: { type: 'object' },
    system: { type: 'object' },
    network: { type: 'object', description: 'interface -> mac, addresses' },
    device: { type: 'object' },
    services: { type: ['object', 'null'], description: 'as GET /api/services' },
    audit: {
      type: 'object',
      required: ['lost', 'problem', 'stalled', 'disk', 'broken'],
      properties: {
        lost: { type: 'integer', description: 'records that could not be written since the start' },
        problem: { type: ['string', 'null'], description: 'why none can be written at the moment' },
        stalled: { type: ['string', 'null'], description: 'the disk stands still: how, in a sentence' },
        disk: {
          type: ['string', 'null'],
          description: 'the disk stands still, is full or read-only: how, in a sentence, and what helps',
        },
        broken: { type: ['string', 'null'], description: 'the problem found in the chain at the start' },
      },
      additionalProperties: false,
    },
    mavlink: {
      type: ['object', 'null'],
      description: 'source, counters, and each ground station with what it sent, got and lost',
      required: [
        'source',
        'fc_port',
        'fc_baud',
        'transport_open',
        'heartbeat_age_s',
        'counters',
        'endpoints',
      ],
      properties: {
        source: { type: 'string' },
        fc_port: nullableString,
        fc_baud: nullableInteger,
        transport_open: { type: 'boolean' },
        heartbeat_age_s: { type: ['number', 'null'] },
        link_age_s: { type: ['number', 'null'] },
        systems: {
          type: ['array', 'null'],
          description: 'who has sent heartbeats from the side of the vehicle',
          items: heardSystem,
        },
        counters: {
          type: 'object',
          additionalProperties: nullableInteger,
          description:
            'frames and bytes since svc-link started; rx_kernel_dropped: datagrams that the kernel dropped, null on a line that is not UDP',
        },
        endpoints: {
          type: ['array', 'null'],
          items: linkEndpoint,
          description: 'null: svc-link does not answer',
        },
      },
    },
    problems: {
      type: 'array',
      items: { type: 'string' },
      description: 'known problems, in sentences',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const restarted = {
  title: 'ServiceRestarted',
  type: 'object',
  required: ['status', 'name', 'pid_before', 'pid_after'],
  properties: {
    status: {
      enum: ['ok', 'accepted'],
      description:
        'accepted (202): the process that answers restarts itself, so the answer cannot contain the proof',
    },
    name: { type: 'string' },
    pid_before: nullableInteger,
    pid_after: nullableInteger,
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const powered = {
  title: 'NodePowered',
  type: 'object',
  required: ['status', 'action'],
  properties: { status: { const: 'ok' }, action: { enum: ['reboot', 'poweroff'] } },
  additionalProperties: false,
} as const satisfies JsonSchema;

/** The members of GET /api/status and GET /api/services, and what is measured beside them. */
export const statusFull = {
  title: 'NodeStatusFull',
  type: 'object',
  required: [...status.required, 'services', 'resources', 'telemetry', 'video', 'radio', 'role'],
  properties: {
    ...status.properties,
    ...services.properties,
    resources: system,
    telemetry: {
      type: ['object', 'null'],
      description: 'as GET /api/telemetry; null while svc-link is away',
    },
    video: { type: ['object', 'null'], description: 'as GET /api/video; null while svc-residual is down' },
    radio: { type: ['object', 'null'] },
    role: { enum: [...GROUND_ROLES, null], description: 'of a ground station; null on a drone' },
  },
} as const satisfies JsonSchema;

const time1970 = { type: ['number', 'null'], description: 'seconds since 1970' } as const;

export const auditReport = {
  title: 'AuditReport',
  type: 'object',
  required: ['ok', 'head_not_checked', 'files'],
  properties: {
    ok: { type: 'boolean', description: 'no record was changed, taken out, put in or cut off' },
    head_not_checked: {
      type: ['string', 'null'],
      description: 'why beginning and end could not be checked; null if they were',
    },
    files: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'records', 'first_at', 'last_at', 'broken'],
        properties: {
          name: { type: 'string' },
          records: { type: 'integer' },
          first_at: time1970,
          last_at: time1970,
          broken: { type: ['string', 'null'], description: 'where and why; null if the file is whole' },
        },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
