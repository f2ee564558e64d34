import type { groundStationRows } from '../routes/ground-station.ts';
import type { HandlersOf } from '../routes/handler.ts';
import type { networkRows } from '../routes/network.ts';
import type { MadeAnswer } from '../routes/typed-row.ts';
import type { Made } from '../schemas/made.ts';
import type { uplinkChange } from '../schemas/network.ts';
import { INTERFACE } from '../schemas/network-operation.ts';
import { type Calls, type Contract, method, shape } from './contract.ts';

/** What `iw` says a card is set to; null: it does not say. */
export interface CardSetting {
  readonly channel: number | null;
  readonly frequency_mhz: number | null;
  readonly bandwidth_mhz: number | null;
  readonly tx_power_dbm: number | null;
}

export interface ChannelRule {
  readonly channel: number;
  readonly frequency_mhz: number;
  /** Whether this region lets the card send there without having heard anybody, and without looking for radar. */
  readonly allowed: boolean;
  /** Whether the region has it look for radar before it sends. */
  readonly radar: boolean;
  /** Regulatory limit; null where sending is forbidden. */
  readonly max_dbm: number | null;
}

/** By what the machine reaches others. */
export interface UplinkUse {
  readonly metered: boolean;
  /** Null: nothing has changed. */
  readonly change: Made<typeof uplinkChange> | null;
}

type NetworkHandlers = HandlersOf<typeof networkRows, 'front'>;
type GroundHandlers = HandlersOf<typeof groundStationRows, 'front'>;
/** MAC pins are files of udev, which need none of the programs that svc-machine runs. */
export type MacRow = Extract<keyof NetworkHandlers, `network.mac.${string}`>;
type MachineRow =
  | Exclude<keyof NetworkHandlers, MacRow>
  | Extract<keyof GroundHandlers, `ground-station.${'network' | 'mesh'}.${string}`>;

/** The handlers of the rows that svc-machine answers. */
export type MachineHandlers = Pick<NetworkHandlers & GroundHandlers, MachineRow>;

const NODE = {
  type: 'object',
  required: ['device_id', 'port', 'paired', 'radio_cards', 'hub'],
  properties: {
    device_id: { type: 'string', maxLength: 64 },
    port: { type: 'integer' },
    paired: { type: 'boolean' },
    /** Interfaces that the radio has, which are nobody else's. */
    radio_cards: { type: 'array', maxItems: 64, items: { type: 'string', maxLength: 64 } },
    /** The host of the hub's broker; null: the node is in no fleet. */
    hub: { type: ['string', 'null'], maxLength: 500 },
  },
  additionalProperties: false,
} as const;

const CARD = {
  type: 'object',
  required: ['card'],
  properties: { card: INTERFACE },
  additionalProperties: false,
} as const;

/** The longest that a row of the network takes (`LIMITS.network`). */
const ANSWER_MS = 150_000;
/** `iw` takes 3 s at most. */
const IW_MS = 5000;

/**
 * The contract of svc-machine on `machine.sock`, for svc-control: what runs the programs of the machine (nmcli, mmcli, iw, ping,
 * batctl) and parses their words has no part in the memory of what knows the pairing key, tokens and sessions.
 */
export const MACHINE = {
  server: 'svc-machine',
  methods: {
    /** What svc-machine has to know of the node: at once on connect, and when it changes. It does nothing before. */
    know: method(NODE, shape<Readonly<Record<string, never>>>(), 5000),
    /**
     * Answers a row (`MachineHandlers`), as its handler does. @param body has passed the row's schema
     * @param node as of `know`, so that nothing is decided by what was
     */
    answer: method(
      {
        type: 'object',
        required: ['row', 'params', 'node'],
        properties: {
          row: { type: 'string', maxLength: 100 },
          params: { type: 'object', additionalProperties: { type: 'string' } },
          body: {},
          node: NODE,
        },
        additionalProperties: false,
      },
      shape<unknown>(),
      ANSWER_MS,
    ),
    /** As GET /api/v1/ground-station/network. */
    ground: method(
      { type: 'object', required: ['node'], properties: { node: NODE }, additionalProperties: false },
      shape<MadeAnswer<'ground-station.network.get'>>(),
      ANSWER_MS,
    ),
    /** E_NOT_IMPLEMENTED without iw, E_UPSTREAM in its words, E_TIMEOUT; so the next two. */
    card_setting: method(CARD, shape<CardSetting>(), IW_MS),
    /** @param phy as in /sys/class/net/<card>/phy80211/name */
    channel_rules: method(
      {
        type: 'object',
        required: ['phy'],
        properties: { phy: { type: 'string', pattern: '^[A-Za-z0-9_.-]{1,32}$' } },
        additionalProperties: false,
      },
      shape<readonly ChannelRule[]>(),
      IW_MS,
    ),
    /** The noise of the channel that a card is on, dBm; null where its driver does not measure it. */
    noise: method(CARD, shape<number | null>(), IW_MS),
  },
  events: {
    /** At once on connect, and when another uplink is used. */
    uplink: shape<UplinkUse>(),
  },
} as const satisfies Contract;

/** What `iw` says of cards. */
export type Iw = Pick<Calls<typeof MACHINE>, 'card_setting' | 'channel_rules' | 'noise'>;
