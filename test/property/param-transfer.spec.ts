import { expect } from 'chai';
import fc from 'fast-check';
import { ParamFile } from '../../bin/sim/params/param-file.ts';
import type { Encoder, FtpRequest } from '../../front/link/encode.ts';
import { FtpFile } from '../../front/link/ftp/ftp-file.ts';
import { ListTransfer } from '../../front/link/params/list-transfer.ts';
import { paramFromBits, paramToBits } from '../../front/link/params/param-encoding.ts';
import { readParamPack } from '../../front/link/params/param-pack.ts';
import type { Vehicle } from '../../front/link/vehicle/vehicle.ts';
import type { FtpMessage } from '../../shared/mavlink/decode.ts';
import { FakeClock } from '../link/fake-clock.ts';

const BLOCK = 239;
const TICK_MS = 100;
const target = { system: 1, component: 1 };
const vehicle = { target, alive: true } as unknown as Vehicle;

/** mulberry32: deterministic, so that a failing seed stays one. */
function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const params = fc.uniqueArray(
  fc.record({
    name: fc.stringMatching(/^[A-Z][A-Z0-9_]{0,15}$/),
    type: fc.constantFrom(2 as const, 4 as const, 6 as const, 9 as const),
    value: fc.integer({ min: -100, max: 100 }),
    initial: fc.integer({ min: -100, max: 100 }),
  }),
  { selector: ({ name }) => name, minLength: 1, maxLength: 120 },
);

describe('parameter transfer', () => {
  it("the packed file: what the simulator's own packer writes is read back, with and without defaults", () => {
    fc.assert(
      fc.property(params, fc.boolean(), fc.integer({ min: 1, max: BLOCK }), (all, withDefaults, size) => {
        const file = new ParamFile(all, { withDefaults, start: 0, count: 0 });
        const parts: Buffer[] = [];
        for (let at = 0; ; at += size) {
          const part = file.read(at, size) ?? Buffer.alloc(0);
          if (part.length === 0) break;
          parts.push(part);
        }
        const read = readParamPack(Buffer.concat(parts));
        expect(read).to.deep.equal(
          all.map(({ name, type, value, initial }) => ({
            name,
            type,
            value,
            default: withDefaults ? initial : null,
          })),
        );
      }),
    );
  });

  it('the packed file: cut off, or any bytes at all, it is null or parameters, and never an exception', () => {
    fc.assert(
      fc.property(params, fc.nat(), fc.uint8Array({ maxLength: 300 }), (all, cut, noise) => {
        const whole = new ParamFile(all, { withDefaults: false, start: 0, count: 0 }).read(0, 1 << 20);
        const bytes = whole ?? Buffer.alloc(0);
        expect(readParamPack(bytes.subarray(0, cut % bytes.length))).to.equal(null);
        readParamPack(Buffer.from(noise));
        readParamPack(Buffer.concat([bytes.subarray(0, 6), noise]));
      }),
    );
  });

  it('MAVLink FTP: the file arrives whole over a link that loses and doubles frames', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 6000 }),
        fc.nat(),
        fc.integer({ min: 0, max: 25 }),
        fc.integer({ min: 1, max: 40 }),
        async (length, seed, lossPercent, burstPackets) => {
          const random = chance(seed);
          const content = Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));
          const result = await transfer(content, random, lossPercent / 100, burstPackets);
          expect(result?.equals(content)).to.equal(true);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('MAVLink FTP: a vehicle without such a file, or one that stops answering, ends it', async () => {
    const silent = await transfer(Buffer.alloc(100), () => 0, 1, 5);
    expect(silent).to.equal(null);
  });

  it('the list: complete over a link that loses a fifth each way, and each index counted once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 300 }),
        fc.nat(),
        fc.integer({ min: 0, max: 36 }),
        async (count, seed, lossPercent) => {
          const random = chance(seed);
          const ended: { complete: boolean; names: number }[] = [];
          const clock = new FakeClock();
          const queue: number[] = [];
          const list: ListTransfer = new ListTransfer({
            clock,
            vehicle,
            encoder: {
              paramRequestList: () => {
                for (let index = 0; index < count; index++) queue.push(index);
                return Buffer.alloc(0);
              },
              paramRequestRead: (_target: unknown, index: number) => {
                queue.push(index);
                return Buffer.alloc(0);
              },
            } as unknown as Encoder,
            ask: () => undefined,
            onEnd: (complete, names) => ended.push({ complete, names: names.size }),
          });
          list.start();
          for (let turn = 0; turn < 3000 && ended.length === 0; turn++) {
            for (const index of queue.splice(0)) {
              if (random() * 100 < lossPercent) continue;
              list.onValue({ name: `P${index}`, bits: index, type: 9, count, index });
            }
            await clock.advance(TICK_MS);
            list.tick();
          }
          expect(ended).to.deep.equal([{ complete: true, names: count }]);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('a value that fits its type comes back from its four bytes', () => {
    const bounds: Readonly<Record<number, readonly [number, number]>> = {
      1: [0, 255],
      2: [-128, 127],
      3: [0, 65_535],
      4: [-32_768, 32_767],
      5: [0, 4_294_967_295],
      6: [-2_147_483_648, 2_147_483_647],
    };
    for (const [type, [min, max]] of Object.entries(bounds)) {
      fc.assert(
        fc.property(fc.integer({ min, max }), (value) => {
          const bits = paramToBits(value, Number(type), 'bytewise');
          expect(bits).to.be.a('number').within(0, 0xffff_ffff);
          expect(paramFromBits(Number(bits), Number(type), 'bytewise')).to.equal(value);
          expect(paramToBits(max + 1, Number(type), 'bytewise')).to.be.a('string');
        }),
      );
    }
    fc.assert(
      fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const bits = paramToBits(value, 9, 'by_value');
        expect(paramFromBits(Number(bits), 9, 'by_value')).to.equal(value);
      }),
    );
  });
});

