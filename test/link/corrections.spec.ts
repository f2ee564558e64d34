import { expect } from 'chai';
import fc from 'fast-check';
import { Corrections } from '../../front/link/corrections/corrections.ts';
import { fragmentsOf } from '../../front/link/corrections/fragments.ts';
import { crc24q } from '../../front/link/corrections/rtcm.ts';
import type { OpenStream, StreamEvents } from '../../front/link/corrections/stream.ts';
import { rtkState } from '../../shared/schemas/rtk.ts';
import { compileValidator, createAjv } from '../../shared/schemas/validator.ts';
import { FakeClock } from './fake-clock.ts';
import { SILENT_LOG } from './rig.ts';
import { Assembler, bitwiseCrc, framer, rtcm } from './rtcm-samples.ts';

const valid = compileValidator(createAjv(), rtkState);

describe('RTCM 3 frames', () => {
  it('CRC-24Q is that of its definition', () => {
    // https://reveng.sourceforge.io/crc-catalogue/17plus.htm: CRC-24/LTE-A has the same polynomial and initial value
    expect(crc24q(Buffer.from('123456789'))).to.equal(0xcd_e7_03);
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => crc24q(bytes) === bitwiseCrc(bytes)));
  });

  it('are found whatever lies between them, however they are cut', () => {
    const garbage = fc.uint8Array({ maxLength: 60 }).map((bytes) => bytes.filter((byte) => byte !== 0xd3));
    const frame = fc
      .tuple(fc.integer({ min: 0, max: 4095 }), fc.integer({ min: 2, max: 1023 }), fc.nat(255))
      .map(([type, size, fill]) => rtcm(type, size, fill));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(garbage, frame), { maxLength: 6 }),
        fc.integer({ min: 1, max: 900 }),
        (all, cut) => {
          const stream = Buffer.concat(all.flat());
          const seen = framer();
          for (let at = 0; at < stream.length; at += cut) seen.framer.push(stream.subarray(at, at + cut));
          expect(seen.frames).to.deep.equal(all.map(([, each]) => each));
          expect(seen.bad).to.equal(0);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('of each its type is told; one without a message has none', () => {
    const seen = framer();
    seen.framer.push(Buffer.concat([rtcm(1005, 19), rtcm(0, 0), rtcm(4095, 1023)]));
    expect(seen.types).to.deep.equal([1005, null, 4095]);
  });

  it('a wrong checksum is counted, and hides no frame that begins within', () => {
    const seen = framer();
    const wrong = rtcm(1077, 300);
    wrong.writeUInt8(0, 100);
    const inner = rtcm(1005, 19);
    inner.copy(wrong, 150);
    seen.framer.push(Buffer.concat([wrong, rtcm(1087, 50)]));
    expect([seen.types, seen.bad]).to.deep.equal([[1005, 1087], 1]);
  });

  it('what looks like one frame after the other is given up when told so', () => {
    const seen = framer(50);
    const hostile = Buffer.alloc(200_000);
    for (let at = 0; at < hostile.length; at += 2) hostile.writeUInt16BE(0xd3_03, at);
    expect(seen.framer.push(hostile)).to.equal(false);
    expect(seen.bad).to.equal(50);
  });
});

describe('GPS_RTCM_DATA', () => {
  it('is put together to the same bytes, whatever the length', () => {
    const assembler = new Assembler();
    const message = fc.integer({ min: 1, max: 720 }).map((size) => Buffer.alloc(size, size));
    fc.assert(
      fc.property(fc.array(message, { maxLength: 40 }), (messages) => {
        assembler.whole.length = 0;
        for (const [sequence, each] of messages.entries())
          for (const { flags, data } of fragmentsOf(each, sequence) ?? []) assembler.take(flags, data);
        expect(assembler.whole).to.deep.equal(messages);
      }),
    );
  });

  for (const [size, lengths] of [
    [1, [1]],
    [180, [180]],
    [181, [180, 1]],
    [360, [180, 180, 0]],
    [540, [180, 180, 180, 0]],
    [719, [180, 180, 180, 179]],
    [720, [180, 180, 180, 180]],
    [721, undefined],
  ] as const)
    it(`of ${size} bytes: ${lengths?.join(', ') ?? 'too long'}`, () => {
      expect(fragmentsOf(Buffer.alloc(size), 0)?.map(({ data }) => data.length)).to.deep.equal(lengths);
    });

  it('has the flags of the standard', () => {
    const flags = (size: number, sequence: number) =>
      fragmentsOf(Buffer.alloc(size), sequence)?.map((fragment) => fragment.flags);
    expect(flags(100, 3)).to.deep.equal([3 << 3]);
    expect(flags(720, 31)).to.deep.equal([0xf9, 0xfb, 0xfd, 0xff]);
    expect(flags(200, 32)).to.deep.equal([1, 3]);
  });
});

