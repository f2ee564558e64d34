import type { Profile } from '../../../shared/profile.ts';
import type { Made, Whole } from '../../../shared/schemas/made.ts';
import type { radioStatus } from '../../../shared/schemas/radio.ts';
import type { AntennaReport, StreamReport } from './report.ts';

type Antenna = Whole<Made<typeof radioStatus>['antennas'][number]>;

/** Figures of a link; what the radio does not say is null. */
export interface Figures {
  readonly rssi_dbm: number | null;
  readonly snr_db: number | null;
  readonly noise_dbm: number | null;
  readonly frequency_mhz: number | null;
  readonly mcs_index: number | null;
  readonly bandwidth_mhz: number | null;
  readonly packets_all: number | null;
  readonly packets_received: number | null;
  readonly packets_lost: number | null;
  readonly fec_recovered: number | null;
  readonly fec_failed: number | null;
  readonly decrypt_errors: number | null;
  readonly packets_bad: number | null;
  /** After and before FEC, over the last three reports. */
  readonly loss_percent: number | null;
  readonly loss_before_fec_percent: number | null;
  readonly bitrate_kbps: number | null;
  /** Share of what was to be sent that the card did not take, over the last three reports. */
  readonly tx_dropped_percent: number | null;
  readonly fec_k: number | null;
  readonly fec_n: number | null;
  /** Index of the card that sends. */
  readonly tx_card: number | null;
  readonly antennas: readonly Antenna[];
}

export const NO_FIGURES: Figures = {
  rssi_dbm: null,
  snr_db: null,
  noise_dbm: null,
  frequency_mhz: null,
  mcs_index: null,
  bandwidth_mhz: null,
  packets_all: null,
  packets_received: null,
  packets_lost: null,
  fec_recovered: null,
  fec_failed: null,
  decrypt_errors: null,
  packets_bad: null,
  loss_percent: null,
  loss_before_fec_percent: null,
  bitrate_kbps: null,
  tx_dropped_percent: null,
  fec_k: null,
  fec_n: null,
  tx_card: null,
  antennas: [],
};

type Streams = ReadonlyMap<string, readonly StreamReport[]>;

/**
 * On a ground station of the video that it receives, on a drone of the tunnel, and the bit rate of the video that it sends.
 * @param streams the newest reports of each stream, oldest first
 */
export function figuresOf(streams: Streams, profile: Profile, intervalMs: number): Figures {
  const drone = profile === 'drone';
  const received = streams.get(drone ? 'tunnel rx' : 'video rx') ?? [];
  const newest = received.at(-1);
  const tunnel = streams.get('tunnel rx')?.at(-1);
  // Without video the tunnel still shows how well the other end is heard.
  const reports = (newest?.antennas.length ?? 0) > 0 ? newest?.antennas : tunnel?.antennas;
  const antennas = (reports ?? []).map(antennaOf);
  const best = antennas.reduce<Antenna | null>(
    (top, each) => (top === null || each.rssi_dbm > top.rssi_dbm ? each : top),
    null,
  );
  const total = (name: string): number | null => newest?.packets[name]?.[1] ?? null;
  const sent = streams.get('video tx') ?? [];
  const rate = drone ? sent.at(-1)?.packets['injected_bytes'] : newest?.packets['out_bytes'];
  return {
    rssi_dbm: best?.rssi_dbm ?? null,
    snr_db: best?.snr_db ?? null,
    noise_dbm: best === null ? null : best.rssi_dbm - best.snr_db,
    frequency_mhz: best?.frequency_mhz ?? null,
    mcs_index: best?.mcs ?? null,
    bandwidth_mhz: best?.bandwidth_mhz ?? null,
    packets_all: total('all'),
    packets_received: total('uniq'),
    packets_lost: total('lost'),
    fec_recovered: total('fec_rec'),
    fec_failed: total('lost'),
    decrypt_errors: total('dec_err'),
    packets_bad: total('bad'),
    ...lossOf(received),
    bitrate_kbps: rate === undefined ? null : Math.round((rate[0] * 8) / intervalMs),
    tx_dropped_percent: droppedOf(sent.length > 0 ? sent : (streams.get('tunnel tx') ?? [])),
    fec_k: newest?.session?.fec_k ?? null,
    fec_n: newest?.session?.fec_n ?? null,
    tx_card: newest?.tx_wlan ?? tunnel?.tx_wlan ?? null,
    antennas,
  };
}

/**
 * Before FEC: `1 - uniq / ((out + lost) * n / k)`. After a silence `lost` jumps by all that was sent meanwhile, so the first
 * report after one does not count.
 */
function lossOf(reports: readonly StreamReport[]): Pick<Figures, 'loss_percent' | 'loss_before_fec_percent'> {
  const used = reports.filter((report, index) => {
    const before = reports[index - 1];
    return before === undefined ? sum([report], 'lost') <= sum([report], 'out') : sum([before], 'data') > 0;
  });
  const whole = sum(used, 'out') + sum(used, 'lost');
  const session = used.at(-1)?.session ?? null;
  if (whole === 0) return { loss_percent: null, loss_before_fec_percent: null };
  return {
    loss_percent: percent(sum(used, 'lost') / whole),
    loss_before_fec_percent:
      session === null ? null : percent(1 - (sum(used, 'uniq') * session.fec_k) / (whole * session.fec_n)),
  };
}

function droppedOf(reports: readonly StreamReport[]): number | null {
  const dropped = sum(reports, 'dropped');
  const all = dropped + sum(reports, 'injected');
  return all === 0 ? null : percent(dropped / all);
}

function sum(reports: readonly StreamReport[], name: string): number {
  return reports.reduce((all, { packets }) => all + (packets[name]?.[0] ?? 0), 0);
}

function percent(share: number): number {
  return Math.round(Math.min(1, Math.max(0, share)) * 1000) / 10;
}

function antennaOf({ ant, freq, mcs, bw, pkt_recv, rssi_avg, snr_avg }: AntennaReport): Antenna {
  const id = BigInt(ant);
  const host = Number((id >> 32n) & 0xffff_ffffn);
  return {
    id: String(id),
    card: Number((id >> 8n) & 0xff_ffffn),
    antenna: Number(id & 0xffn),
    host: host === 0 ? null : [24, 16, 8, 0].map((shift) => (host >>> shift) & 0xff).join('.'),
    frequency_mhz: freq,
    mcs,
    bandwidth_mhz: bw,
    packets: pkt_recv,
    rssi_dbm: rssi_avg,
    snr_db: snr_avg,
  };
}
