import { expect } from 'chai';
import { AV_PIX_FMT_YUV420P } from 'node-av/constants';
import type { H264Encoder } from '../../residual/video/engine/encoder.ts';
import { Encoders } from '../../residual/video/engine/encoders.ts';
import { systemVideoClock } from '../../residual/video/engine/picture.ts';
import { Pipeline } from '../../residual/video/pipeline.ts';
import type { VideoSource } from '../../residual/video/sources/source.ts';
import { TestSource } from '../../residual/video/sources/test-source.ts';
import { createLogger } from '../../shared/process/logger.ts';

const PROFILE = { width: 320, height: 180, fps: 10, bitrate_kbps: 200 };
const NEVER = new Promise<never>(() => undefined);

/** A clock that can be set ahead. */
function clockAhead(): { readonly clock: ReturnType<typeof systemVideoClock>; ahead: number } {
  const real = systemVideoClock();
  const made = {
    ahead: 0,
    clock: { wall: () => real.wall(), micros: () => real.micros() + made.ahead },
  };
  return made;
}

/** Lets it run 4 times as fast: a jump would be a process that did not run. @returns ends it */
function hurry(time: { ahead: number }): () => void {
  const going = setInterval(() => (time.ahead += 300_000), 100);
  return () => clearInterval(going);
}

describe('a foreign engine that never answers', () => {
  const begin = (
    encoder: Partial<H264Encoder>,
    source: (clock: ReturnType<typeof systemVideoClock>) => VideoSource,
  ) => {
    const time = clockAhead();
    const stuck = Promise.withResolvers<string>();
    const picture = Promise.withResolvers<void>();
    const pipeline = new Pipeline({
      open: async () => source(time.clock),
      encoders: new Encoders({ choice: 'libx264', open: async () => encoder as H264Encoder }),
      profile: PROFILE,
      clock: time.clock,
      log: createLogger('test', 'error'),
      onUnit: () => undefined,
      onPicture: () => picture.resolve(),
      onReceived: () => undefined,
      needed: () => true,
      onState: () => undefined,
      onStuck: stuck.resolve,
    });
    pipeline.start();
    return { time, stuck: stuck.promise, picture: picture.promise, pipeline };
  };

  it('an encoder that keeps a picture is told after 5 s, and whoever waits for its settings is refused', async () => {
    const asked = Promise.withResolvers<void>();
    const { time, stuck, pipeline } = begin(
      {
        name: 'h264_v4l2m2m',
        profile: PROFILE,
        format: AV_PIX_FMT_YUV420P,
        adapt: () => true,
        close: () => undefined,
        encode: async () => {
          asked.resolve();
          return NEVER;
        },
      },
      (clock) => new TestSource(clock, PROFILE),
    );
    await asked.promise;
    const refused = pipeline.apply({ ...PROFILE, bitrate_kbps: 300 }).then(
      () => 'applied',
      (error: Error) => error.message,
    );
    const end = hurry(time);
    expect(await stuck)
      .to.include('h264_v4l2m2m took a picture 5 s ago')
      .and.to.include('video.encoder');
    expect(await refused).to.include('does not answer');
    end();
    await pipeline.stop();
  });

  it('is not said of one that had no time to answer: this process stood still', async () => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<never[]>();
    const { time, stuck, pipeline } = begin(
      {
        name: 'libx264',
        profile: PROFILE,
        format: AV_PIX_FMT_YUV420P,
        adapt: () => true,
        close: () => undefined,
        encode: async () => {
          asked.resolve();
          return answer.promise;
        },
      },
      (clock) => new TestSource(clock, PROFILE),
    );
    await asked.promise;
    time.ahead = 6_000_000;
    const second = Promise.withResolvers<string>();
    setTimeout(() => second.resolve('it looked again'), 700);
    expect(await Promise.race([stuck, second.promise])).to.equal('it looked again');
    answer.resolve([]);
    await pipeline.stop();
  });

  it('a camera that does not end is told too', async () => {
    const { time, stuck } = begin({}, () => ({ name: 'v4l2:/dev/video9', run: async () => NEVER }));
    const end = hurry(time);
    expect(await stuck).to.include(
      'the camera v4l2:/dev/video9 does not end (nothing came from the camera for 10 s)',
    );
    end();
  });
});
