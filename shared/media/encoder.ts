import {
  AV_PICTURE_TYPE_I,
  AV_PICTURE_TYPE_NONE,
  AV_PIX_FMT_NV12,
  AV_PIX_FMT_YUV420P,
  type AVPixelFormat,
} from 'node-av/constants';
import type { Codec, CodecContext, Frame } from 'node-av/lib';
import type { Profile } from '../rpc/video.ts';
import { av, dictionary, isDrained, microseconds, must } from './av.ts';
import { KeptSets } from './kept-sets.ts';
import type { AccessUnit, Picture } from './picture.ts';

/** The H.264 encoder: constrained baseline without B frames, everything a decoder needs in front of each key frame. */

/** As `video.encoder` in the config. */
export type EncoderChoice = 'auto' | 'libx264' | 'h264_v4l2m2m' | 'h264_nvenc' | 'h264_qsv';

const X264 = {
  preset: 'ultrafast',
  tune: 'zerolatency',
  profile: 'baseline',
  'forced-idr': 1,
  'x264-params': 'repeat-headers=1:annexb=1:scenecut=0',
} as const;
/** How the encode is cut up. */
export interface Shape {
  /** Pictures from one regular key frame to the next. */
  readonly gop: number;
  /** What a burst may hold, in the time that it takes at the profile's rate. */
  readonly bufferMs: number;
}

// More pictures than our encoders buffer; beyond it they count as lost.
const MAX_INSIDE = 16;

interface Times {
  readonly capturedAt: number;
  readonly at: number;
}

export class H264Encoder {
  readonly name: string;
  #profile: Profile;
  readonly #bufferMs: number;
  readonly #context: CodecContext;
  readonly #packet = new (av().Packet)();
  /** Pictures inside the encoder, by presentation time. */
  readonly #inside = new Map<bigint, Times>();
  /** Hardware encoders say SPS and PPS only once. */
  readonly #sets = new KeptSets();

  private constructor(name: string, profile: Profile, { bufferMs }: Shape, context: CodecContext) {
    this.name = name;
    this.#profile = profile;
    this.#bufferMs = bufferMs;
    this.#context = context;
    this.#packet.alloc();
    if (context.extraData !== null) this.#sets.learn('h264', context.extraData);
  }

  /**
   * @param name FFmpeg's. @throws Error with the reason if it does not open
   * @param shape without it a key frame a second, and bursts of half a second: a larger one would fill the radio's queue
   */
  static async open(
    name: string,
    profile: Profile,
    shape: Shape = { gop: profile.fps, bufferMs: 500 },
  ): Promise<H264Encoder> {
    const codec = av().Codec.findEncoderByName(name as Parameters<typeof Codec.findEncoderByName>[0]);
    if (codec === null) throw new Error(`${name} is not in this build of FFmpeg`);
    const context = new (av().CodecContext)();
    context.allocContext3(codec);
    try {
      context.width = profile.width;
      context.height = profile.height;
      context.pixelFormat = formatOf(codec);
      context.timeBase = microseconds();
      context.framerate = new (av().Rational)(profile.fps, 1);
      context.gopSize = shape.gop;
      context.maxBFrames = 0;
      setRate(context, profile.bitrate_kbps, shape.bufferMs);
      must(await context.open2(codec, name === 'libx264' ? dictionary(X264) : null), name);
    } catch (error) {
      context.freeContext();
      throw error;
    }
    return new H264Encoder(name, profile, shape, context);
  }

  get profile(): Profile {
    return this.#profile;
  }

  /** Of the pictures that it takes, YUV 4:2:0. */
  get format(): AVPixelFormat {
    return this.#context.pixelFormat;
  }

  /** Applies the settings that can change without a new stream. @returns false if a new encoder is needed */
  adapt(profile: Profile): boolean {
    const { width, height, fps } = this.#profile;
    if (profile.width !== width || profile.height !== height || profile.fps !== fps) return false;
    if (profile.bitrate_kbps !== this.#profile.bitrate_kbps) {
      if (this.name !== 'libx264') return false;
      setRate(this.#context, profile.bitrate_kbps, this.#bufferMs);
    }
    this.#profile = profile;
    return true;
  }

  /** @param frame of its `format` and the profile's size. @throws Error if the encoder fails; it must not be used afterwards */
  async encode(
    frame: Frame,
    { capturedAt, at }: Omit<Picture, 'frame'>,
    key: boolean,
  ): Promise<AccessUnit[]> {
    frame.pts = BigInt(Math.round(at));
    frame.pictType = key ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE;
    this.#inside.set(frame.pts, { capturedAt, at });
    if (this.#inside.size > MAX_INSIDE)
      throw new Error(`${this.name} took ${MAX_INSIDE} pictures and gave none back`);
    must(await this.#context.sendFrame(frame), this.name);
    const units: AccessUnit[] = [];
    for (;;) {
      const code = await this.#context.receivePacket(this.#packet);
      if (isDrained(code)) return units;
      must(code, this.name);
      const unit = this.#unit();
      if (unit !== null) units.push(unit);
    }
  }

  close(): void {
    this.#packet.free();
    this.#context.freeContext();
  }

  #unit(): AccessUnit | null {
    const { pts, isKeyframe: key, data } = this.#packet;
    const times = this.#inside.get(pts);
    this.#inside.delete(pts);
    const bytes = data === null ? null : Buffer.from(data); // the packet's own memory goes with it
    this.#packet.unref();
    if (bytes === null || times === undefined) return null;
    return { codec: 'h264', data: this.#sets.complete('h264', bytes, key), key, ...times };
  }
}

/** h264_qsv takes only colours that are interleaved. */
function formatOf({ pixelFormats }: Codec): AVPixelFormat {
  const isPlanar = pixelFormats === null || pixelFormats.includes(AV_PIX_FMT_YUV420P);
  return isPlanar ? AV_PIX_FMT_YUV420P : AV_PIX_FMT_NV12;
}

function setRate(context: CodecContext, kbps: number, bufferMs: number): void {
  context.bitRate = BigInt(kbps * 1000);
  context.rcMaxRate = BigInt(kbps * 1000);
  context.rcBufferSize = kbps * bufferMs;
}
