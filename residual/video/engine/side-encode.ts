import { messageOf } from '../../../shared/errors.ts';
import { cloneFrame } from '../../../shared/media/av.ts';
import { H264Encoder, type Shape } from '../../../shared/media/encoder.ts';
import type { AccessUnit, Picture, Size } from '../../../shared/media/picture.ts';
import { Scaler } from '../../../shared/media/scaler.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Profile } from '../../../shared/rpc/video.ts';

const KEY_INTERVAL_US = 300_000;
const AGAIN_MS = 5000;

interface SideEncodeOptions {
  /** What it is, for the log: `for thin paths`. */
  readonly what: string;
  /** Whether somebody wants its pictures. */
  readonly wanted: () => boolean;
  /** The settings for pictures of this size. @param present those of the encoder that runs */
  readonly profileFor: (size: Size, present: Profile | null) => Profile;
  /** Pictures a second. */
  readonly fps: () => number;
  /** How the encode is cut up; as of `H264Encoder.open`. */
  readonly shape?: (profile: Profile) => Shape;
  readonly onUnit: (unit: AccessUnit) => void;
  /** Steady, ms. */
  readonly now: () => number;
  readonly log: Logger;
}

/** An encode beside the main one, for some of those who watch. It works while one of them wants it. */
export class SideEncode {
  readonly #options: SideEncodeOptions;
  readonly #scaler = new Scaler();
  #encoder: H264Encoder | null = null;
  #working: Promise<void> | null = null;
  #keyWanted = false;
  #keyAt = 0;
  #dueAt = 0;
  #failedAt = -Infinity;

  constructor(options: SideEncodeOptions) {
    this.#options = options;
  }

  /** Its present settings; null while it rests. */
  get profile(): Profile | null {
    return this.#encoder?.profile ?? null;
  }

  /** The next picture becomes a key frame. */
  requestKey(): void {
    this.#keyWanted = true;
  }

  /** Whether pictures are of use now. */
  get wanted(): boolean {
    return this.#options.wanted() && this.#options.now() - this.#failedAt >= AGAIN_MS;
  }

  /** A raw picture, of the source or decoded; the caller keeps it. */
  offer({ frame, capturedAt, at }: Picture): void {
    if (!this.wanted || this.#working !== null || !this.#isDue(at)) return;
    this.#work(this.#encode({ frame: cloneFrame(frame), capturedAt, at }));
  }

  /** Gives up its encoder, unless somebody wants it. */
  rest(): void {
    if (this.#working === null && !this.#options.wanted()) this.#close();
  }

  /** Nobody may want it any more. */
  async stop(): Promise<void> {
    await this.#working;
    this.#close();
  }

  #isDue(at: number): boolean {
    const period = 1e6 / this.#options.fps();
    if (at < this.#dueAt - period / 4) return false;
    this.#dueAt = Math.max(this.#dueAt + period, at + period / 2);
    return true;
  }

  /** One piece of work at a time; the end of the last one closes what is not wanted any more. */
  #work(work: Promise<void>): void {
    const { what, log, now } = this.#options;
    this.#working = work
      .catch((error: unknown) => {
        this.#failedAt = now();
        log.error(`video: the encode ${what}: ${messageOf(error)}`);
      })
      .finally(() => {
        this.#working = null;
        if (!this.wanted) this.#close();
      });
  }

  /** Frees the picture. */
  async #encode({ frame, capturedAt, at }: Picture): Promise<void> {
    let scaled = frame;
    try {
      const encoder = await this.#encoderFor(this.#options.profileFor(frame, this.profile));
      const { width, height } = encoder.profile;
      scaled = await this.#scaler.scale(frame, width, height);
      const key = this.#keyWanted && at - this.#keyAt > KEY_INTERVAL_US;
      if (key) {
        this.#keyWanted = false;
        this.#keyAt = at;
      }
      for (const unit of await encoder.encode(scaled, { capturedAt, at }, key)) this.#options.onUnit(unit);
    } finally {
      if (scaled !== frame) scaled.free();
      frame.free();
    }
  }

  async #encoderFor(wanted: Profile): Promise<H264Encoder> {
    if (this.#encoder?.adapt(wanted) === true) return this.#encoder;
    this.#encoder?.close();
    this.#encoder = null;
    const { what, log, shape } = this.#options;
    // In software: the hardware may have room for one encode only, and nobody here sees when it hangs.
    this.#encoder = await H264Encoder.open('libx264', wanted, shape?.(wanted));
    log.info(
      `video: ${what} ${this.#encoder.name} ${wanted.width}x${wanted.height} ${wanted.fps} fps ${wanted.bitrate_kbps} kbit/s`,
    );
    return this.#encoder;
  }

  #close(): void {
    this.#encoder?.close();
    this.#encoder = null;
    this.#scaler.close();
    this.#dueAt = 0;
  }
}

/** The largest size within `most`, in the picture's own shape, never larger than it, even as H.264 wants it. */
export function fitWithin({ width, height }: Size, most: Size): Size {
  const scale = Math.min(1, most.width / width, most.height / height);
  const even = (value: number): number => Math.max(2, Math.round((value * scale) / 2) * 2);
  return { width: even(width), height: even(height) };
}
