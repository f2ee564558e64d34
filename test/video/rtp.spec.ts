import { expect } from 'chai';
import fc from 'fast-check';
import { RtpHeader, RtpPacket } from 'werift';
import { joinNals, splitNals } from '../../residual/video/engine/h264.ts';
import { packetize, rtpTimestamp } from '../../residual/video/engine/rtp-h264.ts';
import { RtpDepacketizer } from '../../residual/video/sources/rtp-depacketizer.ts';

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

  it('a second sender is let in only when the first has been silent for a second', () => {
    const { units, rtp } = receiver();
    const data = joinNals([Buffer.alloc(100, 0x65)]);
    for (const datagram of datagrams(data, 1, 1)) rtp.push(datagram, 0);
    for (const datagram of datagrams(data, 2, 2)) rtp.push(datagram, 999_999);
    expect(units).to.have.length(1);
    for (const datagram of datagrams(data, 3, 2)) rtp.push(datagram, 1_000_000);
    expect(units).to.have.length(2);
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
