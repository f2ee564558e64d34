import { type AirFrame, airBytes, type Session, type StreamName } from './air-frame.ts';
import { Counters } from './counters.ts';

interface Block {
  readonly data: Map<number, Buffer>;
  readonly heard: Set<number>;
  /** The packets of the whole block, from a parity frame. */
  whole: readonly Buffer[] | null;
}

const PACKETS = [
  'all',
  'all_bytes',
  'dec_err',
  'session',
  'data',
  'uniq',
  'fec_rec',
  'lost',
  'bad',
  'out',
  'out_bytes',
] as const;
/** Blocks that wait for frames, as in wfb-ng. */
const RING = 40;
/** The simulated air has no distance: these never change. */
const SIGNAL = { rssi_min: -46, rssi_avg: -45, rssi_max: -44, snr_min: 44, snr_avg: 45, snr_max: 46 };

/** One stream that is received: rebuilds blocks of which k frames came, and delivers packets in their order. */
export class Receiver {
  readonly #stream: StreamName;
  readonly #deliver: (packet: Buffer) => void;
  readonly #packets = new Counters(PACKETS);
  readonly #blocks = new Map<number, Block>();
  #session: Session | null = null;
  /** The next block to deliver, and the next packet of it; null before the first frame of a session. */
  #next: { block: number; fragment: number } | null = null;
  #lastSeq: number | null = null;
  #heard = 0;

  constructor(stream: StreamName, deliver: (packet: Buffer) => void) {
    this.#stream = stream;
    this.#deliver = deliver;
  }

  /** @param tag of this end's own key; null if it has none */
  receive(frame: AirFrame, tag: Buffer | null): void {
    this.#packets.add('all');
    this.#packets.add('all_bytes', airBytes(frame));
    const mine = tag?.equals(frame.tag) === true;
    if (!mine || (frame.kind === 'data' && frame.epoch !== this.#session?.epoch))
      this.#packets.add('dec_err');
    else if (frame.kind === 'session') this.#join(frame);
    else this.#data(frame);
  }

  #join({ epoch, k, n, mcs, bandwidth }: Session): void {
    this.#packets.add('session');
    if (epoch === this.#session?.epoch) return;
    this.#session = { epoch, k, n, mcs, bandwidth };
    this.#blocks.clear();
    this.#next = null;
    this.#lastSeq = null;
  }

  #data({ block: number, fragment, k, payloads }: AirFrame): void {
    this.#heard++;
    this.#packets.add('data');
    const next = (this.#next ??= { block: number, fragment: 0 });
    const block = this.#blocks.get(number) ?? { data: new Map(), heard: new Set(), whole: null };
    if (block.heard.has(fragment)) return;
    this.#packets.add('uniq');
    if (number < next.block) return; // of a block that was delivered already
    this.#blocks.set(number, block);
    block.heard.add(fragment);
    if (fragment >= k) block.whole = payloads;
    else if (payloads[0] !== undefined) block.data.set(fragment, payloads[0]);
    if (block.heard.size >= k) {
      this.#rebuild(block);
      this.#flush(number);
    } else if (this.#blocks.size > RING) this.#flush(Math.min(...this.#blocks.keys()));
    this.#inOrder(k);
  }

  #rebuild({ data, whole }: Block): void {
    whole?.forEach((packet, index) => {
      if (data.has(index)) return;
      data.set(index, packet);
      this.#packets.add('fec_rec');
    });
  }

  /** Delivers what there is of all blocks up to this one. */
  #flush(last: number): void {
    const numbers = [...this.#blocks.keys()].filter((number) => number <= last).toSorted((a, b) => a - b);
    for (const number of numbers) {
      const { data = new Map<number, Buffer>() } = this.#blocks.get(number) ?? {};
      const done = number === this.#next?.block ? this.#next.fragment : 0;
      for (const [fragment, packet] of [...data].toSorted(([a], [b]) => a - b))
        if (fragment >= done) this.#out(number, fragment, packet);
      this.#blocks.delete(number);
    }
    this.#next = { block: last + 1, fragment: 0 };
  }

  /** Delivers packets before which none is missing. */
  #inOrder(k: number): void {
    const { block, fragment } = this.#next ?? { block: 0, fragment: 0 };
    const data = this.#blocks.get(block)?.data;
    for (let index = fragment; index < k; index++) {
      const packet = data?.get(index);
      if (packet === undefined) return;
      this.#out(block, index, packet);
      this.#next = { block, fragment: index + 1 };
    }
  }

  #out(block: number, fragment: number, packet: Buffer): void {
    const seq = block * (this.#session?.k ?? 1) + fragment;
    if (this.#lastSeq !== null) this.#packets.add('lost', seq - this.#lastSeq - 1);
    this.#lastSeq = seq;
    this.#packets.add('out');
    this.#packets.add('out_bytes', packet.length);
    this.#deliver(packet);
  }

  /**
   * The record of this stream; begins a new interval.
   * @param timestamp seconds, wall clock
   * @param freq MHz
   */
  report(timestamp: number, freq: number) {
    const session = this.#session;
    const heard = this.#heard;
    this.#heard = 0;
    return {
      type: 'rx',
      timestamp,
      id: `${this.#stream} rx`,
      tx_wlan: session === null ? null : 0,
      packets: this.#packets.take(),
      session: session && { fec_type: 'VDM_RS', fec_k: session.k, fec_n: session.n, epoch: 0 },
      rx_ant_stats:
        heard === 0 || session === null
          ? []
          : [{ ant: 0, freq, mcs: session.mcs, bw: session.bandwidth, pkt_recv: heard, ...SIGNAL }],
    };
  }
}

export type ReceiverReport = ReturnType<Receiver['report']>;
