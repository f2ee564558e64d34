import { spawnSync } from 'node:child_process';
import { readFile, readlink, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { AV_CODEC_ID_NONE } from 'node-av/constants';
import { DecoderProcess } from '../../residual/video/decoder/decoder-process.ts';
import { isFormat, MAX_PACKET_BYTES } from '../../residual/video/decoder/wire.ts';
import { CODECS } from '../../residual/video/engine/codecs.ts';
import { MpegtsStream } from '../../residual/video/outputs/mpegts-stream.ts';
import { openVideoSource } from '../../residual/video/sources/open-source.ts';
import { messageOf } from '../../shared/errors.ts';
import { joinNals, NAL, nalType, splitNals } from '../../shared/media/h264.ts';
import { systemVideoClock } from '../../shared/media/picture.ts';
import { cameraSocket } from '../../shared/video/extension-cameras.ts';
import { askAgain } from '../support/ask-again.ts';
import { KEY } from '../support/edge.ts';
import { H265Encoder } from '../support/h265-encoder.ts';
import { TestNode } from '../support/node.ts';
import { ownChild } from '../support/own-children.ts';
import { jpegOfTestPicture, keyFrameOfTestPicture, ofTestPicture } from '../support/pictures.ts';
import { RtspCamera } from '../support/rtsp-camera.ts';
import { sps264 } from '../support/sps-writer.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { KEYED, pictures, play } from '../support/video-node.ts';

const SIZE = { width: 160, height: 90, fps: 10, bitrate_kbps: 200 };
const PROGRAM = 'decoder-main';
const WIRE = join(import.meta.dirname, '../../residual/video/decoder/wire.ts');

/** The sizes of the pictures in a packet. */
async function sizesIn(decoder: DecoderProcess, packet: Buffer): Promise<string[]> {
  const sizes: string[] = [];
  await decoder.decode(packet, 1, ({ width, height }) => sizes.push(`${width}x${height}`));
  return sizes;
}

async function key265(): Promise<Buffer> {
  return ofTestPicture(SIZE, async (frame) => {
    const [unit] = await (await H265Encoder.open(SIZE)).encode(frame, { capturedAt: 0, at: 0 }, true);
    if (unit === undefined) throw new Error('the encoder gave nothing');
    return unit.data;
  });
}

/** What has become of it; null: it went on. */
async function failure(work: Promise<unknown>): Promise<string | null> {
  return work.then(() => null, messageOf);
}

describe('a decoder of what strangers send', function () {
  this.timeout(60_000);
  let keys: { readonly h264: Buffer; readonly h265: Buffer };
  let good: DecoderProcess;

  before(async () => {
    keys = { h264: await keyFrameOfTestPicture(SIZE), h265: await key265() };
    good = new DecoderProcess();
  });
  after(() => good.close());
  beforeEach(async () => good.open(CODECS.h264.id));

  it('has no network, and the kernel takes it before svc-video', async function () {
    const pid = await ownChild(PROGRAM);
    const { status } = spawnSync('unshare', ['--user', '--map-current-user', '--net', 'true']);
    const score = async (of: string): Promise<number> =>
      Number(await readFile(`/proc/${of}/oom_score_adj`, 'utf8'));
    expect(await score(String(pid))).to.be.above(await score('self'));
    if (status !== 0) this.skip(); // this kernel or container lets nobody give it up
    expect(await readlink(`/proc/${pid}/ns/net`)).to.not.equal(await readlink('/proc/self/ns/net'));
  });

  it('ends when it is closed', async () => {
    const pid = await ownChild(PROGRAM);
    good.close();
    await askAgain(
      'its end',
      async () => ownChild(PROGRAM),
      (now) => now !== pid,
    );
    await good.open(CODECS.h264.id);
    expect(await sizesIn(good, keys.h264)).to.deep.equal(['160x90']);
  });

  for (const codec of ['h264', 'h265'] as const)
    it(`lives through damaged ${CODECS[codec].name}, or ends alone`, async () => {
      const decoder = new DecoderProcess();
      const key = keys[codec];
      const packet = fc.oneof(
        fc.uint8Array({ minLength: 1, maxLength: 3000 }).map((bytes) => Buffer.from(bytes)),
        fc
          .tuple(
            fc.array(fc.tuple(fc.nat(key.length - 1), fc.nat(255)), { maxLength: 40 }),
            fc.integer({ min: 1, max: key.length }),
          )
          .map(([changes, length]) => {
            const bytes = Buffer.from(key.subarray(0, length));
            for (const [at, byte] of changes) if (at < length) bytes[at] = byte;
            return bytes;
          }),
      );
      await decoder.open(CODECS[codec].id);
      await fc.assert(
        fc.asyncProperty(fc.array(packet, { minLength: 1, maxLength: 5 }), async (packets) => {
          for (const bytes of packets) {
            const problem = await failure(sizesIn(decoder, bytes));
            if (problem === null) continue;
            expect(problem).to.match(/^the decoder has ended|^what comes cannot be decoded/);
            await decoder.open(CODECS[codec].id);
          }
        }),
        { seed: 1, numRuns: 150 },
      );
      await decoder.open(CODECS[codec].id);
      expect(await sizesIn(decoder, key)).to.deep.equal(['160x90']);
      decoder.close();
    });

  it('makes nothing of pictures that are too large, nor of what is no picture at all', async () => {
    const set = sps264({ columns: 1024, rows: 1024 });
    const huge = joinNals(splitNals(keys.h264).map((nal) => (nalType(nal) === NAL.sps ? set : nal)));
    expect(await sizesIn(good, huge)).to.deep.equal([]);
    expect(await failure(sizesIn(good, Buffer.alloc(MAX_PACKET_BYTES + 1)))).to.include('too large');
    expect(await sizesIn(good, keys.h264)).to.deep.equal(['160x90']);
    const junk = async (): Promise<void> => {
      for (let left = 400; left > 0; left--) await sizesIn(good, Buffer.from([0, 0, 1, NAL.idr, 0xff]));
    };
    expect(await failure(junk())).to.equal('what comes cannot be decoded');
    expect(await failure(good.open(AV_CODEC_ID_NONE))).to.equal('no decoder for its format');
  });

  describe('that was taken over ends alone, with a sentence:', () => {
    let folder: string;
    before(async () => {
      folder = await tempDir();
    });
    after(async () => removeDir(folder));

    const WAIT = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);';
    const PICTURE = 'kind: 1, is: 0, width: 640, height: 360, at: 1';
    const BYTES = (640 * 360 * 3) / 2;
    for (const [what, lie, said] of [
      ['more bytes than its size has', `say({ ${PICTURE}, bytes: ${BYTES + 1} })`, 'no picture'],
      ['fewer bytes', `say({ ${PICTURE}, bytes: 10 })`, 'no picture'],
      ['a time that is none', `say({ ${PICTURE}, bytes: ${BYTES}, at: NaN })`, 'no picture'],
      [
        'a huge picture',
        'say({ kind: 1, width: 16384, height: 16384, bytes: 16384 * 16384 * 1.5 })',
        'no picture',
      ],
      ['a picture without pixels', 'say({ kind: 1 })', 'no picture'],
      ['another format', `say({ ${PICTURE}, is: 2, bytes: ${BYTES} })`, 'no picture'],
      [
        'a picture that is not there',
        `ftruncateSync(4, 0); say({ ${PICTURE}, bytes: ${BYTES} }); ${WAIT}`,
        'no picture',
      ],
      ['garbage', 'writeSync(3, Buffer.alloc(5000, 0xa7))', 'no picture'],
      ['pictures without end', `for (;;) say({ ${PICTURE}, bytes: ${BYTES} })`, 'pictures of nothing'],
      ['what nobody asked for', 'for (;;) say({ kind: 2 })', 'pictures of nothing'],
      ['nothing', WAIT, 'has not answered for 5 s'],
      ['half an answer', `writeSync(3, Buffer.alloc(10)); ${WAIT}`, 'has not answered for 5 s'],
      ['its end', 'process.exit(3)', 'has ended (code 3)'],
      ['a crash', "process.kill(process.pid, 'SIGSEGV'); for (;;);", 'has ended (SIGSEGV)'],
      ['an end of the socket', `closeSync(3); ${WAIT}`, 'hung up'],
      ['hunger', `globalThis.eaten = Buffer.alloc(300 << 20, 1); ${WAIT}`, 'MiB of memory'],
      [
        'a full disk',
        `for (let at = 0; ; ) at += writeSync(4, Buffer.alloc(8 << 20), 0, 8 << 20, at);`,
        'has ended',
      ],
    ] as const)
      it(what, async () => {
        const program = join(folder, 'lies.mjs');
        await writeFile(
          program,
          `import { closeSync, readSync, ftruncateSync, writeSync } from 'node:fs';
          const { HEAD_BYTES, headOf, readHead } = await import(${JSON.stringify(WIRE)});
          const ask = () => {
            const head = Buffer.alloc(HEAD_BYTES);
            readSync(3, head);
            readSync(3, Buffer.alloc(readHead(head).bytes));
          };
          const say = (head) => writeSync(3, headOf(head));
          ask();
          writeSync(4, Buffer.alloc(${BYTES}));
          say({ kind: 2 });
          ask();
          ${lie};`,
        );
        const liar = new DecoderProcess(program);
        await liar.open(CODECS.h264.id);
        const tried = async (): Promise<void> => {
          for (let left = 1000; left > 0; left--) await sizesIn(liar, Buffer.from('packet'));
        };
        expect(await failure(tried())).to.include(said);
        liar.close();
        expect(await sizesIn(good, keys.h264)).to.deep.equal(['160x90']);
      });

    it('one that does not start', async () => {
      const nothing = new DecoderProcess(join(folder, 'nothing.mjs'));
      expect(await failure(nothing.open(CODECS.h264.id))).to.include('the decoder has ended (code 1)');
    });
  });
});

