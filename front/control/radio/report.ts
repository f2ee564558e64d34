/**
 * What wfb-ng's JSON API says, one JSON object a line. Every value in `packets` is `[this interval, total since its start]`, a
 * count. Observed on wfb-ng 25.01; members that are not read here are ignored.
 */
import { isRecord, type JsonObject } from '../../../shared/member.ts';

type Counts = Readonly<Record<string, readonly [interval: number, total: number] | undefined>>;

export interface AntennaReport {
  /** `card << 8 | antenna`; in cluster mode with an IPv4 address above bit 32, too large for a number. */
  readonly ant: number | bigint;
  /** MHz */
  readonly freq: number;
  readonly mcs: number;
  readonly bw: number;
  readonly pkt_recv: number;
  /** dBm, and dB */
  readonly rssi_avg: number;
  readonly snr_avg: number;
}

export interface StreamReport {
  readonly type: 'rx' | 'tx';
  /** For example `tunnel rx`. */
  readonly id: string;
  readonly packets: Counts;
  readonly session: { readonly fec_k: number; readonly fec_n: number } | null;
  /** The card that sends; null before the first contact. */
  readonly tx_wlan: number | null;
  readonly antennas: readonly AntennaReport[];
}

interface SettingsReport {
  readonly type: 'settings';
  /** How often each stream is reported, ms. */
  readonly intervalMs: number;
  /** Null in cluster mode. */
  readonly cards: readonly string[] | null;
}

export type Report = StreamReport | SettingsReport;

const DEFAULT_INTERVAL_MS = 1000;
const MAX_ANTENNAS = 64;

/** @returns null for a line that is none of the API's reports */
export function parseReport(line: string): Report | null {
  const value = parseLossless(line);
  if (!isRecord(value)) return null;
  if (value['type'] === 'settings') return settingsOf(value);
  const { type, id, packets } = value;
  if ((type !== 'rx' && type !== 'tx') || typeof id !== 'string' || !isRecord(packets)) return null;
  const { session, tx_wlan: card, rx_ant_stats: antennas } = value;
  return {
    type,
    id,
    packets: countsOf(packets),
    session: isRecord(session) ? fecOf(session) : null,
    tx_wlan: cardOf(card),
    antennas: Array.isArray(antennas) ? antennas.slice(0, MAX_ANTENNAS).filter(isAntenna) : [],
  };
}

/** In cluster mode the address of the machine that has the card is above its index. */
function cardOf(value: unknown): number | null {
  if (typeof value !== 'bigint' && !(typeof value === 'number' && Number.isSafeInteger(value))) return null;
  return Number(BigInt.asUintN(24, BigInt(value)));
}

/** JSON.parse, but whole numbers that a number cannot hold become a bigint. */
function parseLossless(text: string): unknown {
  const reviver = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
      ? BigInt(context?.source ?? '')
      : value;
  try {
    return JSON.parse(text, reviver);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function settingsOf(value: JsonObject): SettingsReport {
  const { settings, wlans } = value;
  const common = isRecord(settings) && isRecord(settings['common']) ? settings['common'] : {};
  const interval = common['log_interval'];
  return {
    type: 'settings',
    intervalMs: typeof interval === 'number' && interval > 0 ? interval : DEFAULT_INTERVAL_MS,
    cards: Array.isArray(wlans) ? wlans.filter((name) => typeof name === 'string') : null,
  };
}

function countsOf(packets: JsonObject): Counts {
  return Object.fromEntries(
    Object.entries(packets).flatMap(([name, pair]) => {
      if (!Array.isArray(pair)) return [];
      const [interval, total] = pair.map(Number);
      return interval !== undefined &&
        total !== undefined &&
        Number.isFinite(interval) &&
        Number.isFinite(total)
        ? [[name, [interval, total] as const]]
        : [];
    }),
  );
}

function fecOf({ fec_k, fec_n }: JsonObject): StreamReport['session'] {
  return typeof fec_k === 'number' && typeof fec_n === 'number' ? { fec_k, fec_n } : null;
}

const ANTENNA_NUMBERS = ['freq', 'mcs', 'bw', 'pkt_recv', 'rssi_avg', 'snr_avg'] as const;

function isAntenna(value: unknown): value is AntennaReport {
  if (!isRecord(value)) return false;
  const { ant } = value;
  return (
    (typeof ant === 'bigint' || Number.isSafeInteger(ant)) &&
    ANTENNA_NUMBERS.every((name) => Number.isFinite(value[name]))
  );
}
