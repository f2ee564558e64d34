import { expect } from 'chai';
import fc from 'fast-check';
import { RtpHeader, RtpPacket } from 'werift';
import { RtpDepacketizer } from '../../residual/video/sources/rtp-depacketizer.ts';
import { joinNals, splitNals } from '../../shared/media/h264.ts';
import { packetize, rtpTimestamp } from '../../shared/media/rtp-h264.ts';

/** A NAL unit as an encoder writes it: no start code inside, no zero at its end. */
const nal = fc
  .tuple(fc.constantFrom(0x41, 0x65, 0x67, 0x68, 0x06), fc.uint8Array({ minLength: 1, maxLength: 4000 }))
  .map(([header, bytes]) => Buffer.from([header, ...bytes.map((byte) => (byte === 0 ? 1 : byte))]));
const unit = fc.array(nal, { minLength: 1, maxLength: 5 }).map((nals) => joinNals(nals));

let sequence = 65_530;
/** Serialised by another implementation of RTP than ours. */
function datagrams(data: Buffer, timestamp: number, ssrc = 7): Buffer[] {
  return packetize(data).map(({ payload, marker }) => {
    const header = new RtpHeader({
      version: 2,
      payloadType: 96,
      sequenceNumber: sequence,
      timestamp,
      ssrc,
      marker,
    });
    sequence = (sequence + 1) & 0xffff;
    return new RtpPacket(header, payload).serialize();
  });
}

function receiver() {
  const units: { data: Buffer; key: boolean }[] = [];
  return { units, rtp: new RtpDepacketizer((data, key) => units.push({ data, key })) };
}

