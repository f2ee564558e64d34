import {
  AV_PICTURE_TYPE_I,
  AV_PICTURE_TYPE_NONE,
  AV_PIX_FMT_YUV420P,
  FF_ENCODER_LIBX265,
} from 'node-av/constants';
import { Codec, CodecContext, Dictionary, type Frame, Packet, Rational } from 'node-av/lib';
import type { AccessUnit } from '../../shared/media/picture.ts';
import type { Profile } from '../../shared/rpc/video.ts';

/** H.265 as a camera sends it, by libx265, which is no part of the product. */
export class H265Encoder {
  readonly #context: CodecContext;
  readonly #packet = new Packet();

  private constructor(context: CodecContext) {
    this.#context = context;
    this.#packet.alloc();
  }

  static async open({ width, height, fps, bitrate_kbps: kbps }: Profile): Promise<H265Encoder> {
    const codec = Codec.findEncoderByName(FF_ENCODER_LIBX265);
    if (codec === null) throw new Error('libx265 is not in this build of FFmpeg');
    const context = new CodecContext();
    context.allocContext3(codec);
    context.width = width;
    context.height = height;
    context.pixelFormat = AV_PIX_FMT_YUV420P;
    context.timeBase = new Rational(1, 1_000_000);
    context.framerate = new Rational(fps, 1);
    context.gopSize = fps;
    context.maxBFrames = 0;
    context.bitRate = BigInt(kbps * 1000);
    const options = Dictionary.fromObject({
      preset: 'ultrafast',
      tune: 'zerolatency',
      'forced-idr': 1,
      'x265-params': `log-level=none:repeat-headers=1:annexb=1:pools=1:frame-threads=1:keyint=${fps}`,
    });
    const code = await context.open2(codec, options);
    if (code < 0) throw new Error(`libx265: ${code}`);
    return new H265Encoder(context);
  }

  async encode(
    frame: Frame,
    { capturedAt, at }: Pick<AccessUnit, 'capturedAt' | 'at'>,
    key: boolean,
  ): Promise<AccessUnit[]> {
    frame.pts = BigInt(Math.round(at));
    frame.pictType = key ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE;
    await this.#context.sendFrame(frame);
    const units: AccessUnit[] = [];
    while ((await this.#context.receivePacket(this.#packet)) >= 0) {
      const { data, isKeyframe } = this.#packet;
      if (data !== null)
        units.push({ codec: 'h265', data: Buffer.from(data), key: isKeyframe, capturedAt, at });
      this.#packet.unref();
    }
    return units;
  }

  close(): void {
    this.#packet.free();
    this.#context.freeContext();
  }
}
