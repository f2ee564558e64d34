import { AV_CODEC_FLAG_LOW_DELAY, type AVCodecID } from 'node-av/constants';
import type { CodecContext, Frame, Packet } from 'node-av/lib';
import { av, dictionary, isDrained, must } from '../../../shared/media/av.ts';

// In a row, more than a loss can damage: the camera sends another format.
const MAX_DAMAGED = 300;

/** FFmpeg's decoder, in this process: that of a decoder's own, or svc-video for a camera that is plugged in here. */
export class PacketDecoder {
  readonly #context: CodecContext;
  readonly #frame = new (av().Frame)();
  #damaged = 0;

  private constructor(context: CodecContext) {
    this.#context = context;
    this.#frame.alloc();
  }

  /**
   * @param prepare sets what the stream says of itself
   * @param maxPixels larger pictures are damaged ones; else what FFmpeg can
   * @throws Error if this build of FFmpeg has no such decoder
   */
  static async open(
    id: AVCodecID,
    prepare: (context: CodecContext) => void,
    maxPixels?: number,
  ): Promise<PacketDecoder> {
    const codec = av().Codec.findDecoder(id);
    if (codec === null) throw new Error('no decoder for its format');
    const context = new (av().CodecContext)();
    context.allocContext3(codec);
    try {
      prepare(context);
      context.setFlags(AV_CODEC_FLAG_LOW_DELAY);
      context.threadCount = 1; // more threads hold pictures back
      must(
        await context.open2(codec, maxPixels === undefined ? null : dictionary({ max_pixels: maxPixels })),
        'decoder',
      );
    } catch (error) {
      context.freeContext();
      throw error;
    }
    return new PacketDecoder(context);
  }

  /**
   * @param packet null at the end, for what is still inside
   * @param onFrame called with each picture that is ready; it may use it until it returns, or has resolved
   * @throws Error if it has made nothing of hundreds of packets; of one that a loss has damaged it makes what it can
   */
  async decode(packet: Packet | null, onFrame: (frame: Frame) => Promise<void> | void): Promise<void> {
    const sent = await this.#context.sendPacket(packet);
    while ((await this.#context.receiveFrame(this.#frame)) >= 0) {
      try {
        await onFrame(this.#frame);
      } finally {
        this.#frame.unref();
      }
    }
    this.#damaged = sent < 0 && !isDrained(sent) ? this.#damaged + 1 : 0;
    if (this.#damaged > MAX_DAMAGED) must(sent, 'decode');
  }

  close(): void {
    this.#frame.free();
    this.#context.freeContext();
  }
}
