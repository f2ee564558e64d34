import { AV_PKT_FLAG_KEY, AVMEDIA_TYPE_VIDEO } from 'node-av/constants';
import type { FormatContext, IOContext, Stream } from 'node-av/lib';
import { av, dictionary, microseconds, must } from '../../../shared/media/av.ts';
import type { AccessUnit } from '../../../shared/media/picture.ts';
import type { VideoCodec } from '../../../shared/rpc/video.ts';
import { CODECS } from '../engine/codecs.ts';

/** A TS packet; receivers expect seven in a datagram, which fit an Ethernet frame. */
export const TS_BYTES = 188;
const DATAGRAM_BYTES = 7 * TS_BYTES;
// Longer than a tick of the 90 kHz clock, in which two pictures may not have the same time.
const MIN_STEP_US = 100;
// A picture goes out when it comes, not when the next one fills the datagram.
const OPTIONS = { flush_packets: 1 } as const;

/** Encoded pictures as MPEG-TS, in pieces of whole TS packets. Calls may not overlap. */
export class TsMuxer {
  /** Of the pictures that it takes. */
  readonly codec: VideoCodec;
  readonly #context: FormatContext;
  readonly #io: IOContext;
  readonly #stream: Stream;
  readonly #packet = new (av().Packet)();
  #last = -Infinity;

  private constructor(codec: VideoCodec, context: FormatContext, io: IOContext, stream: Stream) {
    this.codec = codec;
    this.#context = context;
    this.#io = io;
    this.#stream = stream;
    this.#packet.alloc();
  }

  /** @param onPiece gets what belongs in one datagram. @throws Error with FFmpeg's reason */
  static async open(codec: VideoCodec, onPiece: (piece: Buffer) => void): Promise<TsMuxer> {
    const io = new (av().IOContext)();
    // FFmpeg's own buffer: it calls back whenever seven packets are in it, and at the end of each picture.
    io.allocContextWithCallbacks(DATAGRAM_BYTES, 1, null, (bytes) => {
      onPiece(Buffer.from(bytes)); // the memory is FFmpeg's
      return bytes.length;
    });
    const context = new (av().FormatContext)();
    try {
      must(context.allocOutputContext2(null, 'mpegts', null), 'mpegts');
      context.pb = io;
      const stream = context.newStream();
      stream.codecpar.codecType = AVMEDIA_TYPE_VIDEO;
      stream.codecpar.codecId = CODECS[codec].id;
      stream.timeBase = microseconds();
      must(await context.writeHeader(dictionary(OPTIONS)), 'mpegts');
      return new TsMuxer(codec, context, io, stream);
    } catch (error) {
      free(context, io);
      throw error;
    }
  }

  /** @throws Error with FFmpeg's reason; close it then */
  async write(unit: AccessUnit): Promise<void> {
    const at = Math.max(this.#last + MIN_STEP_US, Math.round(unit.at));
    this.#last = at;
    const packet = this.#packet;
    packet.data = unit.data;
    packet.streamIndex = this.#stream.index;
    packet.pts = BigInt(at);
    packet.dts = packet.pts;
    if (unit.key) packet.setFlags(AV_PKT_FLAG_KEY);
    packet.rescaleTs(microseconds(), this.#stream.timeBase);
    try {
      must(await this.#context.writeFrame(packet), 'mpegts');
    } finally {
      packet.unref();
    }
  }

  close(): void {
    this.#packet.free();
    free(this.#context, this.#io);
  }
}

/** Apart from each other first: the one would free the other as well, and the process would end. */
function free(context: FormatContext, io: IOContext): void {
  context.pb = null;
  context.freeContext();
  io.freeContext();
}
