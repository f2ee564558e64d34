import { expect } from 'chai';
import fc from 'fast-check';
import {
  PacketStatus,
  RecvDelta,
  RtcpHeader,
  RunLengthChunk,
  StatusVectorChunk,
  TransportWideCC,
} from 'werift';
import { Adaptation, SMALL_KBPS } from '../../residual/video/viewers/adaptation.ts';
import { OVERHEAD_BYTES, Path } from '../../residual/video/viewers/path.ts';

const PACKET = 1140;
const FEEDBACK_MS = 100;
const { TypeTCCPacketNotReceived: LOST, TypeTCCPacketReceivedSmallDelta: SMALL_DELTA } = PacketStatus;
const LARGE_DELTA = PacketStatus.TypeTCCPacketReceivedLargeDelta;

interface Arrival {
  readonly sequence: number;
  /** On the viewer's clock, ms; null: lost. */
  readonly at: number | null;
}

/** What a browser would send, through werift's own writer and reader. */
function feedbackOf(arrivals: readonly Arrival[], vector: boolean): TransportWideCC {
  const first = arrivals.find(({ at }) => at !== null)?.at ?? 0;
  const referenceTime = Math.floor(first / 64);
  let micros = referenceTime * 64_000;
  const recvDeltas: RecvDelta[] = [];
  const statuses = arrivals.map(({ at }) => {
    if (at === null) return LOST;
    const delta = Math.round((at * 1000 - micros) / 250) * 250;
    micros += delta;
    const type = delta >= 0 && delta < 64_000 ? SMALL_DELTA : LARGE_DELTA;
    recvDeltas.push(new RecvDelta({ type, delta }));
    return type;
  });
  const packetChunks = vector
    ? Array.from(
        { length: Math.ceil(statuses.length / 7) },
        (_, index) =>
          new StatusVectorChunk({
            symbolSize: 1,
            symbolList: Array.from({ length: 7 }, (_none, at) => statuses[index * 7 + at] ?? LOST),
          }),
      )
    : statuses.map((packetStatus) => new RunLengthChunk({ packetStatus, runLength: 1 }));
  const written = new TransportWideCC({
    header: new RtcpHeader({ type: 205, count: 15, version: 2, padding: true }),
    senderSsrc: 1,
    mediaSourceSsrc: 2,
    baseSequenceNumber: arrivals[0]?.sequence ?? 0,
    packetStatusCount: statuses.length,
    referenceTime,
    fbPktCount: 0,
    packetChunks,
    recvDeltas,
  }).serialize();
  return TransportWideCC.deSerialize(written.subarray(4), RtcpHeader.deSerialize(written.subarray(0, 4)));
}

/** A path of that rate with a queue of 400 ms, and a viewer behind it whose clock is hours off. */
class ThinPath {
  readonly path = new Path();
  readonly adaptation = new Adaptation();
  readonly #kbps: number;
  readonly #vector: boolean;
  readonly #way: Arrival[] = [];
  #sequence = 65_000;
  #freeAt = 0;
  now = 1000;
  rateSum = 0;

  constructor(kbps: number, vector: boolean) {
    this.#kbps = kbps;
    this.#vector = vector;
  }