describe('a decoder that is killed', function () {
  this.timeout(120_000);

  // One decodes all that is shown, the other for those who watch by a browser.
  for (const codec of ['h264', 'h265'] as const)
    it(`of a camera that sends ${CODECS[codec].name}: the picture is back within seconds, for the same viewer`, async () => {
      const camera = await RtspCamera.start(null, { codec });
      const config = `video:\n  source: ${camera.url}\n  radio: ''\n  hero: {width: 640, height: 360, fps: 15, bitrate_kbps: 800}\n`;
      const node = await TestNode.start({ pairing: { key: KEY }, simulated: false, config });
      try {
        await pictures(node);
        let seen = 0;
        const { peer } = await play(node, () => seen++);
        const more = async (): Promise<void> => {
          const before = seen;
          await askAgain(
            'pictures',
            async () => seen,
            (now) => now > before + 15,
          );
        };
        await more();
        const svcVideo = node.pid('svc-video');
        const decoder = await ownChild(PROGRAM, svcVideo);
        if (decoder === null) throw new Error('no decoder runs');
        process.kill(decoder, 'SIGKILL');
        const killedAt = performance.now();
        await askAgain(
          'another decoder',
          async () => ownChild(PROGRAM, svcVideo),
          (now) => now !== null && now !== decoder,
        );
        await more();
        expect(performance.now() - killedAt).to.be.below(15_000);
        expect(node.pid('svc-video')).to.equal(svcVideo);
        expect(node.stderr).to.include('the decoder has ended (SIGKILL)');
        const { body } = await node.json('/api/video', { headers: KEYED });
        expect(body).to.include({ state: 'running', problem: null });
        await peer.close();
        if (codec === 'h265')
          await askAgain(
            'the end of a decoder that nobody needs',
            async () => ownChild(PROGRAM, svcVideo),
            (now) => now === null,
          );
      } finally {
        await node.stop();
        await camera.stop();
      }
    });
});

