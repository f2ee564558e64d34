import { PacketStatus, RunLengthChunk, type TransportWideCC } from 'werift';

/**
 * What the network path to one viewer carries, read from its transport-wide feedback
 * (draft-holmer-rmcat-transport-wide-cc-extensions-01): how long packets wait in queues on the way, and how fast they arrive
 * while they do. Times: `now` in ms of a steady clock; the viewer's clock has an unknown offset, so only differences count.
 */

/** IP, UDP, RTP with its extensions, and the authentication tag. */
export const OVERHEAD_BYTES = 60;

const RECEIVED: readonly number[] = [
  PacketStatus.TypeTCCPacketReceivedSmallDelta,
  PacketStatus.TypeTCCPacketReceivedLargeDelta,
];

const LIMITS = {
  /** Packets that may be on their way; a power of two. */
  history: 4096,
  /** A wait above it is a queue that builds up; jitter of Wi-Fi stays below. */
  queueMs: 50,
  /** The shortest wait of this long is taken for the path without a queue. */
  baseMs: 15_000,
  /** Over less the rate is noise. */
  rateMs: 80,
  /** Older feedback says nothing about the present. */
  staleMs: 2000,
  /** Loss is counted over at least so long, and over so many packets: less is chance. */
  lossMs: 1000,
  lossPackets: 50,
} as const;

/** Bytes over a stretch of the viewer's time. */
class Stretch {
  #from = 0;
  #to = 0;
  #bytes = 0;

  begin(at: number): void {
    this.#from = at;
    this.#to = at;
    this.#bytes = 0;
  }

  /** The first packet only marks the begin: its own time on the line lies before it. */
  add(at: number, bytes: number): void {
    this.#to = Math.max(this.#to, at);
    this.#bytes += bytes;
  }

  get end(): number {
    return this.#to;
  }

  get ms(): number {
    return this.#to - this.#from;
  }

  get kbps(): number {
    return (this.#bytes * 8) / Math.max(1, this.ms);
  }
}

export class Path {
  readonly #sentAt = new Float64Array(LIMITS.history);
  readonly #bytes = new Float64Array(LIMITS.history);
  readonly #sequence = new Int32Array(LIMITS.history).fill(-1);
  /** The shortest wait of the present and of the last stretch of time. */
  #base: readonly [number, number] = [Infinity, Infinity];
  #baseAt = -Infinity;
  #queueMs: number | null = null;
  #heardAt = -Infinity;
  /** Since when packets have waited too long, by `now`; null while they do not. */
  #congestedSince: number | null = null;
  readonly #congestion = new Stretch();
  #capacityKbps: number | null = null;
  readonly #counted = new Stretch();
  #countedAt = -Infinity;
  #packets = 0;
  #lost = 0;
  #loss: number | null = null;
  #reported = 0;
  #arrivalKbps: number | null = null;
  #probe: { readonly from: number; readonly count: number; readonly offeredKbps: number } | null = null;
  readonly #probing = new Stretch();
  #probeHeard = 0;
  #probeDone: number | null = null;

  /** @param sequence transport-wide, 16 bits. @param bytes of its payload */
  sent(sequence: number, bytes: number, now: number): void {
    const slot = sequence % LIMITS.history;
    this.#sequence[slot] = sequence;
    this.#sentAt[slot] = now;
    this.#bytes[slot] = bytes + OVERHEAD_BYTES;
  }

  /** The `count` packets from that sequence number on were sent at `offeredKbps` to see whether they arrive as fast. */
  probe(from: number, count: number, offeredKbps: number): void {
    this.#probe = { from, count, offeredKbps };
    this.#probeHeard = 0;
    this.#probeDone = null;
  }

  get probing(): boolean {
    return this.#probe !== null;
  }

  /** The rate at which the last probe arrived, kbit/s; null before it did. It is told once. */
  takeProbe(): number | null {
    const done = this.#probeDone;
    this.#probeDone = null;
    return done;
  }

