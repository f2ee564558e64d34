/** The grants that open something of an extension's unit; all others are checked by the host, call by call. */
export const UNIT_GRANTS = [
  'network.outbound',
  'network.listen',
  'filesystem.host',
  'hardware.uart',
  'hardware.i2c',
  'hardware.spi',
  'hardware.gpio',
  'hardware.gpio_out',
  'hardware.usb',
  'hardware.usb.uvc',
  'hardware.camera.csi',
  'hardware.gpu',
] as const;
export type UnitGrant = (typeof UNIT_GRANTS)[number];

/** It neither begins with a hyphen nor has a character that means something to systemd, a shell or a path. */
const ID = { type: 'string', pattern: '^[a-z0-9]+(\\.[a-z0-9-]+)+$', maxLength: 128 } as const;

/** Names the extension. */
export const PLUGIN_ID_SCHEMA = {
  type: 'object',
  required: ['id'],
  properties: { id: ID },
  additionalProperties: false,
} as const;

/**
 * What an extension's unit is made of: words from lists, numbers in ranges, and two names in which no character means anything
 * to systemd. No path of the caller's: the folders follow from the id.
 */
export const PLUGIN_START_SCHEMA = {
  type: 'object',
  required: [
    'id',
    'installed_at',
    'runtime',
    'entrypoint',
    'http',
    'profile',
    'grants',
    'max_ram_mb',
    'max_cpu_percent',
    'max_pids',
    'listen_ports',
    'closed_devices',
  ],
  properties: {
    id: ID,
    /** When it was installed, Unix time in ms: the name of the folder with its files. */
    installed_at: { type: 'integer', minimum: 0, maximum: 9_007_199_254_740_991 },
    runtime: { enum: ['node', 'binary', 'python'] },
    entrypoint: {
      type: 'string',
      pattern: '^(?!(?:.*/)?\\.{1,2}(?:/|$))[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)*$',
      maxLength: 200,
    },
    /** Whether it serves HTTP. */
    http: { type: 'boolean' },
    profile: { enum: ['drone', 'ground-station'] },
    grants: { type: 'array', items: { enum: UNIT_GRANTS }, uniqueItems: true },
    max_ram_mb: { type: 'integer', minimum: 8, maximum: 65_536 },
    max_cpu_percent: { type: 'integer', minimum: 1, maximum: 3200 },
    max_pids: { type: 'integer', minimum: 1, maximum: 4096 },
    listen_ports: {
      type: 'array',
      items: { type: 'integer', minimum: 1024, maximum: 65_535 },
      maxItems: 4,
      uniqueItems: true,
    },
    closed_devices: {
      type: 'array',
      items: { type: 'string', pattern: '^/dev/[A-Za-z0-9_-]{1,64}$' },
      maxItems: 16,
    },
  },
  additionalProperties: false,
} as const;

/** What systemd knows of an extension's unit; the words are systemd's own. */
export interface PluginStatus {
  /** `active`, `activating`, `deactivating`, `inactive`, `failed`. */
  readonly active: string;
  /** `success`, `exit-code`, `signal`, `core-dump`, `oom-kill`, `timeout`, `resources`, … */
  readonly result: string;
  /** Of its first process: the exit code, or the number of the signal; 0 while it runs. */
  readonly status: number;
  /** 0 if it does not run. */
  readonly pid: number;
}
