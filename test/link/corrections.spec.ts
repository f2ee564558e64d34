import { expect } from 'chai';
import fc from 'fast-check';
import { fragmentsOf } from '../../front/link/corrections/fragments.ts';
import { crc24q, RtcmFramer } from '../../front/link/corrections/rtcm.ts';

/** A frame around a message of this type. @param size of the message, bytes */
function rtcm(type: number, size: number, fill = 0x5a): Buffer {
  const frame = Buffer.alloc(size + 6, fill);
  frame.writeUInt8(0xd3, 0);
  frame.writeUInt16BE(size, 1);
  if (size >= 2) frame.writeUInt16BE(type << 4, 3);
  frame.writeUIntBE(bitwiseCrc(frame.subarray(0, size + 3)), size + 3, 3);
  return frame;
}

/** CRC-24Q as its definition says it, a bit at a time. */
function bitwiseCrc(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 16;
    for (let bit = 0; bit < 8; bit++) {
      crc <<= 1;
      if ((crc & 0x1_00_00_00) !== 0) crc ^= 0x1_86_4c_fb;
    }
  }
  return crc;
}

interface Framed {
  readonly frames: Buffer[];
  readonly types: (number | null)[];
  bad: number;
  /** Bad frames until it is told to stop. */
  patience: number;
}

function framer(patience = Infinity): Framed & { readonly framer: RtcmFramer } {
  const seen: Framed = { frames: [], types: [], bad: 0, patience };
  return Object.assign(seen, {
    framer: new RtcmFramer({
      onFrame(frame, type) {
        seen.frames.push(Buffer.from(frame));
        seen.types.push(type);
      },
      onBadFrame: () => ++seen.bad < seen.patience,
    }),
  });
}

/** Puts GPS_RTCM_DATA together as the standard tells an autopilot to. */
class Assembler {
  readonly whole: Buffer[] = [];
  #sequence = -1;
  #parts = new Map<number, Buffer>();

  take(flags: number, data: Buffer): void {
    if ((flags & 1) === 0) {
      this.whole.push(Buffer.from(data));
      return;
    }
    if (flags >> 3 !== this.#sequence) {
      this.#sequence = flags >> 3;
      this.#parts = new Map();
    }
    this.#parts.set((flags >> 1) & 3, data);
    const parts: Buffer[] = [];
    for (let id = 0; id < 4; id++) {
      const part = this.#parts.get(id);
      if (part === undefined) return;
      parts.push(part);
      if (part.length < 180) break;
    }
    this.whole.push(Buffer.concat(parts));
    this.#parts = new Map();
  }
}

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
