import { UNITS } from '../units.ts';
import { type Contract, method, shape } from './contract.ts';

/** The answer of a successful operation; a failed one is an error. */
export interface Done {
  readonly done: true;
}

/**
 * The operations of svc-helper, which runs one program as root for each. It does one at a time and refuses a second with
 * `E_BUSY`. The time-outs include the start of svc-helper by systemd.
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
  },
  events: {},
} as const satisfies Contract;
