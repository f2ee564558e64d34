import { expect } from 'chai';
import fc from 'fast-check';
import { FrameReader } from '../../bin/sim/mavlink/wire.ts';
import { Framer } from '../../shared/mavlink/framer.ts';
import { encodeAs, mixedMessages, type Wire } from '../link/mavlink-samples.ts';

/** What both decoders can be asked of a frame. */
const nameOf = (id: number, system: number, component: number, payload: Uint8Array): string =>
  `${id} ${system}/${component} ${Buffer.from(payload).toString('hex')}`;

describe('framing, against the decoder of the simulator (J3)', () => {
  it('hands out at least every frame that the other finds, between noise, flipped bits and cut frames', () => {
    const piece = fc.oneof(
      { weight: 5, arbitrary: fc.record({ kind: fc.constant('frame' as const), n: fc.nat(199) }) },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant('flip' as const), n: fc.nat(199), at: fc.nat(2000) }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant('cut' as const), n: fc.nat(199), at: fc.nat(40) }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constant('noise' as const),
          bytes: fc.uint8Array({ maxLength: 40 }),
        }),
      },
    );
    const wires: readonly Wire[] = ['v1', 'v2', 'signed'];
    const samples = mixedMessages(200).map((message, index) =>
      encodeAs(message, wires[index % 3] ?? 'v2', index & 0xff, 1 + (index % 5), 1),
    );
    const frameAt = (n: number): Buffer => Buffer.from(samples[n] ?? Buffer.alloc(0));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), fc.integer({ min: 1, max: 300 }), (pieces, size) => {
        const stream = Buffer.concat([
          ...pieces.map((part) => {
            if (part.kind === 'noise') return Buffer.from(part.bytes);
            const bytes = frameAt(part.n);
            if (part.kind === 'cut') return bytes.subarray(0, part.at % bytes.length);
            if (part.kind === 'flip') {
              const at = part.at % (bytes.length * 8);
              bytes[at >> 3] = (bytes[at >> 3] ?? 0) ^ (1 << (at & 7));
            }
            return bytes;
          }),
          Buffer.alloc(300), // silence cannot be waited for by the other one: zeros end what is open
        ]);
        const ours: string[] = [];
        const framer = new Framer((frame) => {
          const { buffer, payloadStart, payloadLength, id, system, component, known } = frame;
          if (known)
            ours.push(
              nameOf(id, system, component, buffer.subarray(payloadStart, payloadStart + payloadLength)),
            );
        });
        const reader = new FrameReader();
        const theirs: string[] = [];
        for (let at = 0; at < stream.length; at += size) {
          const chunk = stream.subarray(at, at + size);
          framer.push(chunk, 0);
          for (const { msgid, sysid, compid, payload } of reader.push(chunk, 0))
            theirs.push(nameOf(msgid, sysid, compid, payload));
        }
        framer.flushStale(1e6);
        // In order: theirs is a part of ours. Ours also finds a frame inside what turned out to be none.
        let next = 0;
        for (const frame of ours) if (frame === theirs[next]) next++;
        expect(next, `${theirs.length} frames of theirs, ${ours.length} of ours`).to.equal(theirs.length);
      }),
      { numRuns: 300 },
    );
  });
});
