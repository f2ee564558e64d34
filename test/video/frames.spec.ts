import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { readStrip } from '../../residual/video/sources/clock-strip.ts';
import { ApiError } from '../../shared/errors.ts';
import { FrameClient, type RawPicture } from '../../shared/video/frame-client.ts';
import type { TestNode } from '../support/node.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';
import { KEYED, startVideoNode } from '../support/video-node.ts';

const SIZE = { width: 640, height: 640 } as const;
const ever = new AbortController().signal;

/** The burnt-in clock of a raw picture, Unix ms. */
function clockOf({ header: { width, height }, pixels }: RawPicture): number | null {
  const white = (x: number, y: number): boolean => (pixels[(y * width + x) * 3] ?? 0) > 128;
  return readStrip(white, width, height, Date.now());
}

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (error: unknown) => (error instanceof ApiError ? error.code : (error as Error).name),
  );
}

describe('raw pictures for a process that looks at them', function () {
  this.timeout(60_000);
  let camera: TestNode;
  let ground: TestNode;

  before(async () => {
    const port = await freePort();
    [camera, ground] = await Promise.all([
      startVideoNode({ config: `video:\n  source: test\n  radio: '127.0.0.1:${port}'\n` }),
      startVideoNode({ config: `video:\n  source: rtp:127.0.0.1:${port}\n  radio: ''\n` }),
    ]);
  });
  after(async () => {
    await Promise.all([camera.stop(), ground.stop()]);
  });

  for (const kind of ['raw', 'received'] as const) {
    const socketOf = (): string => (kind === 'raw' ? camera : ground).paths.framesSocket;

    it(`${kind} ones: each is a later one of this moment, scaled in its own shape, with its number and time`, async () => {
      const client = await FrameClient.connect(socketOf());
      try {
        let last = 0;
        for (let count = 0; count < 4; count++) {
          const picture = await client.next(SIZE, ever);
          const { header, pixels } = picture;
          expect(header).to.include({ frame_width: 1280, frame_height: 720, width: 640, height: 360 });
          expect(pixels).to.have.length(640 * 360 * 3);
          expect(header.frame_id).to.be.above(last);
          last = header.frame_id;
          const clock = clockOf(picture) ?? 0;
          // Received ones: the time of arrival.
          expect(header.captured_at_ms - clock).to.be.within(0, kind === 'raw' ? 0 : 5000);
          const age = Number(process.hrtime.bigint() / 1000n) - header.at_us;
          expect(age).to.be.within(0, 10e6);
        }
      } finally {
        client.close();
      }
    });
  }

  it('a picture is not enlarged', async () => {
    const client = await FrameClient.connect(camera.paths.framesSocket);
    const { header } = await client.next({ width: 1920, height: 1920 }, ever);
    expect([header.width, header.height]).to.deep.equal([1280, 720]);
    client.close();
  });

  it('two who look at the same time have sizes of their own', async () => {
    const sizes = [64, 320].map((side) => ({ width: side, height: side }));
    const clients = await Promise.all(sizes.map(async () => FrameClient.connect(camera.paths.framesSocket)));
    const pictures = await Promise.all(
      clients.map(async (client, index) => client.next(sizes[index] ?? SIZE, ever)),
    );
    expect(pictures.map(({ header }) => header.width)).to.deep.equal([64, 320]);
    for (const client of clients) client.close();
  });

  for (const [what, text] of [
    ['no JSON', 'picture\n'],
    ['another member', '{"width":64,"height":64,"format":"bgr"}\n'],
    ['a side of 8', '{"width":8,"height":64}\n'],
    ['a side of 4000', '{"width":4000,"height":64}\n'],
    ['half a pixel', '{"width":64.5,"height":64}\n'],
    ['two requests at once', '{"width":64,"height":64}\n{"width":64,"height":64}\n'],
    ['a line without end', `{"width":64,"height":64${' '.repeat(300)}`],
  ] as const) {
    it(`${what}: the connection ends, and no other`, async () => {
      const other = await FrameClient.connect(camera.paths.framesSocket);
      const socket = createConnection(camera.paths.framesSocket);
      socket.write(text);
      socket.resume();
      await once(socket, 'close');
      expect((await other.next(SIZE, ever)).header.width).to.equal(640);
      other.close();
    });
  }

  it('there is room for four', async () => {
    const clients: FrameClient[] = [];
    for (let count = 0; count < 4; count++)
      clients.push(await FrameClient.connect(camera.paths.framesSocket));
    const fifth = await FrameClient.connect(camera.paths.framesSocket);
    expect(await codeOf(fifth.next(SIZE, ever))).to.equal('E_UPSTREAM_DOWN');
    for (const client of clients) expect((await client.next(SIZE, ever)).header.width).to.equal(640);
    for (const client of clients) client.close();
  });

  it('one who does not read what it asked for delays neither the encoder nor the others', async () => {
    const stuck = createConnection(camera.paths.framesSocket).pause();
    stuck.write('{"width":1280,"height":720}\n');
    const client = await FrameClient.connect(camera.paths.framesSocket);
    const first = await client.next(SIZE, ever);
    let last = first;
    for (let count = 0; count < 10; count++) last = await client.next(SIZE, ever);
    const { body } = await camera.json('/api/video', { headers: KEYED });
    expect(body).to.include({ state: 'running', problem: null });
    expect(last.header.frame_id).to.be.above(first.header.frame_id + 9);
    stuck.destroy();
    client.close();
  });

  it('a wait that is given up ends the connection', async () => {
    const client = await FrameClient.connect(camera.paths.framesSocket);
    const giveUp = new AbortController();
    const waiting = codeOf(client.next(SIZE, giveUp.signal));
    giveUp.abort();
    expect(await waiting).to.equal('AbortError');
    expect(await codeOf(client.next(SIZE, ever))).to.equal('E_UPSTREAM_DOWN');
  });
});