describe('H.264 over RTP', () => {
  it('what is sent is what comes out, byte by byte, over the wrap of the sequence number', () => {
    fc.assert(
      fc.property(fc.array(unit, { minLength: 1, maxLength: 4 }), (sent) => {
        const { units, rtp } = receiver();
        sent.forEach((data, index) => {
          for (const datagram of datagrams(data, index * 3000)) rtp.push(datagram, index);
        });
        expect(units.map(({ data }) => data.toString('hex'))).to.deep.equal(
          sent.map((data) => data.toString('hex')),
        );
        expect(rtp.counters).to.deep.equal({ lost: 0, refused: 0 });
      }),
      { seed: 1, numRuns: 200 },
    );
  });

  it('no packet is larger than 1200 bytes, and the last one of a picture is marked', () => {
    const parts = packetize(joinNals([Buffer.alloc(10, 0x67), Buffer.alloc(50_000, 0x65)]));
    expect(Math.max(...parts.map(({ payload }) => payload.length))).to.be.at.most(1200);
    expect(parts.map(({ marker }) => marker).indexOf(true)).to.equal(parts.length - 1);
  });

  it('any loss costs the NAL units that it hit, and nothing else is invented', () => {
    fc.assert(
      fc.property(
        fc.array(unit, { minLength: 2, maxLength: 5 }),
        fc.infiniteStream(fc.boolean()),
        (sent, keep) => {
          const { units, rtp } = receiver();
          const all = new Set(sent.flatMap(splitNals).map((bytes) => bytes.toString('hex')));
          sent.forEach((data, index) => {
            for (const datagram of datagrams(data, index * 3000))
              if (keep.next().value) rtp.push(datagram, index);
          });
          for (const bytes of units.flatMap(({ data }) => splitNals(data)))
            expect(all.has(bytes.toString('hex'))).to.equal(true);
        },
      ),
      { seed: 2, numRuns: 200 },
    );
  });

  it('noise of any kind is refused and harms nothing', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 50 }), (noise) => {
        const { units, rtp } = receiver();
        for (const [index, datagram] of datagrams(joinNals([Buffer.alloc(3000, 0x65)]), 1).entries()) {
          rtp.push(datagram, 0);
          const bytes = noise[index];
          // Another sender's, or no RTP at all.
          if (bytes !== undefined) rtp.push(Buffer.from(bytes), 0);
        }
        expect(units).to.have.length(1);
      }),
      { seed: 3, numRuns: 200 },
    );
  });

  describe('a sender that begins anew (RFC 3550 A.1)', () => {
    const key = (byte: number): Buffer =>
      joinNals([
        Buffer.alloc(9, 0x67),
        Buffer.alloc(9, 0x68),
        Buffer.alloc(3000, 0x65),
        Buffer.from([0x06, byte]),
      ]);

    for (const [what, at, timestamp, ssrc] of [
      ['another SSRC, numbers go on', (now: number) => now, 6000, 8],
      ['another SSRC and other numbers', () => 40_000, 99, 8],
      ['the same SSRC, numbers from 0', () => 0, 6000, 7],
      ['the same SSRC, numbers far ahead', (now: number) => (now + 20_000) & 0xffff, 6000, 7],
      ['the same SSRC, numbers a few lower, the clock goes on', (now: number) => now - 20, 6000, 7],
      ['the same SSRC, numbers a few lower, another clock', (now: number) => now - 20, 2 ** 31, 7],
    ] as const)
      it(`${what}: not a picture is lost`, () => {
        const { units, rtp } = receiver();
        sequence = 1000;
        for (let picture = 1; picture <= 5; picture++)
          for (const datagram of datagrams(key(picture), picture * 1000)) rtp.push(datagram, picture);
        sequence = at(sequence);
        for (let picture = 6; picture <= 8; picture++)
          for (const datagram of datagrams(key(picture), timestamp + picture, ssrc))
            rtp.push(datagram, picture);
        expect(units.map(({ data }) => data.at(-1))).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8]);
        expect(rtp.counters).to.deep.equal({ lost: 0, refused: 0 });
      });

    it('an SSRC for each group of pictures: not a picture is lost', () => {
      const { units, rtp } = receiver();
      for (let picture = 1; picture <= 20; picture++)
        for (const datagram of datagrams(key(picture), picture * 3000, Math.ceil(picture / 2)))
          rtp.push(datagram, picture * 33_000);
      expect(units).to.have.length(20);
    });

    it('a clock that jumps costs nothing', () => {
      const { units, rtp } = receiver();
      for (const timestamp of [1, 2 ** 31, 5, 2 ** 32 - 1])
        for (const datagram of datagrams(key(1), timestamp)) rtp.push(datagram, 0);
      expect(units).to.have.length(4);
    });

    it('two at once: the first is kept, and the other let in when it has been silent for a second', () => {
      const { units, rtp } = receiver();
      const one = datagrams(key(1), 1, 1);
      const first = Array.from({ length: 20 }, (_, at) => datagrams(key(1), 3000 * (at + 2), 1));
      const second = Array.from({ length: 22 }, (_, at) => datagrams(key(2), 500 + 3000 * at, 2));
      for (const datagram of one) rtp.push(datagram, 0);
      for (const [at, own] of first.entries())
        for (const datagram of [...own, ...(second[at] ?? [])]) rtp.push(datagram, at);
      const seen = units.map(({ data }) => data.at(-1));
      expect(seen.filter((byte) => byte === 1)).to.have.length(21);
      expect(seen.lastIndexOf(2), 'the other one is let in once').to.be.below(4);
      for (const datagram of second[20] ?? []) rtp.push(datagram, 999_999);
      expect(units).to.have.length(seen.length);
      for (const datagram of second[21] ?? []) rtp.push(datagram, 1_000_019);
      expect(units.at(-1)?.data.at(-1)).to.equal(2);
    });

    it('a packet that was overtaken is no beginning', () => {
      const { units, rtp } = receiver();
      const [a = [], b = [], c = []] = [1, 2, 3].map((picture) => datagrams(key(picture), picture * 3000));
      for (const datagram of [...a, ...b, ...a.slice(1), ...c]) rtp.push(datagram, 0);
      expect(units.map(({ data }) => data.at(-1))).to.deep.equal([1, 2, 3]);
      expect(rtp.counters).to.deep.equal({ lost: 0, refused: a.length - 1 });
    });
  });

  it('STAP-A, as FFmpeg sends SPS and PPS', () => {
    const { units, rtp } = receiver();
    const sps = Buffer.from('6742c01e', 'hex');
    const pps = Buffer.from('68ce3c80', 'hex');
    const stap = Buffer.concat([Buffer.from([0x78, 0, 4]), sps, Buffer.from([0, 4]), pps]);
    const packet = (payload: Buffer, sequenceNumber: number, marker: boolean): Buffer =>
      new RtpPacket(
        new RtpHeader({ version: 2, payloadType: 96, sequenceNumber, timestamp: 9, ssrc: 1, marker }),
        payload,
      ).serialize();
    rtp.push(packet(stap, 1, false), 0);
    rtp.push(packet(Buffer.from('65888400', 'hex'), 2, true), 0);
    expect(units[0]?.key).to.equal(true);
    expect(splitNals(units[0]?.data ?? Buffer.alloc(0)).map((bytes) => bytes.toString('hex'))).to.deep.equal([
      '6742c01e',
      '68ce3c80',
      '658884',
    ]);
  });

  it('the timestamp runs at 90 kHz and wraps', () => {
    expect(rtpTimestamp(1_000_000)).to.equal(90_000);
    expect(rtpTimestamp((2 ** 32 / 90_000) * 1e6 + 1e6)).to.be.closeTo(90_000, 1);
  });
});
