import type { JsonSchema } from '../schemas/json-schema.ts';
import { ADDRESS, INTERFACE, NETWORK_PROFILE, OWN_MAC, UUID } from '../schemas/network-operation.ts';
import {
  NOTHING_SCHEMA,
  RADIO_APPLY_SCHEMA,
  RADIO_POWER_SCHEMA,
  RADIO_TUNE_SCHEMA,
} from '../schemas/radio-unit.ts';
import type { UpdateStatus } from '../schemas/update.ts';
import { UNITS } from '../units.ts';
import { type Contract, method, shape } from './contract.ts';
import { PLUGIN_ID_SCHEMA, PLUGIN_START_SCHEMA, type PluginStatus } from './plugin-unit.ts';

const OF_UUID = {
  type: 'object',
  required: ['uuid'],
  properties: { uuid: UUID },
  additionalProperties: false,
} as const satisfies JsonSchema;
const OF_INTERFACE = {
  type: 'object',
  required: ['interface'],
  properties: { interface: INTERFACE },
  additionalProperties: false,
} as const satisfies JsonSchema;

/** The answer of a successful operation; a failed one is an error. */
export interface Done {
  readonly done: true;
}

export interface TunnelBound extends Done {
  /** Whether a sparse connection passes before a bulk one; not without the kernel's fq_codel. */
  readonly fair: boolean;
  /** Whether TCP sends again soon what was lost in it; not without the device's own route. */
  readonly quick: boolean;
}

/**
 * The operations of svc-helper, which run programs as root. It does one at a time and refuses a second with `E_BUSY`, and one of
 * the network beside it, so that a join does not hold up a restart. `plugin_status` and `update_status` only ask, `radio_tune` and `radio_power`
 * must not wait: these are always answered. The time-outs include the start of svc-helper by systemd.
 */
