import type { Frame } from 'node-av/lib';
import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Profile } from '../../../shared/rpc/video.ts';
import { cloneFrame } from './av.ts';
import { H264Encoder } from './encoder.ts';
import type { AccessUnit, Picture } from './picture.ts';
import { Scaler } from './scaler.ts';

/** Two sizes; below some rate the larger one is only noise. */
const LARGE = { width: 640, height: 360, fps: 15 } as const;
const SMALL = { width: 320, height: 180, fps: 10 } as const;
const LARGE_KBPS = { below: 280, above: 330 } as const;
/** The encoder's rate changes when the wish differs by more than this. */
const HYSTERESIS = 0.05;
/** A key frame on request only, and at last each minute; none is larger than what its path carries in this time. */
const SHAPE = { seconds: 60, bufferMs: 250 } as const;
const KEY_INTERVAL_US = 300_000;
const AGAIN_MS = 5000;

interface SmallEncodeOptions {
  readonly log: Logger;
  readonly onUnit: (unit: AccessUnit) => void;
  /** Steady, ms. */
  readonly now: () => number;
}

/** The second, small encode for viewers on thin paths. It works while one is wanted. */
export class SmallEncode {
  readonly #options: SmallEncodeOptions;
  readonly #scaler = new Scaler();
  #wantedKbps: number | null = null;
  #size: typeof LARGE | typeof SMALL = LARGE;
  #encoder: H264Encoder | null = null;
  #working: Promise<void> | null = null;
  #keyWanted = false;
  #keyAt = 0;
  #dueAt = 0;
  #failedAt = -Infinity;

  constructor(options: SmallEncodeOptions) {
    this.#options = options;
  }

  /** Its present settings; null while it rests. */
  get profile(): Profile | null {
    return this.#encoder?.profile ?? null;
  }

  /** @param kbps null to rest */
  want(kbps: number | null): void {
    this.#wantedKbps = kbps;
    if (kbps === null) {
      if (this.#working === null) this.#close();
    } else if (kbps < LARGE_KBPS.below) this.#size = SMALL;
    else if (kbps > LARGE_KBPS.above) this.#size = LARGE;
  }

  /** The next picture becomes a key frame. */
  requestKey(): void {
    this.#keyWanted = true;
  }

  /** Whether pictures are of use now. */
  get wanted(): boolean {
    return this.#wantedKbps !== null && this.#options.now() - this.#failedAt >= AGAIN_MS;
  }

  /** A raw picture, of the source or decoded; the caller keeps it. */
  offer({ frame, capturedAt, at }: Picture): void {
    if (!this.wanted || this.#working !== null || !this.#isDue(at)) return;
    this.#work(this.#encode({ frame: cloneFrame(frame), capturedAt, at }));
  }

  async stop(): Promise<void> {
    this.want(null);
    await this.#working;
  }

  #isDue(at: number): boolean {
    const period = 1e6 / this.#size.fps;
    if (at < this.#dueAt - period / 4) return false;
    this.#dueAt = Math.max(this.#dueAt + period, at + period / 2);
    return true;
  }

  /** One piece of work at a time; the end of the last one closes what is not wanted any more. */
  #work(work: Promise<void>): void {
    this.#working = work
      .catch((error: unknown) => {
        this.#failedAt = this.#options.now();
        this.#options.log.error(`video: the encode for thin paths: ${messageOf(error)}`);
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
      const encoder = await this.#encoderFor(this.#profileFor(frame));
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
    const shape = { gop: wanted.fps * SHAPE.seconds, bufferMs: SHAPE.bufferMs };
    // In software: the hardware may have room for one encode only.
    this.#encoder = await H264Encoder.open('libx264', wanted, shape);
    this.#options.log.info(
      `video: for thin paths ${wanted.width}x${wanted.height} ${wanted.fps} fps ${wanted.bitrate_kbps} kbit/s`,
    );
    return this.#encoder;
  }

  /** Within the size, in the picture's own shape, even as H.264 wants it. */
  #profileFor({ width, height }: Frame): Profile {
    const { width: maxWidth, height: maxHeight, fps } = this.#size;
    const scale = Math.min(1, maxWidth / width, maxHeight / height);
    const kbps = this.#wantedKbps ?? LARGE_KBPS.below;
    const present = this.#encoder?.profile.bitrate_kbps ?? 0;
    const near = Math.abs(kbps - present) <= present * HYSTERESIS;
    const even = (value: number): number => Math.max(2, Math.round((value * scale) / 2) * 2);
    return { width: even(width), height: even(height), fps, bitrate_kbps: near ? present : kbps };
  }

  #close(): void {
    this.#encoder?.close();
    this.#encoder = null;
    this.#scaler.close();
    this.#dueAt = 0;
  }
}