  send(bytes: number): void {
    const sequence = this.#sequence;
    this.#sequence = (sequence + 1) & 0xffff;
    this.path.sent(sequence, bytes, this.now);
    const begins = Math.max(this.now, this.#freeAt);
    if (begins - this.now > 400) {
      this.#way.push({ sequence, at: null });
      return;
    }
    this.#freeAt = begins + ((bytes + OVERHEAD_BYTES) * 8) / this.#kbps;
    this.#way.push({ sequence, at: this.#freeAt + 5_000_000 });
  }

  /** @param mainKbps of the main encode, whose key frames are ten times as large as its other pictures */
  run(ms: number, mainKbps: number): void {
    const need = Math.max(mainKbps * 1.2, (mainKbps * 0.25 * 1000) / 120);
    const end = this.now + ms;
    for (let tick = 0; this.now < end; tick++, this.now += 5) {
      const main = this.adaptation.encode === 'main';
      const fps = main ? 30 : 15;
      if (tick % Math.round(200 / fps) === 0) {
        const picture = ((main ? mainKbps : this.adaptation.rateKbps) * 125) / fps;
        const key = main && tick % 200 < Math.round(200 / fps);
        const bytes = main ? picture * (key ? 7.5 : 0.78) : picture;
        for (let left = bytes; left > 0; left -= PACKET) this.send(Math.min(left, PACKET));
      }
      if (tick % 10 === 0) this.#adapt(need);
      if (tick % (FEEDBACK_MS / 5) === 0) this.#report();
    }
  }

  #adapt(need: number): void {
    const { path, adaptation, now } = this;
    const state = {
      queueMs: path.queueMs(now),
      congestedMs: path.congestedMs(now),
      capacityKbps: path.takeCapacity(),
      arrivalKbps: path.arrivalKbps,
      loss: path.loss,
    };
    adaptation.update(now, state, need, true);
    const arrived = path.takeProbe();
    if (arrived !== null) adaptation.probed(now, arrived, this.#offered, need);
    const probe = adaptation.probe(now, need);
    if (probe === null) return;
    this.#offered = probe;
    const count = Math.ceil((probe * 12.5) / 315);
    path.probe(this.#sequence, count, probe);
    for (let sent = 0; sent < count; sent++) this.send(255);
  }

  #offered = 0;

  #report(): void {
    const arrived = this.#way.filter(({ at }) => at === null || at - 5_000_000 <= this.now);
    // In order: what was lost is known once something after it has arrived.
    const last = arrived.findLastIndex(({ at }) => at !== null);
    if (last < 0) return;
    const told = this.#way.splice(0, last + 1);
    this.path.feedback(feedbackOf(told, this.#vector), this.now);
  }
}

describe('a viewer on a thin path', () => {
  const vector = fc.boolean();

  it('gets the small encode, at no more than the path carries and no less than its bounds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 150, max: 1500 }), vector, (kbps, chunks) => {
        const thin = new ThinPath(kbps, chunks);
        thin.run(3000, 2500);
        expect(thin.adaptation.encode).to.equal('small');
        thin.run(30_000, 2500);
        const { rateKbps } = thin.adaptation;
        expect(thin.adaptation.encode).to.equal('small');
        expect(rateKbps).to.be.within(SMALL_KBPS.min, SMALL_KBPS.max);
        expect(rateKbps).to.be.below(Math.max(kbps * 1.1, SMALL_KBPS.min + 1));
        expect(rateKbps).to.be.above(Math.min(kbps * 0.4, 300));
      }),
      { numRuns: 30 },
    );
  });

  it('keeps the main encode on a path that carries it with its key frames', () => {
    fc.assert(
      fc.property(fc.integer({ min: 8000, max: 100_000 }), vector, (kbps, chunks) => {
        const wide = new ThinPath(kbps, chunks);
        wide.run(20_000, 2500);
        expect(wide.adaptation.encode).to.equal('main');
      }),
      { numRuns: 20 },
    );
  });

  it('gets the main encode back when the path has become wide, and a probe has shown it', () => {
    const thin = new ThinPath(500, true);
    thin.run(10_000, 2500);
    expect(thin.adaptation.encode).to.equal('small');
    const wide = Object.assign(new ThinPath(20_000, true), { adaptation: thin.adaptation, now: thin.now });
    wide.run(45_000, 2500);
    expect(wide.adaptation.encode).to.equal('main');
    expect(wide.adaptation.capacityKbps).to.be.above(4000);
  });

  it('gets the small encode where packets are lost without a queue', () => {
    const adaptation = new Adaptation();
    const state = { queueMs: 0, congestedMs: 0, capacityKbps: null, arrivalKbps: 400, loss: 0.05 };
    adaptation.update(1000, state, 3000, true);
    expect(adaptation.encode, 'a bad line is repaired').to.equal('main');
    adaptation.update(2000, { ...state, loss: 0.5 }, 3000, true);
    expect(adaptation.encode).to.equal('small');
    expect(adaptation.rateKbps).to.equal(320);
  });

  it('without reports of arrivals tries the main encode again, with growing pauses', () => {
    const adaptation = new Adaptation();
    const state = { queueMs: null, congestedMs: 0, capacityKbps: null, arrivalKbps: null, loss: null };
    const pauses: number[] = [];
    let changedAt = 0;
    for (let now = 0; now < 200_000; now += 100) {
      const before = adaptation.encode;
      adaptation.update(now, { ...state, loss: before === 'main' ? 0.5 : 0 }, 3000, false);
      if (adaptation.encode === 'main' && before === 'small') pauses.push(now - changedAt);
      if (adaptation.encode !== before) changedAt = now;
    }
    expect(pauses).to.deep.equal([10_000, 20_000, 40_000, 80_000]);
  });
});
