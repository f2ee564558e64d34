import { GUARDED, CONTROL as OF_CONTROL, section } from './leaf.ts';

const CONTROL = { ...GUARDED, ...OF_CONTROL } as const;

const LINKS = {
  'x-class': 'keyonly',
  'x-reason': 'decides who hears and flies the vehicle through the radio',
} as const;

/** Keys that this node only passes on to a wfb-ng that it runs itself. */
const PASSED_ON: ReadonlySet<string> = new Set(
  ['region', 'channel', 'mcs', 'fec_k', 'fec_n', 'tx_power_dbm'].map((name) => `radio.${name}`),
);

/** Why a key changes nothing, in a sentence; null: it does what it says. @param mode of `radio.mode` */
export function idleRadioKey(key: string, mode: string): string | null {
  return mode === 'external' && PASSED_ON.has(key)
    ? 'radio.mode is external: this node does not tell wfb-ng. Set it where that is configured.'
    : null;
}

/** The section `radio`: wfb-ng, and the tunnel between a drone and its ground station (docs/contract/ground.md). */
export const radioConfig = section('Radio', 'network', {
  mode: {
    title: 'Radio',
    type: 'string',
    enum: ['off', 'managed', 'external'],
    'x-words': ['Off', 'Managed', 'External'],
    default: 'off',
    description:
      'off: no radio; managed: this node configures and runs wfb-ng; external: something else runs it, and this node only reads its JSON API',
    ...LINKS,
    ...GUARDED,
    'x-restart': ['svc-control', 'svc-link', 'svc-machine', 'svc-video'],
  },
  api_port: {
    title: 'Port of wfb-ng',
    type: 'integer',
    minimum: 0,
    maximum: 65_535,
    default: 0,
    description: 'TCP port of wfb-ng’s JSON API on 127.0.0.1; 0: 8102 on a drone, 8103 on a ground station',
    ...LINKS,
    ...CONTROL,
  },
  region: {
    title: 'Country of the radio',
    type: 'string',
    pattern: '^(?:[A-Z]{2}|00)$',
    default: '00',
    description: 'regulatory domain, two letters as in ISO 3166; 00 is the world domain',
    ...CONTROL,
    'x-restart': ['svc-control', 'svc-machine'],
  },
  channel: {
    title: 'Channel',
    type: 'integer',
    minimum: 1,
    maximum: 196,
    default: 161,
    description: 'Wi-Fi channel',
    ...CONTROL,
  },
  bandwidth_mhz: {
    title: 'Channel width',
    type: 'integer',
    enum: [20, 40],
    default: 20,
    'x-unit': 'MHz',
    description: 'width of the channel',
    ...CONTROL,
  },
  mcs: {
    title: 'Modulation (MCS)',
    type: 'integer',
    minimum: 0,
    maximum: 7,
    default: 1,
    description: 'modulation and coding scheme for sending',
    ...CONTROL,
  },
  fec_k: {
    title: 'FEC: packets with video',
    type: 'integer',
    minimum: 1,
    maximum: 255,
    default: 8,
    description: 'FEC: packets per block that carry video',
    ...CONTROL,
  },
  fec_n: {
    title: 'FEC: packets per block',
    type: 'integer',
    minimum: 1,
    maximum: 255,
    default: 12,
    description: 'FEC: all packets per block, at least fec_k',
    ...CONTROL,
  },
  tx_power_dbm: {
    title: 'Transmit power',
    type: ['integer', 'null'],
    minimum: 1,
    maximum: 30,
    default: null,
    'x-unit': 'dBm',
    description: 'transmit power; empty (null) leaves it to the driver',
    ...CONTROL,
  },
  cards: {
    title: 'Radio cards',
    type: 'array',
    maxItems: 8,
    uniqueItems: true,
    items: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,14}$' },
    default: [],
    description: 'the radio’s network interfaces; empty: every card with a driver known to work with wfb-ng',
    ...CONTROL,
  },
  adaptive: {
    title: 'Adapt the bit rate',
    type: 'boolean',
    default: false,
    description: 'whether the encoder lowers its bit rate when the radio loses packets',
    ...CONTROL,
  },
  channel_revert_s: {
    title: 'Back from a dead channel',
    type: 'integer',
    minimum: 1,
    maximum: 60,
    default: 5,
    'x-unit': 's',
    description: 'seconds without data after a channel change until this node goes back by itself',
    ...CONTROL,
  },
  relay_port: {
    title: 'Relay port',
    type: 'integer',
    minimum: 1,
    maximum: 65_535,
    default: 8084,
    description: 'TCP port on which a drone listens for its ground station, only on the tunnel’s address',
    ...LINKS,
    ...CONTROL,
  },
  tunnel: section('Tunnel', null, {
    rate_kbps: {
      title: 'Rate of the tunnel',
      type: 'integer',
      minimum: 100,
      maximum: 100_000,
      default: 3000,
      'x-unit': 'kbit/s',
      description:
        'the most that this node sends through the tunnel: the capacity left beside video and MAVLink',
      ...CONTROL,
    },
    drone: {
      title: 'Address of the drone',
      type: 'string',
      format: 'ip-address',
      maxLength: 64,
      default: '10.5.0.2',
      description:
        'the drone’s address in the tunnel; on a ground station with several, that of the one in slot 0',
      ...LINKS,
      ...CONTROL,
    },
    ground: {
      title: 'Address of the ground station',
      type: 'string',
      format: 'ip-address',
      maxLength: 64,
      default: '10.5.0.1',
      description: 'the ground station’s address in the tunnel',
      ...LINKS,
      ...CONTROL,
    },
  }),
});
