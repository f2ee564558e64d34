import { type Contract, method, shape } from './contract.ts';

/**
 * Units beside our own processes that may be seen and restarted over the API: the radio, the hotspot, the Wi-Fi client.
 * Nothing else of the machine is.
 */
export const UNITS = [
  'svc-wfb',
  'svc-wfb-rx',
  'svc-wfb-relay',
  'svc-wfb-receiver',
  'svc-hostapd',
  'svc-wifi-client',
] as const;
export type Unit = (typeof UNITS)[number];

/** What an operation answers that succeeded; one that did not is an error. */
export interface Done {
  readonly done: true;
}

/**
 * What svc-helper does for the node as root, each operation by running one program. It takes one at a time and refuses a second
 * with `E_BUSY`. The time-outs leave room for a helper that systemd starts only now.
 */
export const HELPER = {
  server: 'svc-helper',
  methods: {
    /** Answered when systemd has been told. Whether the vehicle is armed is the caller's to ask. */
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
    /** One label of DNS (RFC 1123). It cannot begin with a hyphen, so no program takes it for an option. */
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
  },
  events: {},
} as const satisfies Contract;