describe('the client of raw pictures, with a server that is wrong in every way', () => {
  const HEADER = {
    frame_id: 1,
    captured_at_ms: 1,
    at_us: 1,
    frame_width: 64,
    frame_height: 64,
    width: 16,
    height: 16,
  };
  const answer = (header: unknown, bytes: number): Buffer => {
    const text = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(text.length);
    return Buffer.concat([length, text, Buffer.alloc(bytes)]);
  };
  let dir = '';
  let path = '';
  let server: Server;
  let serve: (socket: Socket) => void;

  beforeEach(async () => {
    dir = await tempDir();
    path = join(dir, 'frames.sock');
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => serve(socket));
    });
    server.listen(path);
    await once(server, 'listening');
  });
  afterEach(async () => {
    server.close();
    await removeDir(dir);
  });

  const asked = async (): Promise<RawPicture> => {
    const client = await FrameClient.connect(path);
    return client.next({ width: 16, height: 16 }, ever).finally(() => client.close());
  };

  it('a right answer in pieces of one byte is a picture', async () => {
    serve = (socket) => {
      for (const byte of answer(HEADER, 768)) socket.write(Buffer.of(byte));
    };
    expect((await asked()).pixels).to.have.length(768);
  });

  for (const [what, bytes, code] of [
    ['a torn picture', answer(HEADER, 700), 'E_UPSTREAM'],
    ['nothing', Buffer.alloc(0), 'E_UPSTREAM_DOWN'],
    ['a header of 4 GB', Buffer.alloc(8, 0xff), 'E_UPSTREAM'],
    ['no JSON', answer('picture', 768), 'E_UPSTREAM'],
    ['null', answer('null', 768), 'E_UPSTREAM'],
    ['no time', answer({ ...HEADER, at_us: undefined }, 768), 'E_UPSTREAM'],
    ['more than was asked for', answer({ ...HEADER, width: 17 }, 816), 'E_UPSTREAM'],
    ['a width of -1', answer({ ...HEADER, width: -1 }, 768), 'E_UPSTREAM'],
  ] as const) {
    it(`${what} is ${code}`, async () => {
      serve = (socket) => socket.end(bytes);
      expect(await codeOf(asked())).to.equal(code);
    });
  }

  it('bytes that nobody asked for are refused with the next question', async () => {
    serve = (socket) => socket.write(Buffer.concat([answer(HEADER, 768), Buffer.alloc(5)]));
    const client = await FrameClient.connect(path);
    await client.next({ width: 16, height: 16 }, ever);
    expect(await codeOf(client.next({ width: 16, height: 16 }, ever))).to.equal('E_UPSTREAM');
  });

  it('no server is E_UPSTREAM_DOWN', async () => {
    expect(await codeOf(FrameClient.connect(join(dir, 'none.sock')))).to.equal('E_UPSTREAM_DOWN');
  });
});
