import {
  AV_CODEC_FLAG_LOW_DELAY,
  AV_CODEC_ID_HEVC,
  AV_CODEC_ID_MJPEG,
  AV_CODEC_ID_RAWVIDEO,
  type AVCodecID,
  AVERROR_HTTP_FORBIDDEN,
  AVERROR_HTTP_NOT_FOUND,
  AVERROR_HTTP_UNAUTHORIZED,
  AVMEDIA_TYPE_VIDEO,
} from 'node-av/constants';
import type { FormatContext, Stream } from 'node-av/lib';
import { AVERROR_EAGAIN, av, averrorOf, dictionary, inWords, isDrained, must } from '../engine/av.ts';
import { KeptSets } from '../engine/kept-sets.ts';
import { instant, type VideoClock } from '../engine/picture.ts';
import type { SourceSink, VideoSource } from './source.ts';

type Options = Readonly<Record<string, string | number>>;

/** A camera that FFmpeg opens: V4L2, RTSP, or one of an extension. */
interface AvInput {
  /** Name for people, without a password. */
  readonly name: string;
  readonly url: string;
  /** FFmpeg's name of the input format; null: detect it. */
  readonly format: string | null;
  readonly options: Options;
  /** Tried where the camera does not play with those. */
  readonly otherwise?: Options;
  /** H.265 is passed on as it comes, instead of decoded. */
  readonly passes265?: boolean;
}

/** Each picture stands by itself, so that those that nobody needs can be left out. */
const SINGLE: readonly AVCodecID[] = [AV_CODEC_ID_MJPEG, AV_CODEC_ID_RAWVIDEO];
// More errors than damaged H.264 can cause: the camera sends another format.
const MAX_BAD_PACKETS = 300;

/** In these cases it is not about the options. */
const ELSEWISE: readonly number[] = [
  AVERROR_HTTP_UNAUTHORIZED,
  AVERROR_HTTP_FORBIDDEN,
  AVERROR_HTTP_NOT_FOUND,
  averrorOf('ECONNREFUSED'),
  averrorOf('EHOSTUNREACH'),
  averrorOf('ENETUNREACH'),
  averrorOf('ETIMEDOUT'),
  averrorOf('EIO'), // a name that is not found
];

/** It may play with other options. */
class NotPlayed extends Error {}

export class AvSource implements VideoSource {
  readonly #input: AvInput;
  readonly #clock: VideoClock;

  constructor(clock: VideoClock, input: AvInput) {
    this.#clock = clock;
    this.#input = input;
  }

  get name(): string {
    return this.#input.name;
  }

  async run(sink: SourceSink, signal: AbortSignal): Promise<void> {
    const { options, otherwise } = this.#input;
    try {
      await this.#play(options, sink, signal);
    } catch (error) {
      if (otherwise === undefined || !(error instanceof NotPlayed)) throw error;
      await this.#play(otherwise, sink, signal);
    }
  }

  async #play(options: Options, sink: SourceSink, signal: AbortSignal): Promise<void> {
    const { url, format } = this.#input;
    const context = new (av().FormatContext)();
    context.allocContext();
    // FFmpeg's reads block: this wakes them.
    const interrupt = (): void => context.interrupt();
    signal.addEventListener('abort', interrupt, { once: true });
    let opened = false;
    try {
      const forced = format === null ? null : av().InputFormat.findInputFormat(format);
      const code = await context.openInput(url, forced, dictionary(options));
      if (code < 0 && !ELSEWISE.includes(code)) throw new NotPlayed(inWords(code, 'open'));
      must(code, 'open');
      opened = true;
      const found = await context.findStreamInfo();
      if (found < 0) throw new NotPlayed(inWords(found, 'stream'));
      const index = must(context.findBestStream(AVMEDIA_TYPE_VIDEO), 'it has no picture');
      const stream = context.streams[index];
      if (stream === undefined) throw new Error('it has no picture');
      const { passes265 = false } = this.#input;
      if (passes265 && stream.codecpar.codecId === AV_CODEC_ID_HEVC)
        await this.#pass(context, stream, sink, signal);
      else await this.#decode(context, stream, sink, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      signal.removeEventListener('abort', interrupt);
      if (opened) await context.closeInput();
    }
  }

  async #pass(context: FormatContext, stream: Stream, sink: SourceSink, signal: AbortSignal): Promise<void> {
    const { extradata } = stream.codecpar;
    const sets = new KeptSets();
    if (extradata !== null) sets.learn('h265', extradata);
    const packet = new (av().Packet)();
    packet.alloc();
    try {
      while (!signal.aborted) {
        const read = await context.readFrame(packet);
        if (read === AVERROR_EAGAIN) continue;
        must(read, 'read');
        const { data, isKeyframe: key, streamIndex } = packet;
        const bytes = data === null || streamIndex !== stream.index ? null : Buffer.from(data); // the packet's own memory goes with it
        packet.unref();
        if (bytes === null) continue;
        sink.onUnit({
          codec: 'h265',
          data: sets.complete('h265', bytes, key),
          key,
          ...instant(this.#clock),
        });
      }
    } finally {
      packet.free();
    }
  }

  async #decode(
    context: FormatContext,
    stream: Stream,
    sink: SourceSink,
    signal: AbortSignal,
  ): Promise<void> {
    const codec = av().Codec.findDecoder(stream.codecpar.codecId);
    if (codec === null) throw new Error('no decoder for its format');
    const decoder = new (av().CodecContext)();
    decoder.allocContext3(codec);
    const packet = new (av().Packet)();
    const frame = new (av().Frame)();
    packet.alloc();
    frame.alloc();
    const single = SINGLE.includes(stream.codecpar.codecId);
    let bad = 0;
    try {
      must(decoder.parametersToContext(stream.codecpar), 'decoder');
      decoder.setFlags(AV_CODEC_FLAG_LOW_DELAY);
      decoder.threadCount = 1; // threads would hold back one picture each
      must(await decoder.open2(codec), 'decoder');
      while (!signal.aborted) {
        const read = await context.readFrame(packet);
        if (read === AVERROR_EAGAIN) continue;
        must(read, 'read');
        try {
          if (packet.streamIndex !== stream.index) continue;
          const { capturedAt, at } = instant(this.#clock);
          if (single ? !sink.wants(at) : sink.keysOnly && !packet.isKeyframe) continue;
          const sent = await decoder.sendPacket(packet);
          // Damaged by packet loss: the next key frame repairs it.
          bad = sent < 0 && !isDrained(sent) ? bad + 1 : 0;
          if (bad > MAX_BAD_PACKETS) must(sent, 'decode');
          while ((await decoder.receiveFrame(frame)) >= 0) {
            sink.onPicture({ frame, capturedAt, at });
            frame.unref();
          }
        } finally {
          packet.unref();
        }
      }
    } finally {
      packet.free();
      frame.free();
      decoder.freeContext();
    }
  }
}
