import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import { expect } from 'chai';
import fc from 'fast-check';
import { systemClock } from '../../front/link/clock.ts';
import { Corrections } from '../../front/link/corrections/corrections.ts';
import { fragmentsOf } from '../../front/link/corrections/fragments.ts';
import { ggaOf, type KnownPlace } from '../../front/link/corrections/gga.ts';
import { ntrip } from '../../front/link/corrections/ntrip.ts';
import { crc24q, RtcmFramer } from '../../front/link/corrections/rtcm.ts';
import { secureConnect } from '../../front/link/corrections/secure.ts';
import type { OpenStream, StreamEvents } from '../../front/link/corrections/stream.ts';
import { type Authority, issueCertificate, newAuthority } from '../../shared/certificates/authority.ts';
import { certificateRequest, newCertificateKey } from '../../shared/certificates/request.ts';
import { rtkState } from '../../shared/schemas/rtk.ts';
import { compileValidator, createAjv } from '../../shared/schemas/validator.ts';
import { VERSION } from '../../shared/version.ts';
import { freePort } from '../support/temp.ts';
import { FakeClock, settle } from './fake-clock.ts';
import { SILENT_LOG } from './rig.ts';

const valid = compileValidator(createAjv(), rtkState);

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
    expect(rig.state).to.include({ state: 'connecting', bytes: 0, age_s: null, problem: null });
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

interface Met {
  readonly request: string;
  readonly socket: Socket;
}

/** A caster that answers as it is told. */
class SmallCaster implements AsyncDisposable {
  readonly met: Met[] = [];
  readonly port: number;
  readonly #server: Server;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  static async start(answer: (met: Met, count: number) => void): Promise<SmallCaster> {
    const server = createServer((socket) => {
      let request = '';
      socket.on('error', () => undefined); // the node closes what it does not like
      const onData = (chunk: Buffer): void => {
        request += chunk.toString('latin1');
        if (!request.includes('\r\n\r\n')) return;
        socket.off('data', onData);
        const met = { request, socket };
        answer(met, caster.met.push(met));
      };
      socket.on('data', onData);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const caster = new SmallCaster(
      server,
      typeof address === 'object' && address !== null ? address.port : 0,
    );
    return caster;
  }

  get requests(): readonly string[] {
    return this.met.map(({ request }) => request);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { socket } of this.met) socket.destroy();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }
}

const ACCOUNT = { mountpoint: 'BASE', username: 'pilot', password: 'geheim' } as const;

type NtripOptions = Partial<Parameters<typeof ntrip>[0]>;

function ntripTo(port: number, options: NtripOptions = {}): OpenStream {
  const usual = { version: 'auto', clock: systemClock(), connect, opened: 'connect' } as const;
  return ntrip({ host: '127.0.0.1', port, ...ACCOUNT, ...usual, ...options });
}

interface Listened {
  readonly opened: number;
  readonly data: Buffer;
  readonly problem: string | null;
}

/** One attempt: what it got until it ended, or until `size` bytes were there. */
async function hear(open: OpenStream, size = Infinity): Promise<Listened> {
  let opened = 0;
  let data = Buffer.alloc(0);
  return new Promise((resolve) => {
    const stream = open({
      onOpen: () => opened++,
      onData: (chunk) => {
        data = Buffer.concat([data, chunk]);
        if (data.length < size) return;
        stream.close();
        resolve({ opened, data, problem: null });
      },
      onEnd: (problem) => resolve({ opened, data, problem }),
    });
  });
}

const listenTo = async (port: number, options: NtripOptions = {}, size?: number): Promise<Listened> =>
  hear(ntripTo(port, options), size);