/** A stream whose other end is the test. */
class MemoryStream {
  readonly opened: StreamEvents[] = [];
  closed = 0;

  readonly open: OpenStream = (events) => {
    this.opened.push(events);
    return { close: () => this.closed++ };
  };

  get now(): StreamEvents {
    const now = this.opened.at(-1);
    if (now === undefined) throw new Error('it was not opened');
    return now;
  }
}

interface Setting {
  readonly baud?: number;
  readonly isFull?: () => boolean;
  readonly lacksPlace?: boolean;
}

class CorrectionsRig {
  readonly clock = new FakeClock();
  readonly stream = new MemoryStream();
  readonly assembler = new Assembler();
  readonly corrections: Corrections;

  constructor({ baud, isFull = () => false, lacksPlace = false }: Setting = {}) {
    this.corrections = new Corrections({
      clock: this.clock,
      log: SILENT_LOG,
      random: () => 1,
      source: 'ntrip:caster.example:2101',
      mountpoint: 'BASE',
      open: this.stream.open,
      place: () => null,
      lacksPlace: () => lacksPlace,
      vehicle: {
        baud: () => baud ?? null,
        send: (flags, data) => {
          if (isFull()) return false;
          this.assembler.take(flags, data);
          return true;
        },
      },
    });
    this.corrections.start();
  }

  get state() {
    const { state } = this.corrections;
    expect(valid(state)).to.equal(null);
    return state;
  }
}

