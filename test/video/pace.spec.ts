import { expect } from 'chai';
import { Encoders } from '../../residual/video/engine/encoders.ts';
import { Pipeline } from '../../residual/video/pipeline.ts';
import { TestSource } from '../../residual/video/sources/test-source.ts';
import { H264Encoder } from '../../shared/media/encoder.ts';
import { Pace } from '../../shared/media/pace.ts';
import { systemVideoClock } from '../../shared/media/picture.ts';
import { createLogger } from '../../shared/process/logger.ts';

const HERO = { width: 1280, height: 720, fps: 30, bitrate_kbps: 4000 };

/** A camera and an encoder that takes its time; `pixelUs` is what a picture of the profile's size takes. */
class Machine {
  readonly pace = new Pace();
  #profile = HERO;
  #at = 0;
  #busyUntil = 0;
  #dueAt = 0;
  #takenAt = -Infinity;

  /** @returns how many pictures were left out, and the steps on the way */
  run(seconds: number, pictureUs: number): { left: number; steps: readonly string[] } {
    let left = 0;
    const steps: string[] = [];
    const { fps } = this.#profile;
    for (const end = this.#at + seconds * 1e6; this.#at < end; this.#at += 1e6 / fps) {
      const period = 1e6 / (fps * this.pace.rate);
      if (this.#at < this.#dueAt - period / 4) continue;
      const busy = this.#at < this.#busyUntil;
      if (busy && this.#at - this.#takenAt < 0.9 * period) continue; // as the pipeline does
      if (busy) left++;
      if (this.pace.due(this.#at, busy, fps)) steps.push(this.now);
      if (busy) continue;
      this.#takenAt = this.#at;
      this.#dueAt = Math.max(this.#dueAt + period, this.#at + period / 2);
      const { width, height } = this.pace.applied(this.#profile);
      const took = (pictureUs * width * height) / (HERO.width * HERO.height);
      this.#busyUntil = this.#at + took;
      this.pace.encoded(took);
    }
    return { left, steps };
  }

  /** @returns whether the step has changed */
  wants(profile: typeof HERO): boolean {
    const changed = this.pace.changed(this.#profile, profile);
    this.#profile = profile;
    return changed;
  }

  get now(): string {
    const { width, height, fps } = this.pace.applied(this.#profile);
    return `${width}x${height} ${fps}`;
  }
}

describe('a processor that cannot encode all pictures', () => {
  it('that is fast enough gets all of them', () => {
    const machine = new Machine();
    expect(machine.run(60, 30_000)).to.deep.equal({ left: 0, steps: [] });
    expect(machine.pace.reduced).to.equal(false);
  });

  it('gets fewer, as many as it can, and none is left out any more; then all again', () => {
    const machine = new Machine();
    expect(machine.run(5, 50_000).steps).to.deep.equal(['1280x720 15']);
    expect(machine.run(60, 50_000)).to.deep.equal({ left: 0, steps: [] });
    expect(machine.run(40, 8000)).to.deep.equal({ left: 0, steps: ['1280x720 20', '1280x720 30'] });
    expect(machine.pace.reduced).to.equal(false);
  });

  it('gets smaller ones where fewer are not enough', () => {
    const machine = new Machine();
    const { steps } = machine.run(20, 130_000);
    expect(steps).to.deep.equal(['1280x720 10', '960x540 10']);
    expect(machine.run(60, 130_000)).to.deep.equal({ left: 0, steps: [] });
    expect(machine.run(60, 1000).steps.at(-1)).to.equal('1280x720 30');
  });

  it('a smaller profile is encoded as it is, where there is room for it, and the larger one as before', () => {
    const machine = new Machine();
    machine.run(60, 130_000);
    expect(machine.now).to.equal('960x540 10');
    const small = { width: 320, height: 180, fps: 5, bitrate_kbps: 150 };
    expect(machine.wants(small)).to.equal(true);
    expect(machine.now).to.equal('320x180 5');
    expect(machine.run(5, 130_000)).to.deep.equal({ left: 0, steps: [] });
    expect(machine.wants(HERO), 'how it goes is seen').to.equal(false);
    expect(machine.run(20, 130_000).steps.at(-1)).to.equal('960x540 10');
    expect(machine.wants({ ...HERO, width: 1920, height: 1080 })).to.equal(false);
    expect(machine.now).to.equal('1440x810 10');
  });

  it('a moment costs nothing but its own pictures', () => {
    const machine = new Machine();
    machine.run(5, 8000);
    expect(machine.run(0.5, 400_000).left).to.be.above(0);
    expect(machine.run(10, 8000).steps).to.deep.equal([]);
  });

  it('what was given back too early is tried more and more seldom', () => {
    const machine = new Machine();
    let ups = 0;
    for (let minute = 0; minute < 10; minute++) {
      // Room for a moment, as seen from below, and none above.
      for (let each = 0; each < 3; each++) {
        ups += machine.run(12, 13_000).steps.length;
        machine.run(8, 45_000);
      }
    }
    expect(ups).to.be.within(1, 20);
  });

  it('the pipeline says so, and encodes at that rate', async () => {
    const clock = systemVideoClock();
    const encoders = new Encoders({
      choice: 'libx264',
      open: async (name, profile) => {
        const encoder = await H264Encoder.open(name, profile);
        const encode = encoder.encode.bind(encoder);
        encoder.encode = async (...args) => {
          await new Promise((resolve) => setTimeout(resolve, 60));
          return encode(...args);
        };
        return encoder;
      },
    });
    const profile = { width: 320, height: 180, fps: 30, bitrate_kbps: 300 };
    const told = Promise.withResolvers<void>();
    const pipeline: Pipeline = new Pipeline({
      camera: { id: 'main', exclusive: false, open: async () => new TestSource(clock, profile) },
      encoders,
      profile,
      clock,
      log: createLogger('test', 'fatal'),
      onUnit: () => undefined,
      onPicture: () => undefined,
      onReceived: () => undefined,
      needed: () => true,
      onState: () => {
        if (pipeline.status().reduced !== null) told.resolve();
      },
      onStuck: (why) => told.reject(new Error(why)),
    });
    pipeline.start();
    await told.promise;
    const { profile: now, reduced, state } = pipeline.status();
    expect(state).to.equal('running');
    expect(reduced).to.match(/processor/);
    expect(now).to.include({ width: 320, height: 180 });
    expect(now?.fps).to.be.below(16);
    await pipeline.stop();
  });
});
