import { CONTROL, GUARDED, MACHINE, section } from './leaf.ts';

const UPLINKS = ['wired', 'wifi', 'modem'] as const;
export type UplinkKind = (typeof UPLINKS)[number];
const KINDS = { enum: UPLINKS, 'x-words': ['Cable', 'Wi-Fi', 'Modem'] } as const;

/** It decides by which network the node is reached in flight, and what that costs. */
const UPLINK = {
  'x-class': 'keyonly',
  'x-reason': 'decides by which network the node is reached, and what that costs',
  ...GUARDED,
  ...MACHINE,
} as const;

/** The section `network`: what the node does about networks by itself. */
export const networkConfig = section('Uplinks', 'network', {
  setup_hotspot: {
    title: 'Hotspot for set-up',
    type: 'boolean',
    default: true,
    description:
      'whether an unpaired node that knows no network opens a hotspot for its set-up (docs/first-boot.md)',
    ...GUARDED,
    ...MACHINE,
  },
  uplinks: {
    title: 'Order of uplinks',
    type: 'array',
    maxItems: UPLINKS.length,
    uniqueItems: true,
    items: KINDS,
    'x-ordered': true,
    default: ['wired', 'wifi', 'modem'],
    description:
      'which uplinks the node changes between, the preferred one first: it uses the first that reaches its hub (not enrolled: its gateway); empty: NetworkManager alone decides',
    ...UPLINK,
  },
  metered: {
    title: 'Metered uplinks',
    type: 'array',
    maxItems: UPLINKS.length,
    uniqueItems: true,
    items: KINDS,
    default: ['modem'],
    description: 'which uplinks cost by volume: video and telemetry of the fleet fall while one is in use',
    ...UPLINK,
  },
  metered_video_kbps: {
    title: 'Video on a metered uplink',
    type: 'integer',
    minimum: 50,
    maximum: 50_000,
    default: 1500,
    'x-unit': 'kbit/s',
    description: 'the most that the encoder makes while a metered uplink is in use',
    ...UPLINK,
  },
  metered_telemetry_hz: {
    title: 'Telemetry on a metered uplink',
    type: 'number',
    minimum: 0,
    maximum: 10,
    default: 0.2,
    'x-unit': '1/s',
    description:
      'telemetry messages a second to the fleet while a metered uplink is in use, at most fleet.telemetry_hz; 0: none',
    ...UPLINK,
    ...CONTROL,
  },
});