/** One transfer against a server that keeps to the protocol, over a link that loses each frame with probability `loss`. */
async function transfer(
  content: Buffer,
  random: () => number,
  loss: number,
  burstPackets: number,
): Promise<Buffer | null> {
  const clock = new FakeClock();
  const requests: FtpRequest[] = [];
  let over = false;
  let result: Buffer | null = null;
  const file = new FtpFile({
    path: '@PARAM/param.pck',
    clock,
    vehicle,
    encoder: {
      ftp: (_target: unknown, request: FtpRequest) => {
        requests.push(request);
        return Buffer.alloc(0);
      },
    } as unknown as Encoder,
    ask: () => undefined,
    onEnd: (bytes) => {
      over = true;
      result = bytes === null ? null : Buffer.from(bytes);
    },
  });
  const answer = (message: Pick<FtpMessage, 'seq' | 'opcode' | 'reqOpcode'> & Partial<FtpMessage>): void => {
    const whole: FtpMessage = {
      targetSystem: 1,
      targetComponent: 191,
      session: 0,
      offset: 0,
      burstComplete: false,
      data: Buffer.alloc(0),
      ...message,
    };
    const times = random() < loss ? 0 : random() < 0.05 ? 2 : 1;
    for (let time = 0; time < times; time++) file.onMessage(whole);
  };
  const serve = ({ seq, opcode, offset }: FtpRequest): void => {
    if (opcode === 4) answer({ seq: seq + 1, opcode: 128, reqOpcode: 4, data: Buffer.alloc(4) });
    else if (opcode === 5) {
      const data = content.subarray(offset, offset + BLOCK);
      if (data.length > 0) answer({ seq: seq + 1, opcode: 128, reqOpcode: 5, offset, data });
      else answer({ seq: seq + 1, opcode: 129, reqOpcode: 5, offset, data: Buffer.from([6]) });
    } else if (opcode === 15) {
      for (let packet = 0; packet < burstPackets; packet++) {
        const at = offset + packet * BLOCK;
        const data = content.subarray(at, at + BLOCK);
        if (data.length === 0) {
          answer({ seq: seq + 1 + packet, opcode: 129, reqOpcode: 15, offset: at, data: Buffer.from([6]) });
          return;
        }
        const burstComplete = packet === burstPackets - 1;
        answer({ seq: seq + 1 + packet, opcode: 128, reqOpcode: 15, offset: at, data, burstComplete });
      }
    }
  };
  file.start();
  const isOver = (): boolean => over;
  for (let turn = 0; turn < 5000 && !isOver(); turn++) {
    for (const request of requests.splice(0)) if (random() >= loss) serve(request);
    await clock.advance(TICK_MS);
    file.tick();
  }
  if (!isOver()) throw new Error('the transfer did not end');
  return result;
}
