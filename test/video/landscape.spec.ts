import { once } from 'node:events';
import { expect } from 'chai';
import { Attempt } from '../../residual/video/attempt.ts';
import { systemVideoClock } from '../../residual/video/engine/picture.ts';
import { GROUND, type Rgb } from '../../residual/video/landscape/colours.ts';
import { LandscapeSource } from '../../residual/video/sources/landscape-source.ts';
import type { SourceSink } from '../../residual/video/sources/source.ts';
import { askAgain } from '../support/ask-again.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { coloursOf, decodeH264, decodeJpeg } from '../support/pictures.ts';
import { KEYED, pictures, unitsOf } from '../support/video-node.ts';

const [WIDTH, HEIGHT] = [640, 360] as const;
/** The horizon's colours are mixed with haze, and a JPEG has full range. */
const NEAR = 34;

type Picture = Awaited<ReturnType<typeof coloursOf>>;

/** Whether a place of a picture, 0 to 1 from left and top, has about this colour. */
function has(picture: Picture, [across, down]: readonly [number, number], [r, g, b]: Rgb): boolean {
  const [y = 0, u = 0, v = 0] = picture(Math.floor(across * WIDTH), Math.floor(down * HEIGHT));
  const seen = [y + 1.402 * (v - 128), y - 0.344 * (u - 128) - 0.714 * (v - 128), y + 1.772 * (u - 128)];
  return [r, g, b].every((value, at) => Math.abs(value - (seen[at] ?? 0)) < NEAR);
}

const BELOW = [0.5, 0.85] as const;

describe('a landscape that is not painted yet', () => {
  it('does not keep its camera from ending', async () => {
    const stop = new AbortController();
    const source = new LandscapeSource(
      systemVideoClock(),
      { width: 320, height: 180, fps: 10 },
      '/nowhere/link.sock',
    );
    let drawn = 0;
    const sink = { wants: () => true, keysOnly: false, onPicture: () => drawn++, onUnit: () => undefined };
    const running = source.run(sink, stop.signal);
    stop.abort();
    await running;
    expect(drawn).to.equal(0);
    const began = performance.now();
    const again = new AbortController();
    expect(source.preparing).to.equal(true);
    // It is painted meanwhile, once.
    await source.run({ ...sink, onPicture: () => again.abort() }, again.signal);
    expect(performance.now() - began).to.be.above(20);
    expect(source.preparing).to.equal(false);
  });

  it('is waited for longer than a camera that gives nothing', async () => {
    const clock = systemVideoClock();
    const source = {
      name: 'made up',
      preparing: true,
      run: async (_sink: SourceSink, signal: AbortSignal) => void (await once(signal, 'abort')),
    };
    const looks: number[] = [];
    const attempt: Attempt = new Attempt({
      source,
      clock,
      fromKey: false,
      firstPictureMs: 300,
      preparingMs: 60_000,
      sink: () => ({
        wants: () => true,
        keysOnly: false,
        onPicture: () => undefined,
        onUnit: () => undefined,
      }),
      onLook: (_attempt, now) => {
        if (looks.push(now) === 4) source.preparing = false;
      },
      onStuck: () => undefined,
    });
    attempt.start();
    expect(await attempt.done).to.equal('nothing came from the camera for 0.3 s');
    // At the fourth look it was made, which begins its time.
    expect(looks.length).to.be.within(5, 7);
  });
});

