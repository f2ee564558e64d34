import { expect } from 'chai';
import { AV_PIX_FMT_YUV420P } from 'node-av/constants';
import { Encoders } from '../../residual/video/engine/encoders.ts';
import { Pipeline } from '../../residual/video/pipeline.ts';
import type { VideoSource } from '../../residual/video/sources/source.ts';
import { TestSource } from '../../residual/video/sources/test-source.ts';
import type { H264Encoder } from '../../shared/media/encoder.ts';
import { systemVideoClock } from '../../shared/media/picture.ts';
import { createLogger } from '../../shared/process/logger.ts';

const PROFILE = { width: 320, height: 180, fps: 10, bitrate_kbps: 200 };
const STOOD_STILL_US = 6_000_000;
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

/** Lets it run 3 times as fast: a jump would be a process that did not run. @returns ends it */
function hurry(time: { ahead: number }): () => void {
  const going = setInterval(() => (time.ahead += 200_000), 100);
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
    const complaint = Promise.withResolvers<string>();
    const pipeline = new Pipeline({
      camera: { id: 'main', exclusive: false, open: async () => source(time.clock) },
      encoders: new Encoders({ choice: 'libx264', open: async () => encoder as H264Encoder }),
      profile: PROFILE,
      clock: time.clock,
      log: createLogger('test', 'error'),
      onUnit: () => undefined,
      onPicture: () => picture.resolve(),
      onReceived: () => undefined,
      needed: () => true,
      onState: () => {
        const { state, problem } = pipeline.status();
        if (problem !== null) complaint.resolve(`${state}: ${problem}`);
      },
      onStuck: stuck.resolve,
    });
    pipeline.start();
    return {
      time,
      stuck: stuck.promise,
      picture: picture.promise,
      complaint: complaint.promise,
      pipeline,
    };
  };

  /** Takes one picture and keeps it until it is let go, as a pipeline that stops waits for it. */
  const keeper = (name: string) => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<[]>();
    const encoder: Partial<H264Encoder> = {
      name,
      profile: PROFILE,
      format: AV_PIX_FMT_YUV420P,
      adapt: () => true,
      close: () => undefined,
      encode: async () => {
        asked.resolve();
        return answer.promise;
      },
    };
    const letGo = (): void => answer.resolve([]);
    return { asked: asked.promise, letGo, ...begin(encoder, (clock) => new TestSource(clock, PROFILE)) };
  };

  it('an encoder that keeps a picture is told after 5 s, and whoever waits for its settings is refused', async () => {
    const { asked, letGo, time, stuck, pipeline } = keeper('h264_v4l2m2m');
    await asked;
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
    letGo();
    await pipeline.stop();
  });

  it('the time in which this process stood still does not count against it', async () => {
    const { asked, letGo, time, stuck, pipeline } = keeper('libx264');
    await asked;
    time.ahead = STOOD_STILL_US;
    const end = hurry(time);
    expect(await stuck).to.not.include('video.encoder');
    // It still had nearly all of its 5 s, of which two thirds are of the hurried clock.
    expect(time.ahead - STOOD_STILL_US).to.be.above(2_000_000);
    end();
    letGo();
    await pipeline.stop();
  });

  it('a camera that says nothing, and does not end, is told: first that nothing has come', async () => {
    const { time, stuck, complaint } = begin({}, () => ({
      name: 'v4l2:/dev/video9',
      run: async () => NEVER,
    }));
    const end = hurry(time);
    const began = time.clock.micros();
    expect(await complaint).to.equal('starting: nothing has come from the camera yet');
    expect(time.clock.micros() - began, 'long before it is given up').to.be.below(9_000_000);
    expect(await stuck).to.include(
      'the camera v4l2:/dev/video9 does not end (nothing came from the camera for 10 s)',
    );
    end();
  });
});
