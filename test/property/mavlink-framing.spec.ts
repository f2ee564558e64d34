import { Readable } from 'node:stream';
import { expect } from 'chai';
import fc from 'fast-check';
import { common, type MavLinkData, MavLinkPacketParser, MavLinkPacketSplitter, minimal } from 'node-mavlink';
import { frameCrc } from '../../shared/mavlink/crc.ts';
import { crcExtraOf } from '../../shared/mavlink/dialect.ts';
import { Framer, PARTIAL_MAX_MS, SILENCE_MS } from '../../shared/mavlink/framer.ts';
import { attitude, encodeAs, heartbeat, mixedMessages, rawV2, type Wire } from '../link/mavlink-samples.ts';

const SILENT = 1e6;
const UNKNOWN_ID = 60_123;
/** The longest frame, of which all but the last byte is there. */
const LONGEST = 279;

interface Seen {
  readonly bytes: Buffer;
  readonly known: boolean;
}

/** Frames that come out of `chunks`, which arrive at once, and silence after them. */
function frames(chunks: readonly Uint8Array[]): Seen[] {
  const out: Seen[] = [];
  const framer = new Framer((frame) => out.push({ bytes: frame.bytes(), known: frame.known }));
  for (const chunk of chunks) framer.push(chunk, 0);
  framer.flushStale(SILENT);
  expect(framer.pending).to.be.at.most(LONGEST); // the rest of a frame may still come
  return out;
}

const hex = (seen: readonly Seen[]): string[] => seen.map(({ bytes }) => bytes.toString('hex'));
const known = (seen: readonly Seen[]): string[] => hex(seen.filter((frame) => frame.known));

function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let from = 0;
  for (let index = 0; from < bytes.length; index++) {
    const size = sizes[index % sizes.length] ?? 1;
    chunks.push(bytes.subarray(from, from + size));
    from += size;
  }
  return chunks;
}

/** Places where a frame of a known message with a right checksum begins, the slow and obvious way. */
function provenAt(bytes: Buffer): number[] {
  const places: number[] = [];
  for (let at = 0; at + 8 <= bytes.length; at++) {
    const v2 = bytes[at] === 0xfd;
    if (!v2 && bytes[at] !== 0xfe) continue;
    if (v2 && (at + 12 > bytes.length || (bytes.readUInt8(at + 2) & 0xfe) !== 0)) continue;
    const extra = crcExtraOf(v2 ? bytes.readUIntLE(at + 7, 3) : bytes.readUInt8(at + 5));
    const crcAt = at + (v2 ? 10 : 6) + bytes.readUInt8(at + 1);
    if (extra < 0 || crcAt + 2 > bytes.length) continue;
    if (frameCrc(bytes, at + 1, crcAt, extra) === bytes.readUInt16LE(crcAt)) places.push(at);
  }
  return places;
}

const wire = fc.constantFrom<Wire>('v1', 'v2', 'signed');
const sizes = fc.array(fc.integer({ min: 1, max: 600 }), { minLength: 1, maxLength: 8 });
const messages: fc.Arbitrary<MavLinkData> = fc.oneof(
  fc.record({ armed: fc.boolean(), customMode: fc.nat(30) }).map(heartbeat),
  fc
    .record({ roll: fc.float(), pitch: fc.float(), yaw: fc.float(), timeBootMs: fc.nat() })
    .map((fields) => Object.assign(new common.Attitude(), fields)),
  fc
    .record({
      lat: fc.integer(),
      lon: fc.integer(),
      alt: fc.integer(),
      vx: fc.integer({ min: -32768, max: 32767 }),
    })
    .map((fields) => Object.assign(new common.GlobalPositionInt(), fields)),
  fc
    .record({
      severity: fc.nat(7),
      text: fc.string({ maxLength: 50 }).map((text) => text.replace(/[^ -~]/g, '?')),
    })
    .map((fields) => Object.assign(new common.StatusText(), fields)),
  fc
    .record({
      paramId: fc.stringMatching(/^[A-Z_0-9]{1,16}$/),
      paramValue: fc.float(),
      paramIndex: fc.nat(65535),
    })
    .map((fields) => Object.assign(new common.ParamValue(), fields)),
);
const frame = fc.tuple(messages, wire, fc.nat(255)).map(([message, as, seq]) => encodeAs(message, as, seq));
const stream = fc.array(frame, { minLength: 1, maxLength: 12 });
/** Noise that is rich in start bytes, short lengths and plausible headers. */
const noise = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 12 }),
      fc.constantFrom(
        Uint8Array.of(0xfd),
        Uint8Array.of(0xfe),
        Uint8Array.of(0xfd, 40, 0, 0, 1, 1, 1),
        Uint8Array.of(0xfd, 9, 0, 0, 1, 1, 1, 0, 0, 0),
        Uint8Array.of(0xfe, 60, 3, 1, 1, 30),
        Uint8Array.of(0xfe, 200, 3, 1, 1, 250),
        Uint8Array.of(0xfd, 30, 0, 0, 9, 1, 1, 0xdb, 0xea, 0),
      ),
    ),
    { maxLength: 5 },
  )
  .map((parts) => Buffer.concat(parts));