describe('the camera landscape', function () {
  this.timeout(180_000);
  let node: TestNode;

  before(async () => {
    const config = [
      'video:',
      '  source: landscape',
      "  radio: ''",
      `  hero: {width: ${WIDTH}, height: ${HEIGHT}, fps: 20, bitrate_kbps: 1500}`,
      '  cameras:',
      '    - {id: bars, name: Bars, source: bars}',
      '    - {id: old, name: Bars by their old name, source: test}',
    ].join('\n');
    node = await TestNode.start({ pairing: { key: KEY }, config: `${config}\n` });
    await pictures(node);
    await askAgain(
      'the vehicle can arm',
      async () => (await node.json('/api/telemetry', { headers: KEYED })).body,
      (body) => (body['prearm'] as { can_arm?: unknown } | undefined)?.can_arm === true,
    );
  });
  after(async () => node.stop());

  const video = async () => (await node.json('/api/video', { headers: KEYED })).body;
  const snapshot = async (query = ''): Promise<Buffer> =>
    Buffer.from(await (await node.fetch(`/api/video/snapshot${query}`, { headers: KEYED })).arrayBuffer());
  const send = async (method: string, path: string, body: unknown) =>
    node.json(path, {
      method,
      headers: { ...KEYED, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const command = async (cmd: string, ...args: (number | string)[]): Promise<void> => {
    const { status, body } = await send('POST', '/api/command', { cmd, args });
    expect(status, JSON.stringify(body)).to.equal(200);
  };
  const shows = async (what: string, place: readonly [number, number], colour: Rgb): Promise<Picture> =>
    askAgain(
      what,
      async () => coloursOf(await snapshot()),
      (picture) => has(picture, place, colour),
    );

  it('looks at the landing pad while the vehicle stands, once a second while nobody looks', async () => {
    expect(await video()).to.include({
      source: 'landscape',
      camera: 'main',
      problem: null,
      state: 'running',
    });
    await shows('the pad lies below', BELOW, GROUND.concrete);
    const idle = await askAgain(
      'one a second',
      video,
      (body) => body['idle'] === true && Number(body['fps']) < 2,
    );
    expect(idle).to.include({ state: 'running', restarts: 0 });
  });

  it('comes as H.264, with no clock in it', async () => {
    const units = await unitsOf(node, ({ length }) => length >= 5);
    const seen = await decodeH264(units.map(({ data }) => data));
    expect(seen.length).to.be.least(5);
    for (const { width, height, clock } of seen)
      expect({ width, height, clock }).to.deep.equal({ width: WIDTH, height: HEIGHT, clock: null });
  });

  it('gives way to colour bars with a clock, by both of their names, and comes back', async () => {
    for (const id of ['bars', 'old']) {
      expect((await send('PUT', '/api/video/camera', { camera_id: id })).body).to.include({ source: 'bars' });
      expect((await decodeJpeg(await snapshot())).clock, id).to.be.a('number');
      expect((await decodeJpeg(await snapshot('?camera=main'))).clock).to.equal(null);
    }
    expect((await send('PUT', '/api/video/camera', { camera_id: 'main' })).body).to.include({
      source: 'landscape',
    });
    await shows('the pad lies below', BELOW, GROUND.concrete);
  });

  it('rises, turns and is recorded with the vehicle', async () => {
    expect((await send('POST', '/api/video/record/start', {})).status).to.equal(200);
    await command('mode', 'GUIDED');
    await command('arm');
    await command('takeoff', 25);
    await shows('the lawn lies below', [0.4, 0.9], GROUND.lawn);
    const ahead = await coloursOf(await snapshot());
    await command('yaw', 173);
    await askAgain(
      'the other side is seen',
      async () => coloursOf(await snapshot()),
      (picture) => COARSE.some(([across, down]) => !isAlike(ahead, picture, across, down)),
    );
    await command('land');
    await askAgain(
      'it has landed',
      async () => (await node.json('/api/telemetry', { headers: KEYED })).body['armed'],
      (armed) => armed === false,
    );
    const { status, body } = await node.json('/api/video/record/stop', { method: 'POST', headers: KEYED });
    expect(status).to.equal(200);
    expect(body['size_bytes']).to.be.above(10_000);
  });
});

/** Where two pictures are compared. */
const COARSE = [0.2, 0.5, 0.8].flatMap((across) => [0.3, 0.6, 0.9].map((down) => [across, down] as const));

function isAlike(one: Picture, other: Picture, across: number, down: number): boolean {
  const [x, y] = [Math.floor(across * WIDTH), Math.floor(down * HEIGHT)];
  const [first, second] = [one(x, y), other(x, y)];
  return first.every((value, at) => Math.abs(value - (second[at] ?? 0)) < 12);
}
