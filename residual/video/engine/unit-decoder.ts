import type { CodecContext, Frame } from 'node-av/lib';
import type { VideoCodec } from '../../../shared/rpc/video.ts';
import { av, cloneFrame, must } from './av.ts';
import { CODECS } from './codecs.ts';
import type { AccessUnit } from './picture.ts';

// More pictures than a decoder holds back.
const MAX_INSIDE = 16;

/** A picture and the unit that it came in. */
export interface Decoded<Unit> {
  /** For the caller to free. */
  readonly frame: Frame;
  readonly unit: Unit;
}

/** A decoder: access units in, pictures out. After a damaged unit the picture before it stays. */
export class UnitDecoder<Unit extends AccessUnit = AccessUnit> {
  /** Of the units that it takes. */
  readonly codec: VideoCodec;
  readonly #context: CodecContext;
  readonly #packet = new (av().Packet)();
  readonly #frame = new (av().Frame)();
  /** Units inside the decoder, by presentation time. */
  readonly #inside = new Map<bigint, Unit>();

  private constructor(codec: VideoCodec, context: CodecContext) {
    this.codec = codec;
    this.#context = context;
    this.#packet.alloc();
    this.#frame.alloc();
  }

  /** @throws Error if this build of FFmpeg has no such decoder */
  static async open<Unit extends AccessUnit = AccessUnit>(of: VideoCodec): Promise<UnitDecoder<Unit>> {
    const { id, name } = CODECS[of];
    const codec = av().Codec.findDecoder(id);
    if (codec === null) throw new Error(`this build of FFmpeg has no ${name} decoder`);
    const context = new (av().CodecContext)();
    context.allocContext3(codec);
    context.threadCount = 1; // more threads hold pictures back
    try {
      must(await context.open2(codec), 'decoder');
    } catch (error) {
      context.freeContext();
      throw error;
    }
    return new UnitDecoder<Unit>(of, context);
  }

  /** @param unit null at the end, for what is still inside. @returns the pictures that are ready */
  async decode(unit: Unit | null): Promise<Decoded<Unit>[]> {
    if (unit !== null) {
      const pts = BigInt(Math.round(unit.at));
      this.#packet.data = unit.data;
      this.#packet.pts = pts;
      this.#inside.set(pts, unit);
      for (const oldest of this.#inside.keys()) {
        if (this.#inside.size <= MAX_INSIDE) break;
        this.#inside.delete(oldest);
      }
    }
    await this.#context.sendPacket(unit === null ? null : this.#packet);
    this.#packet.unref();
    const pictures: Decoded<Unit>[] = [];
    while ((await this.#context.receiveFrame(this.#frame)) >= 0) {
      const from = this.#inside.get(this.#frame.pts);
      this.#inside.delete(this.#frame.pts);
      if (from !== undefined) pictures.push({ frame: cloneFrame(this.#frame), unit: from });
      this.#frame.unref();
    }
    return pictures;
  }

  close(): void {
    this.#packet.free();
    this.#frame.free();
    this.#context.freeContext();
  }
}