describe('corrections', () => {
  it('go to the vehicle as they come, and are counted', async () => {
    const rig = new CorrectionsRig();
    expect(rig.state).to.include({
      state: 'connecting',
      bytes: 0,
      age_s: null,
      mountpoints: null,
      problem: null,
    });
    rig.stream.now.onOpen();
    expect(rig.state.state).to.equal('connecting');
    const frames = [rtcm(1005, 19), rtcm(1077, 540), rtcm(1087, 354), rtcm(1005, 19)];
    for (const frame of frames) {
      rig.stream.now.onData(frame);
      await rig.clock.advance(500);
    }
    expect(rig.assembler.whole).to.deep.equal(frames);
    const bytes = Buffer.concat(frames).length;
    expect(rig.state).to.deep.equal({
      state: 'streaming',
      source: 'ntrip:caster.example:2101',
      mountpoint: 'BASE',
      bytes,
      frames: 4,
      bad_frames: 0,
      dropped: 0,
      messages: { 1005: 2, 1077: 1, 1087: 1 },
      rate_bps: (bytes * 8) / 2,
      age_s: 0.5,
      mountpoints: null,
      problem: null,
    });
    await rig.clock.advance(6000);
    expect(rig.state.rate_bps).to.equal(0);
    rig.corrections.stop();
    expect([rig.stream.closed, rig.clock.pending]).to.deep.equal([1, 0]);
  });

  it('that do not come are stale after 10 s; after 30 s the source is opened again', async () => {
    const rig = new CorrectionsRig();
    rig.stream.now.onOpen();
    rig.stream.now.onData(rtcm(1005, 19));
    await rig.clock.advance(9900);
    expect(rig.state.state).to.equal('streaming');
    await rig.clock.advance(100);
    expect(rig.state).to.include({ state: 'stale', problem: 'Nothing comes from the source.' });
    await rig.clock.advance(20_900);
    expect(rig.stream.opened).to.have.length(1);
    expect(rig.state.state).to.equal('failed');
    expect(rig.stream.closed).to.equal(1);
    await rig.clock.advance(1250);
    expect(rig.stream.opened).to.have.length(2);
    rig.stream.now.onOpen();
    rig.stream.now.onData(rtcm(1005, 19));
    expect(rig.state).to.include({ state: 'streaming', problem: null, frames: 2 });
  });

  it('of a virtual station wait for the place of the vehicle, which the state says', async () => {
    const rig = new CorrectionsRig({ lacksPlace: true });
    rig.stream.now.onOpen();
    await rig.clock.advance(10_000);
    expect(rig.state.problem).to.match(/place of the vehicle, which is not known/);
  });

  it('a source that fails is opened again after 1 s to 60 s, at once again once it has worked for 10 s', async () => {
    const rig = new CorrectionsRig();
    const pauses: number[] = [];
    const fail = async (): Promise<number> => {
      const count = rig.stream.opened.length;
      rig.stream.now.onEnd('It is away.');
      expect(rig.state).to.include({ state: 'failed', problem: 'It is away.' });
      let pause = 0;
      for (; rig.stream.opened.length === count; pause += 50) await rig.clock.advance(50);
      return pause;
    };
    for (let round = 0; round < 8; round++) pauses.push(await fail());
    expect(pauses).to.deep.equal([1250, 2500, 5000, 10_000, 20_000, 40_000, 60_000, 60_000]);
    const events = rig.stream.now;
    events.onOpen();
    events.onData(rtcm(1005, 19));
    expect(await fail(), 'it has not lasted').to.equal(60_000);
    rig.stream.now.onOpen();
    await rig.clock.advance(10_000);
    rig.stream.now.onData(rtcm(1005, 19));
    expect(await fail()).to.equal(1250);
    events.onData(rtcm(1005, 19));
    expect(rig.state.frames, 'a connection that is over says nothing any more').to.equal(2);
  });

  it('a source that floods is closed, whatever it sends', async () => {
    const rig = new CorrectionsRig();
    const chunk = Buffer.concat(Array.from({ length: 60 }, () => rtcm(1077, 1000)));
    rig.stream.now.onOpen();
    let taken = 0;
    for (; rig.stream.closed === 0; taken += chunk.length) rig.stream.now.onData(chunk);
    expect(taken).to.be.below(400_000);
    expect(rig.state).to.include({ state: 'failed' });
    expect(rig.state.problem).to.match(/more than 64 kB a second/);
  });

  it('a source of damaged frames is closed; what is no RTCM 3 at all is said', async () => {
    const rig = new CorrectionsRig();
    rig.stream.now.onOpen();
    const damaged = rtcm(1077, 100).fill(0, 50, 60);
    while (rig.stream.closed === 0) rig.stream.now.onData(damaged);
    expect(rig.state.bad_frames).to.equal(101);
    expect(rig.state.problem).to.match(/damaged, or no RTCM 3/);
    await rig.clock.advance(1250);
    rig.stream.now.onOpen();
    for (let second = 0; second < 10; second++) {
      rig.stream.now.onData(Buffer.from('$GPGGA,and so on*00\r\n'));
      await rig.clock.advance(1000);
    }
    expect(rig.state).to.include({ state: 'stale', problem: 'What comes from the source is no RTCM 3.' });
  });

  it('what is too long, or finds no way, is dropped whole and counted', () => {
    let isFull = false;
    const rig = new CorrectionsRig({ isFull: () => isFull });
    rig.stream.now.onOpen();
    rig.stream.now.onData(rtcm(1077, 714));
    rig.stream.now.onData(rtcm(1077, 715));
    expect(rig.state).to.include({ frames: 2, dropped: 1 });
    expect(rig.state.problem).to.match(/^Message 1077 has 721 bytes and is left out/);
    isFull = true;
    rig.stream.now.onData(rtcm(1005, 19));
    expect(rig.state).to.include({ frames: 3, dropped: 2 });
    expect(rig.assembler.whole).to.have.length(1);
  });

  it('take half of a slow line at most, so that commands get through', async () => {
    const rig = new CorrectionsRig({ baud: 57_600 });
    rig.stream.now.onOpen();
    for (let second = 0; second < 10; second++) {
      for (let each = 0; each < 20; each++) rig.stream.now.onData(rtcm(1077, 500));
      await rig.clock.advance(1000);
    }
    const left = Buffer.concat(rig.assembler.whole).length;
    expect(left / 10).to.be.within(2000, 5760 * 0.6);
    expect(rig.state.problem).to.match(/no room for all corrections/);
    expect(rig.state.dropped).to.equal(200 - rig.assembler.whole.length);
  });

  it('no stream breaks them: random bytes, and frames cut anywhere', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 2000 }), { maxLength: 30 }), (chunks) => {
        const rig = new CorrectionsRig();
        rig.stream.now.onOpen();
        for (const chunk of chunks) rig.stream.now.onData(Buffer.from(chunk));
        expect(rig.state.frames + rig.state.bad_frames).to.be.below(110);
      }),
    );
  });
});
