import { createSocket } from 'node:dgram';
import { expect } from 'chai';
import { RtpSource } from '../../residual/video/sources/rtp-source.ts';
import { joinNals, NAL, nalType, splitNals } from '../../shared/media/h264.ts';
import { NAL265, nalType265 } from '../../shared/media/h265.ts';
import { KeptSets } from '../../shared/media/kept-sets.ts';
import { type AccessUnit, systemVideoClock } from '../../shared/media/picture.ts';
import { packetize } from '../../shared/media/rtp-h264.ts';
import { freePort } from '../support/temp.ts';

const SPS = Buffer.from('6742c01e95a0', 'hex');
const PPS = Buffer.from('68ce3c80ff', 'hex');
const IDR = Buffer.alloc(40, 0x65);
const SLICE = Buffer.alloc(40, 0x41);

const types = (data: Buffer): readonly number[] => splitNals(data).map(nalType);

describe('parameter sets', () => {
  it('that come once are in front of every key frame, the newest ones, and none twice', () => {
    const sets = new KeptSets();
    const complete = (...nals: Buffer[]): readonly number[] =>
      types(sets.complete('h264', joinNals(nals), nals.includes(IDR)));
    expect(complete(IDR), 'before any').to.deep.equal([NAL.idr]);
    expect(complete(SPS)).to.deep.equal([NAL.sps]);
    expect(complete(PPS), 'a unit of its own').to.deep.equal([NAL.pps]);
    expect(complete(IDR)).to.deep.equal([NAL.sps, NAL.pps, NAL.idr]);
    expect(complete(SLICE)).to.deep.equal([NAL.slice]);
    expect(complete(PPS, IDR)).to.deep.equal([NAL.sps, NAL.pps, NAL.idr]);
    expect(complete(SPS, PPS, IDR)).to.deep.equal([NAL.sps, NAL.pps, NAL.idr]);
    const other = Buffer.from('6742c01fda', 'hex');
    complete(other, PPS, PPS, SLICE);
    const whole = splitNals(sets.complete('h264', joinNals([IDR]), true));
    expect(whole).to.deep.equal([other, PPS, PPS, IDR]);
  });

  it('of H.265, and of none other than the codec', () => {
    const sets = new KeptSets();
    const nal = (type: number): Buffer => Buffer.from([type << 1, 1, 0xaa, 0xbb]);
    sets.learn('h264', joinNals([SPS, PPS]));
    const first = joinNals([NAL265.vps, NAL265.sps, NAL265.pps, 19].map(nal));
    expect(sets.complete('h265', first, true)).to.deep.equal(first);
    const next = splitNals(sets.complete('h265', joinNals([nal(19)]), true));
    expect(next.map(nalType265)).to.deep.equal([NAL265.vps, NAL265.sps, NAL265.pps, 19]);
  });
});

describe('RTP that somebody sends', () => {
  for (const [how, address, from] of [
    ['to this machine', '127.0.0.1', '127.0.0.1'],
    ['to a group', '239.255.77.1', '127.0.0.1'],
  ] as const)
    it(`${how}: each key frame has its parameter sets, though they came once`, async () => {
      const port = await freePort();
      const stop = new AbortController();
      const units: AccessUnit[] = [];
      const { promise: enough, resolve } = Promise.withResolvers<void>();
      const source = new RtpSource(systemVideoClock(), address, port);
      const running = source.run(
        {
          wants: () => true,
          keysOnly: false,
          onPicture: () => undefined,
          onUnit: (unit) => {
            if (units.push(unit) === 3) resolve();
          },
        },
        stop.signal,
      );
      const socket = createSocket('udp4');
      await new Promise<void>((bound) => socket.bind(0, from, bound));
      socket.setMulticastInterface(from);
      socket.setMulticastTTL(0);
      let sequence = 0;
      let turn = 0;
      // Until it listens, nothing arrives.
      const sending = setInterval(() => {
        const nals = units.length === 0 ? [SPS, PPS, IDR] : [IDR];
        for (const { payload, marker } of packetize(joinNals(nals))) {
          const header = Buffer.alloc(12);
          header.writeUInt8(0x80, 0);
          header.writeUInt8(96 + (marker ? 128 : 0), 1);
          header.writeUInt16BE(sequence++, 2);
          header.writeUInt32BE(turn * 3000, 4);
          socket.send(Buffer.concat([header, payload]), port, address);
        }
        turn++;
      }, 20);
      try {
        await enough;
        for (const unit of units) {
          expect(types(unit.data)).to.deep.equal([NAL.sps, NAL.pps, NAL.idr]);
          expect(unit.key).to.equal(true);
        }
      } finally {
        clearInterval(sending);
        socket.close();
        stop.abort();
        await running;
      }
    });
});
