import { memberOf } from '../../../../../shared/member.ts';
import type { Answer } from '../../api/rows.ts';
import type { PageId } from '../../app/route.ts';
import { number } from '../../parts/format.ts';
import { t } from '../../strings.ts';

/** The way from the drone to the world, as this node sees it. */

export type Tone = 'good' | 'warn' | 'bad' | 'unknown';

/** One connection of the path. */
export interface PathLink {
  readonly id: 'radio' | 'uplink' | 'fleet';
  readonly kind: 'radio' | 'wifi' | 'ethernet' | 'modem' | 'none' | 'fleet';
  readonly name: string;
  /** What was measured, in words; null: nothing. */
  readonly figures: string | null;
  readonly tone: Tone;
  /** What is weak about it, as the end of a sentence. */
  readonly weak: string | null;
  readonly at: readonly [PageId, ...string[]];
}

export interface PathParts {
  readonly radio: Answer<'wfb.get'> | null;
  readonly network: Answer<'network.get'> | null;
  readonly wifi: Answer<'network.client.status.get'> | null;
  readonly modems: Answer<'network.modem.get'> | null;
  readonly fleet: Answer<'fleet.get'> | null;
}

// There and back, ms, from which on a person feels it; percent of Wi-Fi and modem below which it drops out.
const SLOW_MS = 300;
const FAINT_PERCENT = 35;

const RADIO_TONES = { good: 'good', poor: 'warn', bad: 'bad', none: 'unknown' } as const;

/** Null: this node has no radio. */
export function radioLink({ radio }: PathParts): PathLink | null {
  if (radio === null || radio.state === 'absent') return null;
  const { state, quality, rssi_dbm: rssi, loss_percent: loss, diagnosis, problem } = radio;
  const text = t.node.network.path;
  const figures = [
    rssi == null ? null : `${number(rssi)} dBm`,
    loss == null ? null : text.loss({ percent: number(loss, 1) }),
  ].filter((each) => each !== null);
  const tone = RADIO_TONES[quality];
  return {
    id: 'radio',
    kind: 'radio',
    name: text.radio,
    figures: figures.length === 0 ? t.node.radio.states[state] : figures.join(' · '),
    tone,
    weak: tone === 'good' ? null : (problem ?? diagnosis?.sentence ?? t.node.radio.sentence[state]),
    at: ['node', 'radio'],
  };
}

export function uplinkLink({ network, wifi, modems }: PathParts): PathLink {
  const text = t.node.network.path;
  const used = network?.uplinks.find(({ in_use: inUse }) => inUse) ?? network?.uplinks[0];
  if (used === undefined)
    return {
      id: 'uplink',
      kind: 'none',
      name: network === null ? text.uplink : text.noUplink,
      figures: null,
      tone: 'unknown',
      weak: null,
      at: ['node', 'network'],
    };
  const { interface: name, kind: word, reachable, latency_ms: latency } = used;
  const kind = word === 'wifi' ? 'wifi' : word === 'gsm' ? 'modem' : 'ethernet';
  const percent =
    kind === 'wifi' && wifi?.interface === name
      ? wifi.signal
      : kind === 'modem'
        ? (modems?.modems.find(({ state }) => state === 'connected')?.signal_percent ?? null)
        : null;
  const label = kind === 'wifi' ? (wifi?.ssid ?? text.kinds.wifi) : text.kinds[kind];
  const figures = [
    percent == null ? null : `${number(percent)} %`,
    latency === null ? null : `${number(latency)} ms`,
  ].filter((each) => each !== null);
  const weak =
    reachable === false
      ? text.silent
      : percent !== null && percent < FAINT_PERCENT
        ? text.faint({ percent: number(percent) })
        : latency !== null && latency > SLOW_MS
          ? text.slow({ ms: number(latency) })
          : null;
  return {
    id: 'uplink',
    kind,
    name: label,
    figures: figures.length === 0 ? (reachable === true ? text.reached : null) : figures.join(' · '),
    tone: reachable === false ? 'bad' : weak !== null ? 'warn' : reachable === null ? 'unknown' : 'good',
    weak,
    at: ['node', 'network', kind],
  };
}

/** Null: this node belongs to no fleet. */
export function fleetLink({ fleet }: PathParts): PathLink | null {
  const link = memberOf(fleet, 'link');
  if (link === null || link === undefined) return null;
  const connected = memberOf(link, 'connected') === true;
  const problem = memberOf(link, 'problem');
  const text = t.node.network.path;
  return {
    id: 'fleet',
    kind: 'fleet',
    name: text.fleet,
    figures: connected ? text.connected : text.notConnected,
    tone: connected ? 'good' : 'bad',
    weak: connected ? null : typeof problem === 'string' ? problem : text.notConnected,
    at: ['access', 'fleet'],
  };
}