describe("an extension's camera is decoded there too", function () {
  this.timeout(60_000);
  let folder: string;
  before(async () => {
    folder = await tempDir();
  });
  after(async () => removeDir(folder));

  /** Bytes of one more picture. */
  const sender = async (
    kind: 'h264' | 'h265' | 'mjpeg',
    send: (bytes: Buffer) => void,
  ): Promise<() => void> => {
    if (kind === 'mjpeg') {
      const jpeg = await jpegOfTestPicture(SIZE.width, SIZE.height);
      return () => send(jpeg);
    }
    const data = kind === 'h264' ? await keyFrameOfTestPicture(SIZE) : await key265();
    const stream = new MpegtsStream(send);
    let at = 0;
    return () => stream.push({ codec: kind, data, key: true, capturedAt: 0, at: (at += 50_000) });
  };

  for (const kind of ['h264', 'h265', 'mjpeg'] as const)
    it(`as ${kind}`, async () => {
      const listeners = new Set<Socket>();
      const next = await sender(kind, (bytes) => {
        for (const socket of listeners) socket.write(bytes);
      });
      const server = createServer((socket) => {
        listeners.add(socket);
        socket.on('error', () => undefined); // 'close' follows
        socket.on('close', () => listeners.delete(socket));
      });
      const path = cameraSocket(folder, kind, kind === 'mjpeg' ? 'mjpeg' : 'mpegts');
      await new Promise<void>((resolve) => server.listen(path, resolve));
      const timer = setInterval(next, 50);
      const source = await openVideoSource(
        { kind: 'extension', id: kind },
        {
          clock: systemVideoClock(),
          size: SIZE,
          cameras: () => ({ cameras: [], problem: null }),
          csi: async () => Promise.resolve({ cameras: [], problem: null }),
          passes265: false,
          login: { username: '', password: '' },
          extensionCameras: folder,
          simulated: null,
        },
      );
      const stop = new AbortController();
      const shown = Promise.withResolvers<string>();
      const decoder: Promise<number | null>[] = [];
      const ran = source?.run(
        {
          wants: () => true,
          keysOnly: false,
          onUnit: () => shown.reject(new Error('it was not decoded')),
          onPicture: ({ frame: { width, height, format } }) => {
            decoder.push(ownChild(PROGRAM));
            shown.resolve(`${width}x${height} ${isFormat(Number(format))}`);
          },
        },
        stop.signal,
      );
      ran?.catch(shown.reject);
      expect(await shown.promise).to.equal('160x90 true');
      expect(await decoder[0]).to.be.a('number');
      stop.abort();
      await ran;
      clearInterval(timer);
      server.close();
    });
});