const FRAMES = Buffer.concat([rtcm(1005, 19), rtcm(1077, 700)]);
const chunkOf = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}; note=1\r\n`), bytes, Buffer.from('\r\n')]);
const HTTP_OK = 'HTTP/1.1 200 OK\r\nNtrip-Version: Ntrip/2.0\r\nContent-Type: gnss/data\r\n';

describe('NTRIP', () => {
  it('version 2 is asked first, with the login; chunks are taken apart however they are cut', async () => {
    await using caster = await SmallCaster.start(({ socket }) => {
      const bytes = Buffer.concat([
        Buffer.from(`${HTTP_OK}Transfer-Encoding: chunked\r\n\r\n`),
        chunkOf(FRAMES.subarray(0, 7)),
        chunkOf(FRAMES.subarray(7)),
      ]);
      const write = (at: number): void => {
        if (at < bytes.length) socket.write(bytes.subarray(at, at + 5), () => setImmediate(write, at + 5));
      };
      write(0);
    });
    const { opened, data } = await listenTo(caster.port, {}, FRAMES.length);
    expect(opened).to.equal(1);
    expect(data).to.deep.equal(FRAMES);
    expect(caster.requests).to.deep.equal([
      [
        'GET /BASE HTTP/1.1',
        `Host: 127.0.0.1:${caster.port}`,
        'Ntrip-Version: Ntrip/2.0',
        `User-Agent: NTRIP svc/${VERSION}`,
        'Authorization: Basic cGlsb3Q6Z2VoZWlt',
        'Connection: close',
        '\r\n',
      ].join('\r\n'),
    ]);
  });

  it('version 2 without chunks', async () => {
    await using caster = await SmallCaster.start(({ socket }) => {
      socket.write(Buffer.concat([Buffer.from(`${HTTP_OK}\r\n`), FRAMES]));
    });
    expect((await listenTo(caster.port, { version: 2 }, FRAMES.length)).data).to.deep.equal(FRAMES);
  });

  for (const [what, refusal] of [
    ['closes the connection', ''],
    ['answers 400', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
    ['answers with a page', 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>'],
    ['answers in a language of its own', 'HELO\r\n'],
  ] as const)
    it(`version 1 is asked where the caster ${what}`, async () => {
      await using caster = await SmallCaster.start(({ request, socket }) => {
        if (request.includes('HTTP/1.1')) socket.end(refusal);
        else socket.write(Buffer.concat([Buffer.from('ICY 200 OK\r\n'), FRAMES]));
      });
      const { data, opened } = await listenTo(caster.port, {}, FRAMES.length);
      expect([opened, data]).to.deep.equal([1, FRAMES]);
      expect(caster.requests[1]).to.equal(
        `GET /BASE HTTP/1.0\r\nUser-Agent: NTRIP svc/${VERSION}\r\nAuthorization: Basic cGlsb3Q6Z2VoZWlt\r\n\r\n`,
      );
    });

  it('a version that worked is the only one from then on', async () => {
    await using caster = await SmallCaster.start(({ request, socket }) => {
      if (request.includes('HTTP/1.1')) socket.end();
      else socket.write(Buffer.concat([Buffer.from('ICY 200 OK\r\n'), FRAMES]));
    });
    const open = ntripTo(caster.port);
    await hear(open, FRAMES.length);
    await hear(open, FRAMES.length);
    const versions = caster.requests.map((request) => /HTTP\/(...)/.exec(request)?.[1]);
    expect(versions).to.deep.equal(['1.1', '1.0', '1.0']);
  });

  it('a caster that answers version 2 with ICY is one of version 1; header lines after that are no frames', async () => {
    await using caster = await SmallCaster.start(({ socket }) => {
      socket.write(Buffer.concat([Buffer.from('ICY 200 OK\r\nServer: x\r\n\r\n'), FRAMES]));
    });
    const seen = framer();
    const { data } = await listenTo(caster.port, {}, FRAMES.length + 13);
    seen.framer.push(data);
    expect(seen.types).to.deep.equal([1005, 1077]);
    expect(caster.met).to.have.length(1);
  });

  for (const [answer, problem] of [
    ['HTTP/1.1 401 Unauthorized\r\n\r\n', /refuses the login/],
    ['ERROR - Bad Password\r\n', /refuses the login/],
    ['HTTP/1.1 404 Not Found\r\n\r\n', /has no BASE\. Choose one/],
    ['SOURCETABLE 200 OK\r\nContent-Type: text/plain\r\n\r\nSTR;A\r\nENDSOURCETABLE\r\n', /has no BASE/],
    ['HTTP/1.1 200 OK\r\nContent-Type: gnss/sourcetable\r\n\r\nSTR;A\r\n', /has no BASE/],
  ] as const)
    it(`${JSON.stringify(answer)} is not asked again by another version`, async () => {
      await using caster = await SmallCaster.start(({ socket }) => socket.write(answer));
      expect((await listenTo(caster.port)).problem).to.match(problem);
      expect(caster.met).to.have.length(1);
    });

  for (const [answer, problem] of [
    ['HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>', /web server, and no caster/],
    [`${HTTP_OK}Content-Encoding: gzip\r\n\r\n\u001f\u008b`, /compresses the stream/],
    ['\u001f\u008b\u0008\u0000\u0000', /no NTRIP caster/],
    [`HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(2000)}`, /no NTRIP caster/],
    ['ICY 500 no\r\n', /refuses the stream/],
    ['HTTP/1.1 503 Busy\r\n\r\n', /refuses the stream \(503\)/],
    [`${HTTP_OK}Transfer-Encoding: gzip\r\n\r\n`, /in a way that is not known/],
  ] as const)
    it(`${JSON.stringify(answer.slice(0, 60))} is refused, in words`, async () => {
      await using caster = await SmallCaster.start(({ socket }) => socket.write(answer, 'latin1'));
      const { problem: said, opened } = await listenTo(caster.port);
      expect(said).to.match(problem);
      expect(opened).to.equal(0);
    });

  for (const [what, body, problem] of [
    ['no chunks at all', 'hello, this is no size\r\n', /what its own answer announced/],
    ['a size without an end', 'f'.repeat(5000), /what its own answer announced/],
    ['too much in a chunk', '1\r\nab\r\n', /what its own answer announced/],
    ['the last chunk', '0\r\n\r\n', /has ended the stream/],
  ] as const)
    it(`an answer that announces chunks and sends ${what} is over`, async () => {
      await using caster = await SmallCaster.start(({ socket }) =>
        socket.write(`${HTTP_OK}Transfer-Encoding: chunked\r\n\r\n${body}`),
      );
      expect((await listenTo(caster.port, { version: 2 })).problem).to.match(problem);
    });

  it('a redirect is not followed: the login goes to no other host', async () => {
    await using other = await SmallCaster.start(() => undefined);
    await using caster = await SmallCaster.start(({ socket }) =>
      socket.write(`HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:${other.port}/BASE\r\n\r\n`),
    );
    expect((await listenTo(caster.port)).problem).to.match(/which is not followed/);
    expect([caster.met.length, other.met.length]).to.deep.equal([1, 0]);
  });

  it('a port that nobody listens on, and a caster that hangs up', async () => {
    const port = await freePort();
    expect((await listenTo(port)).problem).to.match(/is not reached: .*ECONNREFUSED/);
    await using caster = await SmallCaster.start(({ socket }) => socket.end(`${HTTP_OK}\r\n`));
    const { opened, problem } = await listenTo(caster.port);
    expect([opened, problem]).to.deep.equal([1, 'The caster has closed the connection.']);
  });

  it('a caster that says nothing is given up after 10 s', async () => {
    const clock = new FakeClock();
    await using caster = await SmallCaster.start(() => undefined);
    const ended = new Promise<string>((resolve) => {
      ntripTo(caster.port, { version: 2, clock })({
        onOpen: () => undefined,
        onData: () => undefined,
        onEnd: resolve,
      });
    });
    while (caster.met.length === 0) await settle();
    await clock.advance(10_000);
    expect(await ended).to.equal('The caster has not answered within 10 s.');
    expect(clock.pending).to.equal(0);
  });

  it('the place of the vehicle goes to a virtual station at once, and every 10 s, while it is known', async () => {
    const clock = new FakeClock();
    let place: KnownPlace | null = null;
    let said = '';
    await using caster = await SmallCaster.start(({ socket }) => {
      socket.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
      socket.write(`${HTTP_OK}\r\n`);
    });
    let isOpen = false;
    const open = ntripTo(caster.port, { version: 2, clock, place: () => place });
    const events = { onOpen: () => (isOpen = true), onData: () => undefined, onEnd: () => undefined };
    const first = open(events);
    const until = async (done: () => boolean): Promise<void> => {
      while (!done()) await settle();
    };
    await until(() => isOpen);
    await clock.advance(3000);
    expect(said).to.equal('');
    expect(caster.requests[0]).to.not.include('GGA');
    place = { lat: -33.5, lon: 151.25, alt: 12.34, fixType: 6, satellites: 17, hdop: 0.72 };
    const gga =
      /^\$GPGGA,\d{6}\.\d\d,3330\.00000,S,15115\.00000,E,4,17,0\.7,12\.3,M,0\.0,M,,\*[0-9A-F]{2}\r\n$/;
    await clock.advance(1000);
    await until(() => said !== '');
    expect(said).to.match(gga);
    await clock.advance(9000);
    expect(said).to.match(gga);
    await clock.advance(1000);
    await until(() => said.split('\n').length > 2);
    first.close();
    expect(clock.pending).to.equal(0);
    isOpen = false;
    const second = open(events);
    await until(() => isOpen);
    expect(caster.requests[1]).to.match(/\r\nNtrip-GGA: \$GPGGA,.*\*[0-9A-F]{2}\r\n/);
    second.close();
  });

  describe('by TLS', () => {
    let authority: Authority;
    let server: TlsServer;
    let port = 0;
    let greetings = 0;

    before(async () => {
      authority = await newAuthority('test', Date.now());
      const key = newCertificateKey();
      const { pem } = await certificateRequest(key);
      const cert = await issueCertificate(
        authority,
        pem,
        { server: 'localhost', names: ['localhost'] },
        Date.now(),
      );
      server = createTlsServer({ key, cert }, (socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => {
          greetings++;
          socket.write(Buffer.concat([Buffer.from('ICY 200 OK\r\n'), FRAMES]));
        });
      });
      server.on('tlsClientError', () => undefined); // that is what is tried here
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const address = server.address();
      port = typeof address === 'object' && address !== null ? address.port : 0;
    });
    after(() => server.close());

    const secure = async (host: string, trusted?: readonly string[]) =>
      listenTo(port, { host, connect: secureConnect(trusted), opened: 'secureConnect' }, FRAMES.length);

    it('an authority that this machine trusts is believed', async () => {
      expect((await secure('localhost', [authority.certificate])).data).to.deep.equal(FRAMES);
    });

    it('any other is not, nor another name: the login is not sent', async () => {
      greetings = 0;
      expect((await secure('localhost')).problem).to.match(/is not reached: .*certificate/);
      expect((await secure('127.0.0.1', [authority.certificate])).problem).to.match(/is not reached: .*IP/);
      expect(greetings).to.equal(0);
    });
  });
});

describe('GGA', () => {
  const at = (lat: number, lon: number): string =>
    ggaOf({ lat, lon, alt: 0, fixType: 3, satellites: null, hdop: null }, Date.UTC(2026, 0, 2, 3, 4, 5, 670));

  it('has the checksum and the form of NMEA 0183', () => {
    expect(at(48.1173, 11.516666667)).to.equal(
      '$GPGGA,030405.67,4807.03800,N,01131.00000,E,1,00,1.0,0.0,M,0.0,M,,*5C\r\n',
    );
  });

  it('never has 60 minutes', () => {
    fc.assert(
      fc.property(fc.double({ min: -90, max: 90, noNaN: true }), (lat) => {
        const [, degrees = '', minutes = '', side] = /,(\d\d)(\d\d\.\d{5}),([NS]),/.exec(at(lat, 0)) ?? [];
        expect(Number(minutes)).to.be.below(60);
        const read = (Number(degrees) + Number(minutes) / 60) * (side === 'S' ? -1 : 1);
        expect(read).to.be.closeTo(lat, 1e-7);
      }),
    );
  });
});
