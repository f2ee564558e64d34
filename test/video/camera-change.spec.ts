import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { Encoders } from '../../residual/video/engine/encoders.ts';
import { Pipeline } from '../../residual/video/pipeline.ts';
import type { Camera, VideoSource } from '../../residual/video/sources/source.ts';
import { TestSource } from '../../residual/video/sources/test-source.ts';
import { type AccessUnit, instant, systemVideoClock } from '../../shared/media/picture.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { keyFrameOfTestPicture } from '../support/pictures.ts';

const PROFILE = { width: 320, height: 180, fps: 20, bitrate_kbps: 300 };
const clock = systemVideoClock();

/** Raw pictures; a device that is in use gives none. */
function device(name: string, inUse: Set<string>): VideoSource {
  return {
    name,
    run: async (sink, signal) => {
      if (inUse.size > 0) throw new Error('Device or resource busy');
      inUse.add(name);
      await new TestSource(clock, PROFILE).run(sink, signal);
      await delay(30); // as a device that is closed
      inUse.delete(name);
    },
  };
}

/** H.264: each fifth picture is a key frame, not the first. */
function received(name: string, key: Buffer): VideoSource {
  return {
    name,
    run: async (sink, signal) => {
      for (let number = 1; !signal.aborted; number++) {
        sink.onUnit({ codec: 'h264', data: key, key: number % 5 === 0, ...instant(clock) });
        await delay(20);
      }
    },
  };
}

const broken = (name: string): VideoSource => ({
  name,
  run: async () => Promise.reject(new Error('no such device')),
});

const camera = (id: string, open: () => VideoSource | null, exclusive = false): Camera => ({
  id,
  exclusive,
  open: async () => Promise.resolve(open()),
});

describe('the change to another camera', () => {
  let pipeline: Pipeline;
  let units: AccessUnit[];
  let more: PromiseWithResolvers<void>;
  let onState: () => void;

  const start = async (first: Camera, shown = true): Promise<void> => {
    units = [];
    onState = () => undefined;
    more = Promise.withResolvers();
    pipeline = new Pipeline({
      camera: first,
      encoders: new Encoders({ choice: 'libx264' }),
      profile: PROFILE,
      clock,
      log: createLogger('test', 'error'),
      onUnit: (unit) => {
        units.push(unit);
        more.resolve();
        more = Promise.withResolvers();
      },
      onPicture: () => undefined,
      onReceived: () => undefined,
      needed: () => true,
      onState: () => onState(),
      onStuck: (why) => expect.fail(why),
    });
    pipeline.start();
    if (shown) await comes(5);
  };
  const comes = async (count: number): Promise<void> => {
    for (const end = units.length + count; units.length < end; ) await more.promise;
  };
  afterEach(async () => pipeline.stop());

  it('one that needs the same device gets it, and the encoder goes on', async () => {
    const inUse = new Set<string>();
    await start(camera('main', () => device('a', inUse), true));
    await pipeline.show(camera('b', () => device('b', inUse), true));
    await comes(3);
    expect([...inUse]).to.deep.equal(['b']);
    expect(pipeline.status()).to.include({ camera: 'b', source: 'b', state: 'running', restarts: 0 });
  });

  it('one that gives nothing with the device to itself either: the present one comes back', async () => {
    const inUse = new Set<string>();
    await start(camera('main', () => device('a', inUse), true));
    const error = await pipeline.show(camera('b', () => broken('b'), true)).catch((why: unknown) => why);
    expect(error).to.include({ code: 'E_NO_PIPELINE' });
    expect(String(error)).to.include('no such device');
    await comes(3);
    expect([...inUse]).to.deep.equal(['a']);
    expect(pipeline.status()).to.include({ camera: 'main', source: 'a', state: 'running', restarts: 0 });
  });

  it('the present one is not disturbed for one that needs nothing of it', async () => {
    const inUse = new Set<string>();
    await start(camera('main', () => device('a', inUse), true));
    for (const other of [camera('b', () => broken('b')), camera('c', () => null, true)]) {
      const before = units.length;
      const error = await pipeline.show(other).catch((why: unknown) => why);
      expect(error).to.include({ code: 'E_NO_PIPELINE' });
      if (!other.exclusive) expect(units.length - before).to.be.below(5);
    }
    await comes(3);
    expect(pipeline.status()).to.include({ camera: 'main', restarts: 0 });
  });

  it('one at a time; the one that is shown already is no change', async () => {
    const inUse = new Set<string>();
    const main = camera('main', () => device('a', inUse));
    await start(main);
    await pipeline.show(main);
    const first = pipeline.show(camera('b', () => new TestSource(clock, PROFILE)));
    const second = await pipeline.show(main).catch((why: unknown) => why);
    expect(second).to.include({ code: 'E_BUSY' });
    await first;
    expect(pipeline.status()).to.include({ camera: 'b' });
  });

  it('is at once when the present one is not there or lost', async () => {
    for (const first of [camera('main', () => null), camera('main', () => broken('a'))]) {
      await start(first, false);
      await pipeline.show(camera('b', () => new TestSource(clock, PROFILE)));
      await comes(5);
      expect(pipeline.status()).to.include({ camera: 'b', source: 'bars', state: 'running', problem: null });
      await pipeline.stop();
    }
  });

  it('from one that sends H.264 to one that does not: that there is an encoder is told as soon as there is', async () => {
    const key = await keyFrameOfTestPicture(PROFILE);
    await start(camera('main', () => received('a', key)));
    expect(pipeline.status().encoder).to.equal(null);
    const told = Promise.withResolvers<void>();
    onState = () => {
      if (pipeline.status().encoder !== null) told.resolve();
    };
    await pipeline.show(camera('b', () => new TestSource(clock, PROFILE)));
    await told.promise;
    expect(pipeline.status()).to.deep.include({ profile: PROFILE });
  });

  it('to one that sends H.264 and back: each begins with a key frame, times go on, and the encoder rests meanwhile', async () => {
    const main = camera('main', () => new TestSource(clock, PROFILE));
    const key = await keyFrameOfTestPicture(PROFILE);
    await start(main);
    await pipeline.show(camera('radio', () => received('rtp', key), true));
    const from = units.findIndex(({ data }) => data === key);
    await comes(10);
    expect(units[from]?.key).to.equal(true);
    expect(units.slice(from).every(({ data }) => data === key)).to.equal(true);
    expect(pipeline.status()).to.include({ camera: 'radio', encoder: null });
    expect(pipeline.latest).to.equal(null);
    await pipeline.show(main);
    await comes(5);
    const back = units.findIndex(({ data }, at) => at > from && data !== key);
    expect(units[back]?.key).to.equal(true);
    expect(pipeline.status()).to.include({ camera: 'main', encoder: 'libx264' });
    for (const [at, unit] of units.entries()) if (at > 0) expect(unit.at).to.be.above(units[at - 1]?.at ?? 0);
  });

  it('ends with the pipeline', async () => {
    await start(camera('main', () => new TestSource(clock, PROFILE)));
    const silent: VideoSource = {
      name: 'silent',
      run: async (_, signal) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
    };
    const shown = pipeline.show(camera('b', () => silent)).catch((why: unknown) => why);
    await comes(2);
    await pipeline.stop();
    expect(String(await shown)).to.include('stopped');
  });
});