describe('MAVLink framing', () => {
  it('gives the same frames however the stream is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(frame, noise), { maxLength: 10 }), sizes, (parts, chunkSizes) => {
        const bytes = Buffer.concat(parts);
        expect(hex(frames(cut(bytes, chunkSizes)))).to.deep.equal(hex(frames([bytes])));
      }),
    );
  });

  it('hands out every frame of a clean stream untouched, as node-mavlink splits it', async () => {
    await fc.assert(
      fc.asyncProperty(stream, sizes, async (parts, chunkSizes) => {
        const chunks = cut(Buffer.concat(parts), chunkSizes);
        const theirs: string[] = [];
        const parser = Readable.from(chunks)
          .pipe(new MavLinkPacketSplitter())
          .pipe(new MavLinkPacketParser());
        for await (const packet of parser) theirs.push((packet as { buffer: Buffer }).buffer.toString('hex'));
        const ours = hex(frames(chunks));
        expect(ours).to.deep.equal(theirs);
        expect(ours).to.deep.equal(parts.map((part) => part.toString('hex')));
      }),
      { numRuns: 60 },
    );
  });

  it('never loses a frame behind noise and false start bytes (J3)', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(noise, frame), { minLength: 1, maxLength: 6 }),
        sizes,
        (parts, chunkSizes) => {
          const bytes = Buffer.concat(parts.flat());
          const wanted: string[] = [];
          const places: number[] = [];
          let at = 0;
          for (const [before, good] of parts) {
            places.push(at + before.length);
            at += before.length + good.length;
            wanted.push(good.toString('hex'));
          }
          // Noise that happens to be a frame with a right checksum is one: nobody can tell.
          fc.pre(provenAt(bytes).every((place) => places.includes(place)));
          expect(known(frames(cut(bytes, chunkSizes)))).to.deep.equal(wanted);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('never loses a frame in a long stream full of false start bytes, whatever wraps in its buffer', () => {
    const parts = fc.array(fc.tuple(noise, frame), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(parts, sizes, (pairs, chunkSizes) => {
        const lap = pairs.reduce((sum, [before, good]) => sum + before.length + good.length, 0);
        const laps = Array<(typeof pairs)[number][]>(Math.ceil(20_000 / lap))
          .fill(pairs)
          .flat();
        const bytes = Buffer.concat(laps.flat());
        let at = 0;
        const places = laps.map(([before, good]) => (at += before.length + good.length) - good.length);
        fc.pre(provenAt(bytes).join() === places.join());
        const wanted = laps.map(([, good]) => good.readUInt8(1));
        const seen: number[] = [];
        const framer = new Framer((view) => {
          if (view.known) seen.push(view.payloadLength);
        });
        for (const chunk of cut(bytes, chunkSizes)) framer.push(chunk, 0);
        framer.flushStale(SILENT);
        expect(seen).to.deep.equal(wanted);
      }),
      { numRuns: 100 },
    );
  });

  it('waits for a good frame of which an unknown message seems to end in the middle', () => {
    const good = encodeAs(Object.assign(new common.Attitude(), { timeBootMs: 0xfd_00_00_00, yaw: 1 }), 'v2');
    const stx = good.indexOf(0xfd, 1);
    const falseStart = Buffer.of(0xfd, stx - 2 + 2, 0, 0, 9, 1, 1, 0xdb, 0xea, 0, 7, 7);
    const bytes = Buffer.concat([falseStart, good]);
    expect(bytes[12 + stx]).to.equal(0xfd);
    expect(known(frames([bytes.subarray(0, 13 + stx), bytes.subarray(13 + stx)]))).to.deep.equal([
      good.toString('hex'),
    ]);
  });

  it('survives flipped bits, cut-off frames and random bytes, and stays within its buffer (J3)', () => {
    const flips = fc.array(fc.nat(), { maxLength: 8 });
    fc.assert(
      fc.property(
        fc.array(fc.oneof(frame, noise, fc.uint8Array({ maxLength: 900 })), { maxLength: 12 }),
        flips,
        sizes,
        (parts, bits, chunkSizes) => {
          const bytes = Buffer.concat(parts);
          for (const bit of bits) {
            if (bytes.length > 0) {
              const at = (bit >> 3) % bytes.length;
              bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << (bit & 7)), at);
            }
          }
          const total = frames(cut(bytes, chunkSizes)).reduce(
            (sum, { bytes: { length } }) => sum + length,
            0,
          );
          expect(total).to.be.at.most(bytes.length);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('accounts for every byte: frames plus garbage', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(frame, noise), { maxLength: 10 }), (parts) => {
        const bytes = Buffer.concat(parts);
        let framed = 0;
        const framer = new Framer(({ length }) => {
          framed += length;
        });
        framer.push(bytes, 0);
        framer.flushStale(SILENT);
        framer.reset();
        expect(framed + framer.counters.garbageBytes).to.equal(bytes.length);
      }),
    );
  });

  it('forwards frames of unknown messages raw, between others and at the end of the stream', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 255 }), fc.boolean(), sizes, (payload, signed, chunkSizes) => {
        const unknown = rawV2({ id: UNKNOWN_ID, payload, incompat: signed ? 1 : 0 });
        const parts = [encodeAs(heartbeat(), 'v2'), unknown, encodeAs(attitude(5), 'v2'), unknown];
        const bytes = Buffer.concat(parts);
        const place = (parts[0]?.length ?? 0) + unknown.length;
        fc.pre(provenAt(bytes).every((at) => at === 0 || at === place));
        expect(hex(frames(cut(bytes, chunkSizes)))).to.deep.equal(parts.map((part) => part.toString('hex')));
      }),
    );
  });

  it('forwards an unknown message at once, and before noise, when it stands right behind a good frame', () => {
    const unknown = rawV2({ id: UNKNOWN_ID, payload: Buffer.from('payload') });
    const seen: string[] = [];
    const framer = new Framer((view) => seen.push(view.bytes().toString('hex')));
    framer.push(Buffer.concat([encodeAs(heartbeat(), 'v2'), unknown]), 0);
    expect(seen.length).to.equal(2);
    framer.push(Buffer.concat([unknown, Buffer.from('noise')]), 0);
    expect(seen.length).to.equal(3);
    // Behind noise it takes a start byte after it, or silence.
    framer.push(unknown, 1);
    expect(seen.length).to.equal(3);
    framer.push(encodeAs(heartbeat(), 'v2'), 1);
    expect(seen.length).to.equal(5);
    framer.push(Buffer.concat([Buffer.from('noise'), unknown, Buffer.from('noise')]), 2);
    framer.flushStale(SILENT);
    expect(seen.length).to.equal(5);
  });

  it('does not let an unknown message swallow good frames that it seems to contain', () => {
    const good = encodeAs(heartbeat(), 'v2');
    const swallowing = rawV2({ id: UNKNOWN_ID, payload: Buffer.concat([Buffer.alloc(5), good, good]) });
    expect(known(frames([swallowing, good]))).to.deep.equal(Array(3).fill(good.toString('hex')));
  });

  it('drops a frame with an incompatibility flag that it does not know', () => {
    const good = encodeAs(heartbeat(), 'v2');
    for (const incompat of [2, 3, 0x80]) {
      const odd = rawV2({ id: 0, payload: Buffer.alloc(9, 1), extra: 50, incompat });
      expect(hex(frames([good, odd, good]))).to.deep.equal(
        [good, good].map((bytes) => bytes.toString('hex')),
      );
    }
  });

  it('resynchronises 50 ms after a false start byte and silence (J4)', () => {
    const seen: number[] = [];
    let now = 0;
    const framer = new Framer(() => seen.push(now));
    const good = encodeAs(heartbeat(), 'v2');
    framer.push(Buffer.concat([Buffer.of(0xfd, 200, 0), good]), now);
    expect(seen).to.deep.equal([]);
    expect(framer.deadline).to.equal(SILENCE_MS);
    now = SILENCE_MS - 1;
    framer.flushStale(now);
    expect(seen).to.deep.equal([]);
    now = SILENCE_MS;
    framer.flushStale(now);
    expect(seen).to.deep.equal([SILENCE_MS]);
    // ... and the next frame is not held up at all.
    now = 1000;
    framer.push(good, now);
    expect(seen).to.deep.equal([SILENCE_MS, 1000]);
  });

  it('hands out each frame between a false start byte and the silence, not only those behind it (J4)', () => {
    const sent = mixedMessages(12).map((message, seq) => encodeAs(message, 'v2', seq));
    const head = Buffer.from(sent[0] ?? '').subarray(0, 10);
    head[1] = 255; // claims more bytes than come before the silence
    for (const last of [1, 2, 3]) {
      const seen: number[] = [];
      const framer = new Framer(({ seq }) => seen.push(seq));
      framer.push(Buffer.concat([head, ...sent.slice(0, last), Buffer.of(1, 2, 3)]), 0);
      framer.flushStale(SILENCE_MS);
      for (const [at, bytes] of sent.slice(last).entries()) framer.push(bytes, 2 * SILENCE_MS * (at + 1));
      expect(seen, String(last)).to.deep.equal(sent.map((_, seq) => seq));
    }
  });

  it('loses nothing where frames come in slots, in datagrams of a bridge, or with a pause in their middle', () => {
    const bytes = Buffer.concat(
      mixedMessages(200).map((message, seq) => encodeAs(message, 'v2', seq & 0xff)),
    );
    for (const [size, gap] of [
      [82, 53], // a radio that shares its channel
      [64, 5], // a bridge
      [16, 80], // TCP that repeats
      [30, 4000],
    ] as const) {
      let seen = 0;
      let now = 0;
      const framer = new Framer(() => seen++);
      for (let at = 0; at < bytes.length; at += size) {
        framer.push(bytes.subarray(at, at + size), now);
        for (const end = now + gap; now < end; now += Math.min(40, end - now)) framer.flushStale(now);
        framer.flushStale(now);
      }
      expect(seen, `${size} bytes each ${gap} ms`).to.equal(200);
      expect(framer.counters.garbageBytes).to.equal(0);
    }
  });

  it('hands out no frame that stands in the content of another, wherever that pauses', () => {
    // A file of the vehicle with a frame in it: here the data of a FILE_TRANSFER_PROTOCOL.
    const inner = encodeAs(heartbeat({ armed: true }), 'v2');
    const payload = Buffer.alloc(254, 1);
    inner.copy(payload, 60);
    const whole = rawV2({ id: 110, payload, extra: crcExtraOf(110) });
    for (let at = 1; at < whole.length; at++) {
      const seen: number[] = [];
      const framer = new Framer(({ id }) => seen.push(id));
      framer.push(whole.subarray(0, at), 0);
      framer.flushStale(SILENCE_MS);
      framer.push(whole.subarray(at), 2 * SILENCE_MS);
      const isEnd = at === 10 + 60 + inner.length; // then the two cannot be told apart
      const isBegin = at === 10 + 60;
      if (!isEnd && !isBegin) expect(seen, `cut at ${at}`).to.deep.equal([110]);
    }
  });

  it('holds nothing up for long when bytes keep coming slowly behind a false start byte (J4)', () => {
    const seen: number[] = [];
    let now = 0;
    const framer = new Framer(() => seen.push(now));
    const good = encodeAs(heartbeat(), 'v1');
    framer.push(Buffer.of(0xfd, 255, 1, 0, 0, 1, 1, 0, 0, 0), now);
    for (; now < 3000; now += 40) {
      framer.push(good.subarray(0, 3), now);
      framer.push(good.subarray(3), now);
      framer.flushStale(now);
    }
    expect(seen[0]).to.be.at.most(PARTIAL_MAX_MS + 40);
    expect(seen.length).to.equal(75);
  });

  it('gives nothing up on a steady stream, although its chunks never end where a frame does', () => {
    const bytes = Buffer.concat(
      mixedMessages(400).map((message, seq) => encodeAs(message, 'v2', seq & 0xff)),
    );
    let seen = 0;
    const framer = new Framer(() => seen++);
    for (let at = 0, now = 0; at < bytes.length; at += 37, now += 20)
      framer.push(bytes.subarray(at, at + 37), now);
    expect(seen).to.equal(400);
  });

  it('stays consistent when its callback throws, and refuses to be entered again from it', () => {
    const seen: number[] = [];
    const framer: Framer = new Framer(({ id }) => {
      seen.push(id);
      if (seen.length === 1) throw new Error('consumer');
      if (seen.length === 2) framer.push(Buffer.of(1), 0);
    });
    const bytes = Buffer.concat([encodeAs(heartbeat(), 'v2'), encodeAs(attitude(1), 'v2')]);
    expect(() => framer.push(bytes, 0)).to.throw('consumer');
    expect(() => framer.flushStale(SILENT)).to.throw('same Framer');
    framer.push(encodeAs(new minimal.Heartbeat(), 'v2'), SILENT);
    expect(seen).to.deep.equal([0, 30, 0]);
  });

  it('takes chunks larger than its buffer', () => {
    const parts = mixedMessages(2000).map((message, index) => encodeAs(message, 'v2', index & 0xff));
    expect(frames([Buffer.concat(parts)]).length).to.equal(2000);
  });
});
