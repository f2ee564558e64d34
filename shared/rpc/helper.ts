import { UNITS } from '../units.ts';
import { type Contract, method, shape } from './contract.ts';
import { PLUGIN_ID_SCHEMA, PLUGIN_START_SCHEMA, type PluginStatus } from './plugin-unit.ts';
import {
  NOTHING_SCHEMA,
  RADIO_APPLY_SCHEMA,
  RADIO_POWER_SCHEMA,
  RADIO_TUNE_SCHEMA,
  type RadioUnitStatus,
} from './radio-unit.ts';

/** The answer of a successful operation; a failed one is an error. */
export interface Done {
  readonly done: true;
}

/**
 * The operations of svc-helper, which run programs as root. It does one at a time and refuses a second with `E_BUSY`;
 * `plugin_status` and `radio_status` only ask, `radio_tune` and `radio_power` must not wait: these are always answered. The time-outs include the start of svc-helper by systemd.
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
    radio_status: method(NOTHING_SCHEMA, shape<RadioUnitStatus>(), 13_000),
    /** Puts one card on a channel. */
    radio_tune: method(RADIO_TUNE_SCHEMA, shape<Done>(), 8_000),
    /** Sets the transmit power of one card. */
    radio_power: method(RADIO_POWER_SCHEMA, shape<Done>(), 8_000),
  },
  events: {},
} as const satisfies Contract;
