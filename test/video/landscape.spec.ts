import { once } from 'node:events';
import { expect } from 'chai';
import { GROUND, type Rgb } from '../../bin/sim/camera/landscape/colours.ts';
import { Attempt } from '../../residual/video/attempt.ts';
import { sizeOf } from '../../residual/video/engine/picture-size.ts';
import type { SourceSink } from '../../residual/video/sources/source.ts';
import { instant, systemVideoClock } from '../../shared/media/picture.ts';
import { askAgain } from '../support/ask-again.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { coloursOf, decodeH264, decodeJpeg } from '../support/pictures.ts';
import { KEYED, pictures, play, type Unit, unitsOf } from '../support/video-node.ts';

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

describe('a camera that still makes what it will show', () => {
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

  it('and one that rests as nobody wants pictures, is not lost; one that is wanted again is', async () => {
    const clock = systemVideoClock();
    const source = {
      name: 'made up',
      rests: true,
      run: async (sink: SourceSink, signal: AbortSignal) => {
        sink.onUnit({ codec: 'h264', data: Buffer.alloc(1), key: true, ...instant(clock) });
        await once(signal, 'abort');
      },
    };
    const began = performance.now();
    let wantedAt = 0;
    const attempt: Attempt = new Attempt({
      source,
      clock,
      fromKey: false,
      firstPictureMs: 300,
      stallMs: 500,
      sink: () => ({
        wants: () => true,
        keysOnly: false,
        onPicture: () => undefined,
        onUnit: () => undefined,
      }),
      onLook: () => {
        if (performance.now() - began < 2000 || !source.rests) return;
        source.rests = false;
        wantedAt = performance.now();
      },
      onStuck: () => undefined,
    });
    attempt.start();
    expect(await attempt.done).to.equal('nothing came from the camera for 0.5 s');
    expect(performance.now() - wantedAt).to.be.within(400, 1500);
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
  const send = async (method: string, path: string, body: unknown) => ask(node, method, path, body);
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

  it('looks at the landing pad while the vehicle stands, and sends nothing while nobody looks', async () => {
    expect(await video()).to.include({
      source: 'landscape',
      camera: 'main',
      problem: null,
      state: 'running',
    });
    await shows('the pad lies below', BELOW, GROUND.concrete);
    const { frames, ...idle } = await askAgain(
      'nothing comes',
      video,
      (body) => body['idle'] === true && Number(body['last_frame_age_ms']) > 4000,
    );
    expect(idle).to.include({ state: 'running', problem: null, restarts: 0, fps: null });
    const later = await askAgain('for longer', video, (body) => Number(body['last_frame_age_ms']) > 7000);
    expect(later).to.include({ frames, state: 'running', restarts: 0, idle: true });
  });

  it('is there at once for who looks: a snapshot is of now', async () => {
    await askAgain('nothing comes', video, (body) => body['idle'] === true);
    const asked = Date.now();
    const { status, headers } = await node.request('/api/video/snapshot', { headers: KEYED });
    expect(status).to.equal(200);
    expect(Date.parse(String(headers['x-captured-at']))).to.be.least(asked);
  });

  it('comes back when its process is killed while somebody watches, and when nobody does', async () => {
    const engine = node.pid('svc-video');
    const units: Unit[] = [];
    let wake = (): void => undefined;
    const { peer, session } = await play(node, (unit) => {
      units.push(unit);
      wake();
    });
    const more = async (count: number): Promise<void> => {
      while (units.length < count)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    };
    try {
      await more(10);
      await node.killAndAwaitSuccessor('svc-camera-sim');
      const before = units.length;
      await more(before + 40);
      expect(units.slice(before).some(({ key }) => key)).to.equal(true);
    } finally {
      await node.request(session, { method: 'DELETE', headers: KEYED });
      await peer.close();
    }
    const { restarts } = await askAgain('nothing comes', video, (body) => body['idle'] === true);
    await node.killAndAwaitSuccessor('svc-camera-sim');
    await shows('the pad lies below', BELOW, GROUND.concrete);
    expect(await video()).to.include({ state: 'running', restarts });
    expect(node.pid('svc-video')).to.equal(engine);
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

  it('is as video.hero says after a restart of svc-video, in flight as well', async () => {
    await command('arm');
    for (const [side, pixels] of [
      ['width', 320],
      ['height', 180],
    ] as const)
      await set(node, `video.hero.${side}`, pixels);
    await restart(node, 'svc-video');
    await askAgain(
      'the camera begins anew',
      async () => widthOf(node),
      (now) => now === 320,
    );
    const pid = node.pid('svc-camera-sim');
    await restart(node, 'svc-video');
    expect(node.pid('svc-camera-sim'), 'the same arguments').to.equal(pid);
    await command('disarm');
  });
});

describe("the simulator's camera in the config", function () {
  this.timeout(120_000);

  it('runs where a camera is the landscape, also a second one, and nowhere else', async () => {
    const video = "video:\n  source: landscape\n  radio: ''\n  hero: {width: 320, height: 180}\n";
    const node = await TestNode.start({ pairing: { key: KEY }, simulated: false, config: video });
    try {
      const names = (): readonly string[] => node.services.map(({ name }) => name);
      await pictures(node);
      expect(names()).to.include('svc-camera-sim');
      await set(node, 'video.source', 'bars');
      await restart(node, 'svc-video');
      expect(names()).to.not.include('svc-camera-sim');
      const both = ['one', 'other'].map((id) => ({ id, name: id, source: 'landscape' }));
      await set(node, 'video.cameras', both);
      await restart(node, 'svc-video', 'svc-residual');
      expect(names()).to.include('svc-camera-sim');
      for (const { id } of both) {
        const { body } = await ask(node, 'PUT', '/api/video/camera', { camera_id: id });
        expect(body, JSON.stringify(body)).to.include({ source: 'landscape' });
      }
      // The one that is not shown as well.
      const { status } = await node.request('/api/video/snapshot?camera=one', { headers: KEYED });
      expect(status).to.equal(200);
    } finally {
      await node.stop();
    }
  });
});

async function ask(node: TestNode, method: string, path: string, body: unknown) {
  return node.json(path, {
    method,
    headers: { ...KEYED, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function set(node: TestNode, key: string, value: unknown): Promise<void> {
  const { status, body } = await ask(node, 'PUT', '/api/config', { key, value });
  expect(status, JSON.stringify(body)).to.equal(200);
}

async function restart(node: TestNode, ...names: readonly string[]): Promise<void> {
  for (const name of names)
    expect((await ask(node, 'POST', `/api/services/${name}/restart`, {})).status).to.equal(200);
  await pictures(node);
}

/** Of the picture, pixels. */
async function widthOf(node: TestNode): Promise<unknown> {
  const [unit] = await unitsOf(node, ({ length }) => length >= 1);
  return sizeOf('h264', unit?.data ?? Buffer.alloc(0))?.width;
}

/** Where two pictures are compared. */
const COARSE = [0.2, 0.5, 0.8].flatMap((across) => [0.3, 0.6, 0.9].map((down) => [across, down] as const));

function isAlike(one: Picture, other: Picture, across: number, down: number): boolean {
  const [x, y] = [Math.floor(across * WIDTH), Math.floor(down * HEIGHT)];
  const [first, second] = [one(x, y), other(x, y)];
  return first.every((value, at) => Math.abs(value - (second[at] ?? 0)) < 12);
}
