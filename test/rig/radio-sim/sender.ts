import { randomInt } from 'node:crypto';
import type { JsonObject } from '../../../shared/member.ts';
import { type AirFrame, airBytes, MAX_PAYLOAD, type Session, type StreamName } from './air-frame.ts';
import { Counters } from './counters.ts';

export interface SenderOptions extends Omit<Session, 'epoch'> {
  readonly stream: StreamName;
  /**
   * Sends a frame; the rest of it is the radio's.
   * @param sent called with whether it was sent
   * @returns false if nothing can be sent now
   */
  readonly transmit: (frame: Omit<AirFrame, 'channel' | 'tag'>, sent: (ok: boolean) => void) => boolean;
  /** Monotonic clock, ms. */
  readonly now: () => number;
}

const PACKETS = [
  'fec_timeouts',
  'incoming',
  'incoming_bytes',
  'injected',
  'injected_bytes',
  'dropped',
  'truncated',
] as const;
/** The antenna number of a card that sends: card 0, no antenna. */
const ANT = 255;

/** One stream that is sent: packets become blocks of k packets and n - k parity frames. */
export class Sender {
  readonly #options: SenderOptions;
  readonly #packets = new Counters(PACKETS);
  #latencies: number[] = [];
  #failed = 0;
  #epoch = newEpoch();
  #block = 0;
  #collected: Buffer[] = [];

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Begins a new session. */
  renew(): void {
    this.#epoch = newEpoch();
    this.#block = 0;
    this.#collected = [];
    this.announce();
  }

  /** Tells the other end of this session: without it nothing can be decrypted there. */
  announce(): void {
    this.#transmit('session', 0, []);
  }

  send(packet: Buffer): void {
    this.#packets.add('incoming');
    this.#packets.add('incoming_bytes', packet.length);
    if (packet.length > MAX_PAYLOAD) this.#packets.add('truncated');
    const payload = packet.subarray(0, MAX_PAYLOAD);
    const { k, n } = this.#options;
    this.#transmit('data', this.#collected.length, [payload]);
    this.#collected.push(payload);
    if (this.#collected.length < k) return;
    for (let fragment = k; fragment < n; fragment++) this.#transmit('data', fragment, this.#collected);
    this.#collected = [];
    this.#block++;
  }

  #transmit(kind: AirFrame['kind'], fragment: number, payloads: readonly Buffer[]): void {
    const { stream, k, n, mcs, bandwidth, transmit, now } = this.#options;
    const session = { epoch: this.#epoch, k, n, mcs, bandwidth };
    const frame = { ...session, stream, kind, fragment, block: this.#block, payloads };
    const begun = now();
    const sent = (ok: boolean): void => {
      if (ok) this.#latencies.push(Math.max(1, Math.round((now() - begun) * 1000)));
      else this.#failed++;
    };
    if (!transmit(frame, sent)) {
      if (kind === 'data') this.#packets.add('dropped');
      return;
    }
    this.#packets.add('injected');
    this.#packets.add('injected_bytes', airBytes({ ...frame, channel: 0, tag: Buffer.alloc(0) }));
  }

  /** The record of this stream; begins a new interval. @param timestamp seconds, wall clock */
  report(timestamp: number): JsonObject {
    const latencies = this.#latencies;
    const antenna = {
      ant: ANT,
      pkt_sent: latencies.length,
      pkt_drop: this.#failed,
      lat_min: latencies.reduce((a, b) => Math.min(a, b), Number.MAX_SAFE_INTEGER),
      lat_avg: Math.round(latencies.reduce((a, b) => a + b, 0) / Math.max(1, latencies.length)),
      lat_max: latencies.reduce((a, b) => Math.max(a, b), 0),
    };
    const record = {
      type: 'tx',
      timestamp,
      id: `${this.#options.stream} tx`,
      packets: this.#packets.take(),
      rf_temperature: {},
      tx_ant_stats: latencies.length === 0 ? [] : [antenna],
    };
    this.#latencies = [];
    this.#failed = 0;
    return record;
  }
}

function newEpoch(): number {
  return randomInt(1, 2 ** 32);
}