export const HELPER = {
  server: 'svc-helper',
  methods: {
    /** Answered when systemd has accepted it. The caller checks whether the vehicle is armed. */
    power: method(
      {
        type: 'object',
        required: ['action'],
        properties: { action: { enum: ['reboot', 'poweroff'] } },
        additionalProperties: false,
      },
      shape<Done>(),
      13_000,
    ),
    unit_restart: method(
      {
        type: 'object',
        required: ['name'],
        properties: { name: { enum: UNITS } },
        additionalProperties: false,
      },
      shape<Done>(),
      23_000,
    ),
    /** One label of DNS (RFC 1123). It cannot begin with a hyphen, so it cannot be taken for an option. */
    host_name: method(
      {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string', pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$' } },
        additionalProperties: false,
      },
      shape<Done>(),
      18_000,
    ),
    /** Writes what its manifest and its grants add to the shipped unit, and starts it anew. Answered when its program runs. */
    plugin_start: method(PLUGIN_START_SCHEMA, shape<Done>(), 38_000),
    /** Answered when none of its processes is left. */
    plugin_stop: method(PLUGIN_ID_SCHEMA, shape<Done>(), 28_000),
    plugin_status: method(PLUGIN_ID_SCHEMA, shape<PluginStatus>(), 13_000),
    /** Stops it and removes its data and what was written for it. */
    plugin_forget: method(PLUGIN_ID_SCHEMA, shape<Done>(), 58_000),
    /** Writes wfb-ng's configuration and keys, keeps NetworkManager off its cards, and starts it as `restart` says. */
    radio_apply: method(RADIO_APPLY_SCHEMA, shape<Done>(), 48_000),
    /** Ends wfb-ng, and removes its keys. */
    radio_stop: method(NOTHING_SCHEMA, shape<Done>(), 23_000),
    /** Puts one card on a channel. */
    radio_tune: method(RADIO_TUNE_SCHEMA, shape<Done>(), 8_000),
    /** Sets the transmit power of one card. */
    radio_power: method(RADIO_POWER_SCHEMA, shape<Done>(), 8_000),
    /** Bounds what a tunnel device sends, lets sparse connections pass before bulk ones, and has TCP send again soon what was lost. */
    tunnel_priority: method(
      {
        type: 'object',
        required: ['device', 'kbps'],
        properties: {
          device: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,14}$' },
          kbps: { type: 'integer', minimum: 100, maximum: 100_000 },
        },
        additionalProperties: false,
      },
      shape<TunnelBound>(),
      13_000,
    ),
    /** Writes a connection of NetworkManager as a file that only root can read, and has it loaded. */
    network_profile: method(NETWORK_PROFILE, shape<Done>(), 28_000),
    /** Answered when it is up, or why it is not after 30 s. */
    network_up: method(
      {
        type: 'object',
        required: ['uuid', 'interface'],
        properties: { uuid: UUID, interface: INTERFACE },
        additionalProperties: false,
      },
      shape<Done>(),
      43_000,
    ),
    network_down: method(OF_UUID, shape<Done>(), 23_000),
    /** Takes the interface down, and keeps NetworkManager from connecting it again by itself. */
    network_leave: method(OF_INTERFACE, shape<Done>(), 23_000),
    /** Removes the connection and its secrets. */
    network_forget: method(OF_UUID, shape<Done>(), 23_000),
    network_scan: method(OF_INTERFACE, shape<Done>(), 28_000),
    /** The metric of a connection's routes: the lowest one is used. */
    network_metric: method(
      {
        type: 'object',
        required: ['uuid', 'interface', 'metric'],
        properties: {
          uuid: UUID,
          interface: INTERFACE,
          metric: { type: 'integer', minimum: 1, maximum: 100_000 },
          later: {
            type: 'boolean',
            description:
              'in force when it is connected next: NetworkManager would take the address of a modem away',
          },
        },
        additionalProperties: false,
      },
      shape<Done>(),
      28_000,
    ),
    /** A default route that comes before all of NetworkManager's, until the interface goes, or the machine. There is one at most. */
    uplink_prefer: method(
      {
        type: 'object',
        required: ['interface', 'gateway'],
        properties: { interface: INTERFACE, gateway: ADDRESS },
        additionalProperties: false,
      },
      shape<Done>(),
      8_000,
    ),
    /** Takes it away again; there may be none. */
    uplink_release: method(NOTHING_SCHEMA, shape<Done>(), 8_000),
    /** Has ModemManager ask a modem for its signal, again and again. */
    modem_signal: method(
      {
        type: 'object',
        required: ['modem', 'seconds'],
        properties: {
          modem: {
            type: 'integer',
            minimum: 0,
            maximum: 999_999,
            description: "ModemManager's number of it",
          },
          seconds: { type: 'integer', minimum: 1, maximum: 60, description: 'between two questions' },
        },
        additionalProperties: false,
      },
      shape<Done>(),
      13_000,
    ),
    /** Writes a .link file of systemd, which counts from the next start of the machine. */
    mac_pin: method(
      {
        type: 'object',
        required: ['interface', 'mac', 'path'],
        properties: {
          interface: INTERFACE,
          mac: OWN_MAC,
          path: {
            type: ['string', 'null'],
            pattern: '^[A-Za-z0-9][A-Za-z0-9:._-]{0,127}$',
            description: 'where it is plugged in, as udev names it (ID_PATH)',
          },
        },
        additionalProperties: false,
      },
      shape<Done>(),
      13_000,
    ),
    /** Lets svc-update.service install what lies at Paths.updateUpload. Answered when that has begun. */
    update_start: method(
      {
        type: 'object',
        required: ['force'],
        properties: { force: { type: 'boolean', description: 'even while the vehicle is armed' } },
        additionalProperties: false,
      },
      shape<Done>(),
      33_000,
    ),
    update_status: method(NOTHING_SCHEMA, shape<UpdateStatus>(), 8_000),
    mac_unpin: method(OF_INTERFACE, shape<Done>(), 13_000),
    /** While the node is not paired: guests of its hotspot get its own address for every name, and its page at port 80. */
    captive_portal: method(
      {
        type: 'object',
        required: ['enabled', 'port'],
        properties: {
          enabled: { type: 'boolean' },
          port: { type: 'integer', minimum: 1, maximum: 65_535, description: 'of the API' },
        },
        additionalProperties: false,
      },
      shape<Done>(),
      13_000,
    ),
    /** Switches Wi-Fi on, by the rules of that country. */
    wifi_on: method(
      {
        type: 'object',
        required: ['country'],
        properties: { country: { type: ['string', 'null'], pattern: '^[A-Z]{2}$' } },
        additionalProperties: false,
      },
      shape<Done>(),
      18_000,
    ),
    /** Takes the passphrases out of the file for the first boot, on the boot partition. */
    first_boot_done: method(NOTHING_SCHEMA, shape<Done>(), 13_000),
  },
  events: {},
} as const satisfies Contract;
