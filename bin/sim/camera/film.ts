import type { Frame } from 'node-av/lib';
import { DEMO_SEED, makeLandscape } from '../../../shared/landscape/landscape.ts';
import { blankFrame } from '../../../shared/media/av.ts';
import { H264Encoder } from '../../../shared/media/encoder.ts';
import { Pace } from '../../../shared/media/pace.ts';
import { type AccessUnit, instant, type Size, type VideoClock } from '../../../shared/media/picture.ts';
import { Scaler } from '../../../shared/media/scaler.ts';
import type { Profile } from '../../../shared/rpc/video.ts';
import { paintLevels } from './landscape/ground-levels.ts';
import { LandscapePicture } from './landscape/landscape-picture.ts';
import type { Pose } from './landscape/view.ts';

/** Pixels that are drawn for a picture; a larger one is scaled up, which costs a fraction of drawing it. */
const DRAWN_PX = 800 * 450;
/** From one key frame to the next, and between two that somebody asks for. */
const KEY_US = { every: 1_000_000, asked: 200_000 } as const;
/** Of the pictures that were missed, so many are counted at once. */
const MOST_MISSED = 240;

/** Draws and encodes picture after picture, one at a time: where the processor cannot follow, fewer of them, then smaller ones. */
export class Film {
  readonly #clock: VideoClock;
  readonly #profile: Profile;
  readonly #scaler = new Scaler();
  readonly #pace = new Pace();
  readonly #onPace: (sentence: string) => void;
  /** Made once, when somebody listens first: it takes a second, and half a minute on the slowest boards. */
  #scene: Promise<(size: Size) => LandscapePicture> | null = null;
  #picture: { readonly size: Size; readonly picture: LandscapePicture } | null = null;
  #encoder: H264Encoder | null = null;
  #keyAt = -Infinity;
  #dueAt = 0;

  /** @param onPace told in words when the rate or the size changes */
  constructor(clock: VideoClock, profile: Profile, onPace: (sentence: string) => void) {
    this.#clock = clock;
    this.#profile = profile;
    this.#onPace = onPace;
  }

  /** Resolves when pictures can be drawn. */
  async ready(): Promise<void> {
    await this.#landscape();
  }

  /** Microseconds until the next picture is due; what was missed is not made up for. */
  get wait(): number {
    return Math.max(0, this.#dueAt - this.#clock.micros());
  }

  /** The picture that is due now. @param key it is wanted as a key frame. @throws Error if the encoder fails; `rest` mends that */
  async next(pose: Pose, key: boolean): Promise<readonly AccessUnit[]> {
    const now = instant(this.#clock);
    this.#count(now.at);
    const isKey = now.at - this.#keyAt >= (key ? KEY_US.asked : KEY_US.every);
    const units = await this.#make(pose, now, isKey);
    if (units.some((unit) => unit.key)) this.#keyAt = now.at;
    this.#pace.encoded(this.#clock.micros() - now.at);
    return units;
  }

  /** Nobody listens: gives back what the next one opens anew. */
  rest(): void {
    this.#encoder?.close();
    this.#encoder = null;
    this.#scaler.close();
    this.#dueAt = 0;
    this.#keyAt = -Infinity;
  }

  async #landscape(): Promise<(size: Size) => LandscapePicture> {
    this.#scene ??= (async () => {
      const land = makeLandscape(DEMO_SEED);
      const levels = await paintLevels(land, DEMO_SEED);
      return ({ width, height }) => new LandscapePicture(land, levels, width, height);
    })();
    return this.#scene;
  }

  /** Tells the pace of this picture and of those that were due before it. */
  #count(at: number): void {
    const { fps } = this.#profile;
    const period = 1e6 / (fps * this.#pace.rate);
    const isFirst = this.#dueAt === 0;
    // A timer may wake a little early.
    const late = isFirst ? 0 : Math.max(0, at - this.#dueAt);
    const missed = Math.floor(late / period);
    let changed = false;
    for (let count = 0; count < Math.min(missed, MOST_MISSED); count++)
      changed = this.#pace.due(at, true, fps) || changed;
    changed = this.#pace.due(at, false, fps) || changed;
    this.#dueAt = (isFirst ? at : this.#dueAt + missed * period) + period;
    if (!changed) return;
    const { width, height, fps: rate } = this.#pace.applied(this.#profile);
    this.#onPace(
      `${width}x${height} ${rate} fps${this.#pace.reduced ? ': the processor cannot do more' : ''}`,
    );
  }

  async #make(
    pose: Pose,
    times: { readonly capturedAt: number; readonly at: number },
    key: boolean,
  ): Promise<readonly AccessUnit[]> {
    const { width, height } = this.#pace.applied(this.#profile);
    const drawn = this.#pace.applied({ ...this.#profile, ...drawnSize(this.#profile) });
    const draw = await this.#landscape();
    if (this.#picture?.size.width !== drawn.width || this.#picture.size.height !== drawn.height)
      this.#picture = { size: drawn, picture: draw(drawn) };
    using small = blankFrame(drawn);
    drawOn(small, this.#picture.picture, pose);
    const encoder = await this.#encoderFor(width, height);
    const whole = await this.#scaler.scale(small, width, height, encoder.format);
    try {
      return await encoder.encode(whole, times, key);
    } finally {
      if (whole !== small) whole.free();
    }
  }

  async #encoderFor(width: number, height: number): Promise<H264Encoder> {
    // It is told the profile's rate also where fewer pictures come: each then has its part of the bit rate, and no more.
    const profile = { ...this.#profile, width, height };
    if (this.#encoder?.adapt(profile) === true) return this.#encoder;
    this.#encoder?.close();
    this.#encoder = null;
    // Its key frames come by time, so that a slow machine has as many.
    this.#encoder = await H264Encoder.open('libx264', profile, { gop: 2 * profile.fps, bufferMs: 500 });
    return this.#encoder;
  }
}

function drawOn(frame: Frame, picture: LandscapePicture, pose: Pose): void {
  const [y, u, v] = frame.data ?? [];
  if (y === undefined || u === undefined || v === undefined) throw new Error('no memory for a picture');
  const [strideY = 0, strideU = 0, strideV = 0] = frame.linesize;
  picture.draw({ y, u, v, strides: [strideY, strideU, strideV] }, pose);
}

/** Of the same shape, its sides even. */
export function drawnSize({ width, height }: Size): Size {
  const share = Math.min(1, Math.sqrt(DRAWN_PX / (width * height)));
  const even = (side: number): number => Math.max(2, 2 * Math.round((side * share) / 2));
  return { width: even(width), height: even(height) };
}
