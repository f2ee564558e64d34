import {
  AV_CODEC_ID_HEVC,
  AV_CODEC_ID_MJPEG,
  AV_CODEC_ID_RAWVIDEO,
  type AVCodecID,
  AVERROR_HTTP_FORBIDDEN,
  AVERROR_HTTP_NOT_FOUND,
  AVERROR_HTTP_UNAUTHORIZED,
  AVMEDIA_TYPE_VIDEO,
} from 'node-av/constants';
import type { FormatContext, Frame, Packet, Stream } from 'node-av/lib';
import { AVERROR_EAGAIN, av, averrorOf, dictionary, inWords, must } from '../../../shared/media/av.ts';
import { KeptSets } from '../../../shared/media/kept-sets.ts';
import { instant, type VideoClock } from '../../../shared/media/picture.ts';
import { DecoderProcess } from '../decoder/decoder-process.ts';
import { PacketDecoder } from '../engine/packet-decoder.ts';
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
  /** It is plugged in here, so no stranger: its pictures are decoded in this process, which saves another and two copies of each. */
  readonly local?: boolean;
}

/** Pictures out of packets. */
interface Decoder {
  /** @param onFrame called with each picture that is ready; it may use it until it returns. @throws Error when it cannot go on */
  readonly decode: (packet: Packet, at: number, onFrame: (frame: Frame) => void) => Promise<void>;
  readonly close: () => void;
}

/** Each picture stands by itself, so that those that nobody needs can be left out. */
const SINGLE: readonly AVCodecID[] = [AV_CODEC_ID_MJPEG, AV_CODEC_ID_RAWVIDEO];

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
  #decoding = false;

  constructor(clock: VideoClock, input: AvInput) {
    this.#clock = clock;
    this.#input = input;
  }

  get name(): string {
    return this.#input.name;
  }

  get hindrance(): string | null {
    return this.#decoding ? 'the decoder does not answer' : null;
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
    const { url, format, passes265 = false, local = false } = this.#input;
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
      // It decodes: of what strangers send, what the description of the stream says has to do.
      if (local) must(await context.findStreamInfo(), 'stream');
      const index = must(context.findBestStream(AVMEDIA_TYPE_VIDEO), 'it has no picture');
      const stream = context.streams[index];
      if (stream === undefined) throw new Error('it has no picture');
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
    await this.#read(context, stream, signal, ({ data, isKeyframe: key }) => {
      if (data === null) return;
      const bytes = Buffer.from(data); // the packet's own memory goes with it
      sink.onUnit({ codec: 'h265', data: sets.complete('h265', bytes, key), key, ...instant(this.#clock) });
    });
  }

  /** Until the signal aborts. @param onPacket may use it until it has resolved. @throws NotPlayed if nothing comes at all */
  async #read(
    context: FormatContext,
    stream: Stream,
    signal: AbortSignal,
    onPacket: (packet: Packet) => Promise<void> | void,
  ): Promise<void> {
    const packet = new (av().Packet)();
    packet.alloc();
    let heard = false;
    try {
      while (!signal.aborted) {
        const read = await context.readFrame(packet);
        if (read === AVERROR_EAGAIN) continue;
        if (read < 0 && !heard) throw new NotPlayed(inWords(read, 'read'));
        must(read, 'read');
        heard = true;
        try {
          if (packet.streamIndex === stream.index) await onPacket(packet);
        } finally {
          packet.unref();
        }
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
    const single = SINGLE.includes(stream.codecpar.codecId);
    const decoder = this.#input.local === true ? await inHere(stream) : await outThere(stream, signal);
    try {
      await this.#read(context, stream, signal, async (packet) => {
        const { capturedAt, at } = instant(this.#clock);
        if (single ? !sink.wants(at) : sink.keysOnly && !packet.isKeyframe) return;
        this.#decoding = true;
        await decoder.decode(packet, at, (frame) => sink.onPicture({ frame, capturedAt, at }));
        this.#decoding = false;
      });
    } finally {
      this.#decoding = false;
      decoder.close();
    }
  }
}

async function inHere({ codecpar }: Stream): Promise<Decoder> {
  const { codecId } = codecpar;
  const decoder = await PacketDecoder.open(codecId, (context) => {
    must(context.parametersToContext(codecpar), 'decoder');
  });
  return {
    decode: async (packet, _at, onFrame) => decoder.decode(packet, onFrame),
    close: () => decoder.close(),
  };
}

/** @param signal ends it at once */
async function outThere({ codecpar }: Stream, signal: AbortSignal): Promise<Decoder> {
  const decoder = new DecoderProcess();
  const close = (): void => {
    signal.removeEventListener('abort', close);
    decoder.close();
  };
  signal.addEventListener('abort', close);
  try {
    await decoder.open(codecpar.codecId, codecpar.extradata);
  } catch (error) {
    close();
    throw error;
  }
  return {
    decode: async ({ data }, at, onFrame) => {
      // A copy: the packet's own memory goes with it, and the process may end while this is written.
      if (data !== null && data.length > 0) await decoder.decode(Buffer.from(data), at, onFrame);
    },
    close,
  };
}
