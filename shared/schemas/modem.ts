import type { JsonSchema } from './json-schema.ts';
import { APN, PIN, PPP_NAME, PPP_PASSWORD } from './network-operation.ts';

/** Cellular modems, as ModemManager has them. Null means: not measured, or not so at the moment. */

const nullableString = { type: ['string', 'null'] } as const satisfies JsonSchema;
const nullableNumber = { type: ['number', 'null'] } as const satisfies JsonSchema;
const nullableInteger = { type: ['integer', 'null'] } as const satisfies JsonSchema;
const nullableBoolean = { type: ['boolean', 'null'] } as const satisfies JsonSchema;

const id = {
  type: 'string',
  pattern: '^(?:0|[1-9]\\d{0,5})$',
  examples: ['0'],
  description: "ModemManager's number of it; a modem that is plugged in again has another one",
} as const satisfies JsonSchema;

export const modem = {
  title: 'Modem',
  type: 'object',
  required: [
    'id',
    'model',
    'enabled',
    'state',
    'operator',
    'technology',
    'signal_percent',
    'rsrp_dbm',
    'rsrq_db',
    'sinr_db',
    'apn',
    'ip',
    'sim',
    'pin_tries_left',
    'roaming',
    'allow_roaming',
    'rx_bytes',
    'tx_bytes',
  ],
  properties: {
    id,
    model: { ...nullableString, description: 'maker and model' },
    enabled: { ...nullableBoolean, description: 'the node connects it; null: it was never told to' },
    state: {
      type: 'string',
      description: "ModemManager's word: failed, locked, disabled, searching, registered, connected, …",
    },
    operator: nullableString,
    technology: { ...nullableString, description: "ModemManager's word: lte, 5gnr, umts, …; several with +" },
    signal_percent: { type: ['integer', 'null'], minimum: 0, maximum: 100 },
    rsrp_dbm: { ...nullableNumber, description: 'reference signal received power, dBm' },
    rsrq_db: { ...nullableNumber, description: 'reference signal received quality, dB' },
    sinr_db: { ...nullableNumber, description: 'signal to interference and noise, dB' },
    apn: { ...nullableString, description: 'of the connection that is up' },
    ip: nullableString,
    sim: {
      enum: ['ready', 'pin', 'puk', 'absent', null],
      description: 'pin, puk: it is locked and wants that',
    },
    pin_tries_left: { ...nullableInteger, description: 'before the SIM is blocked and wants its PUK' },
    roaming: { ...nullableBoolean, description: 'it is in a foreign network' },
    allow_roaming: { ...nullableBoolean, description: 'it may be; null: it was never told' },
    rx_bytes: { ...nullableInteger, description: 'of the connection that is up' },
    tx_bytes: { ...nullableInteger, description: 'of the connection that is up' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const modems = {
  title: 'Modems',
  type: 'object',
  required: ['modems'],
  properties: { modems: { type: 'array', items: modem } },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const modemRequest = {
  title: 'ModemRequest',
  examples: [
    { id: '0', enabled: true, apn: 'internet' },
    { id: '0', enabled: true, apn: 'internet', pin: '1234', allow_roaming: true },
    { id: '0', enabled: false },
  ],
  type: 'object',
  required: ['id', 'enabled'],
  properties: {
    id,
    enabled: { type: 'boolean', description: 'connects it, now and whenever the machine starts' },
    apn: { ...APN, description: 'access point name; without it: as before, or what the network gives' },
    username: { ...PPP_NAME, description: 'of the access point; without it: as before' },
    password: { ...PPP_PASSWORD, description: 'of the access point; without it: as before' },
    pin: {
      ...PIN,
      description:
        'of a locked SIM, tried once, and not at all with enabled: false. One that was refused is not tried again; one that was right is kept for the next start',
    },
    last_try: { type: 'boolean', description: 'try the PIN although it is the last try before the PUK' },
    allow_roaming: { type: 'boolean', description: 'without it: as before, or not' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;
