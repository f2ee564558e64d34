import type { Frame } from 'node-av/lib';
import { deferred } from '../../../shared/async/deferred.ts';
import { DEMO_SEED, type Landscape, makeLandscape } from '../../../shared/landscape/landscape.ts';
import { blankFrame } from '../engine/av.ts';
import { instant, type Size, type VideoClock } from '../engine/picture.ts';
import { Scaler } from '../engine/scaler.ts';
import { type GroundLevels, paintLevels } from '../landscape/ground-levels.ts';
import { LandscapePicture } from '../landscape/landscape-picture.ts';
import { VehiclePose } from '../landscape/vehicle-pose.ts';
import { atRate } from './at-rate.ts';
import type { SourceSink, VideoSource } from './source.ts';

/** Pixels that are drawn for a picture; a larger one is scaled up, which costs a fraction of drawing it. */
const DRAWN_PX = 800 * 450;

/** Made once, when it is first shown: it takes a second, and all cameras and attempts see the same. */
let made: Promise<{ readonly land: Landscape; readonly levels: GroundLevels }> | null = null;

function scene(): NonNullable<typeof made> {
  made ??= (async () => {
    const land = makeLandscape(DEMO_SEED);
    return { land, levels: await paintLevels(land, DEMO_SEED) };
  })();
  return made;
}

/** A made-up landscape as the vehicle's camera sees it: it follows the position, height and attitude that svc-link tells. */
export class LandscapeSource implements VideoSource {
  readonly name = 'landscape';
  /** Until the ground is painted: a second, and half a minute on the slowest boards. */
  preparing = true;
  readonly #clock: VideoClock;
  readonly #size: Size & { readonly fps: number };
  readonly #linkSocket: string;

  /** @param linkSocket path of `link.sock` */
  constructor(clock: VideoClock, size: Size & { readonly fps: number }, linkSocket: string) {
    this.#clock = clock;
    this.#size = size;
    this.#linkSocket = linkSocket;
  }

  async run(sink: SourceSink, signal: AbortSignal): Promise<void> {
    const { width, height, fps } = this.#size;
    const drawn = drawnSize(this.#size);
    const pose = new VehiclePose(this.#linkSocket, () => this.#clock.micros() / 1e6);
    const scaler = new Scaler();
    pose.start();
    try {
      // On a slow processor it takes longer than a camera may take to end: it is there for the next attempt.
      const { land, levels } = await unlessAborted(scene(), signal);
      this.preparing = false;
      const picture = new LandscapePicture(land, levels, drawn.width, drawn.height);
      await atRate(this.#clock, fps, signal, async () => {
        const now = instant(this.#clock);
        if (!sink.wants(now.at)) return;
        using small = blankFrame(drawn);
        draw(picture, small, pose);
        const whole = await scaler.scale(small, width, height);
        try {
          sink.onPicture({ frame: whole, ...now });
        } finally {
          if (whole !== small) whole.free();
        }
      });
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      scaler.close();
      pose.stop();
    }
  }
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = deferred<never>();
  const stop = (): void => reject(new Error('aborted'));
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function draw(picture: LandscapePicture, frame: Frame, pose: VehiclePose): void {
  const [y, u, v] = frame.data ?? [];
  if (y === undefined || u === undefined || v === undefined) throw new Error('no memory for a picture');
  const [strideY = 0, strideU = 0, strideV = 0] = frame.linesize;
  picture.draw({ y, u, v, strides: [strideY, strideU, strideV] }, pose.read());
}

/** Of the same shape, its sides even. */
export function drawnSize({ width, height }: Size): Size {
  const share = Math.min(1, Math.sqrt(DRAWN_PX / (width * height)));
  const even = (side: number): number => Math.max(2, 2 * Math.round((side * share) / 2));
  return { width: even(width), height: even(height) };
}