  feedback(feedback: TransportWideCC, now: number): void {
    let sequence = feedback.baseSequenceNumber;
    let micros = feedback.referenceTime * 64_000;
    let left = feedback.packetStatusCount;
    let delta = 0;
    for (const chunk of feedback.packetChunks) {
      const run = chunk instanceof RunLengthChunk;
      const count = Math.min(left, run ? chunk.runLength : chunk.symbolList.length);
      for (let index = 0; index < count; index++, sequence = (sequence + 1) & 0xffff) {
        const status = run ? chunk.packetStatus : (chunk.symbolList[index] ?? 0);
        this.#packets++;
        if (!RECEIVED.includes(status)) {
          this.#lost++;
          continue;
        }
        micros += feedback.recvDeltas[delta++]?.delta ?? 0;
        this.#arrived(sequence, micros / 1000, now);
      }
      left -= count;
    }
    this.#heardAt = now;
    this.#count(now);
  }

  /** The share of lost packets of a receiver report (RFC 3550 6.4.1), for a viewer without transport-wide feedback. */
  reported(loss: number, now: number): void {
    if (this.queueMs(now) === null) this.#loss = Math.min(loss, this.#reported); // one report alone may be chance
    this.#reported = loss;
  }

  /** The share of packets that were lost lately and not repaired at once; null before the viewer reported any. */
  get loss(): number | null {
    return this.#loss;
  }

  /** What arrived lately, kbit/s: the path carries at least that. Null without transport-wide feedback. */
  get arrivalKbps(): number | null {
    return this.#arrivalKbps;
  }

  /** How long the newest packet waited in queues; null while the viewer reports nothing. */
  queueMs(now: number): number | null {
    return now - this.#heardAt > LIMITS.staleMs ? null : this.#queueMs;
  }

  /** How long packets have been waiting too long by now; 0 while they do not. */
  congestedMs(now: number): number {
    return this.#congestedSince === null || this.queueMs(now) === null ? 0 : now - this.#congestedSince;
  }

  /** What arrived while packets waited: what the path carries, kbit/s. Null if they did not since the last call. */
  takeCapacity(): number | null {
    this.#measure();
    const capacity = this.#capacityKbps;
    this.#capacityKbps = null;
    return capacity;
  }

  #arrived(sequence: number, at: number, now: number): void {
    const slot = sequence % LIMITS.history;
    if (this.#sequence[slot] !== sequence) return; // reported before, or not ours
    this.#sequence[slot] = -1;
    const bytes = this.#bytes[slot] ?? 0;
    const wait = at - (this.#sentAt[slot] ?? 0);
    if (now - this.#baseAt > LIMITS.baseMs) {
      this.#base = [wait, this.#base[0]];
      this.#baseAt = now;
    } else if (wait < this.#base[0]) this.#base = [wait, this.#base[1]];
    const queue = wait - Math.min(...this.#base);
    this.#queueMs = queue;
    if (queue < LIMITS.queueMs) {
      this.#measure();
      this.#congestedSince = null;
    } else if (this.#congestedSince === null) {
      this.#congestedSince = now;
      this.#congestion.begin(at);
    } else this.#congestion.add(at, bytes);
    this.#counted.add(at, bytes);
    this.#probed(sequence, at, bytes);
  }

  #measure(): void {
    if (this.#congestedSince !== null && this.#congestion.ms >= LIMITS.rateMs)
      this.#capacityKbps = this.#congestion.kbps;
  }

  #count(now: number): void {
    if (now - this.#countedAt < LIMITS.lossMs || this.#packets < LIMITS.lossPackets) return;
    this.#loss = this.#lost / this.#packets;
    this.#arrivalKbps = this.#counted.ms > 0 ? this.#counted.kbps : null;
    this.#countedAt = now;
    this.#packets = 0;
    this.#lost = 0;
    this.#counted.begin(this.#counted.end);
  }

  #probed(sequence: number, at: number, bytes: number): void {
    if (this.#probe === null) return;
    const { from, count, offeredKbps } = this.#probe;
    const index = (sequence - from) & 0xffff;
    if (index >= count) {
      // A packet after it: what has not arrived by now is lost.
      if (index < 0x8000 && this.#probeHeard > 0) this.#endProbe(offeredKbps, count);
      return;
    }
    if (this.#probeHeard++ === 0) this.#probing.begin(at);
    else this.#probing.add(at, bytes);
    if (index === count - 1) this.#endProbe(offeredKbps, count);
  }

  #endProbe(offeredKbps: number, count: number): void {
    const share = this.#probeHeard / count; // of what was lost, nothing is carried
    this.#probeDone = Math.min(offeredKbps, this.#probing.kbps) * share;
    this.#probe = null;
  }
}
