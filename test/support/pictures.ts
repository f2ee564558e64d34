import { Codec, CodecContext, FormatContext, Frame, Packet } from 'node-av';
import {
  AV_CODEC_ID_H264,
  AV_CODEC_ID_HEVC,
  AV_CODEC_ID_MJPEG,
  type AVCodecID,
  AVMEDIA_TYPE_VIDEO,
} from 'node-av/constants';
import { encodeJpeg } from '../../residual/video/engine/jpeg.ts';
import { readStrip } from '../../residual/video/sources/clock-strip.ts';
import { TestSource } from '../../residual/video/sources/test-source.ts';
import { H264Encoder } from '../../shared/media/encoder.ts';
import type { Size } from '../../shared/media/picture.ts';

/** What a decoded picture tells. */
export interface Seen {
  readonly width: number;
  readonly height: number;
  /** The burnt-in clock, Unix ms; null where it cannot be read. */
  readonly clock: number | null;
  /** It has no colours: a test picture that was told to have none. */
  readonly grey: boolean;
}

/** Of the eight bars of the test picture, those with a colour. */
const COLOURED = [1, 2, 3, 4, 5, 6] as const;
const FAINT = 20;

function look(frame: Frame): Seen {
  const { width, height } = frame;
  const luma = frame.data?.[0] ?? Buffer.alloc(0);
  const stride = frame.linesize[0] ?? width;
  const white = (x: number, y: number): boolean => (luma[y * stride + x] ?? 0) > 128;
  const blue = (bar: number): number => {
    const x = Math.floor(((bar + 0.5) * width) / 16);
    return frame.data?.[1]?.[Math.floor((height / 2) * 0.9) * (frame.linesize[1] ?? 0) + x] ?? 128;
  };
  return {
    width,
    height,
    clock: readStrip(white, width, height, Date.now()),
    grey: COLOURED.every((bar) => Math.abs(blue(bar) - 128) < FAINT),
  };
}

async function decode<T>(
  codecId: AVCodecID,
  packets: readonly Buffer[],
  view: (frame: Frame) => T,
): Promise<T[]> {
  const codec = Codec.findDecoder(codecId);
  if (codec === null) throw new Error('no decoder');
  const context = new CodecContext();
  context.allocContext3(codec);
  await context.open2(codec);
  const packet = new Packet();
  const frame = new Frame();
  packet.alloc();
  frame.alloc();
  const seen: T[] = [];
  try {
    for (const data of [...packets, null]) {
      if (data !== null) packet.data = data;
      const sent = await context.sendPacket(data === null ? null : packet);
      if (sent < 0) throw new Error(`decoder: ${sent}`);
      while ((await context.receiveFrame(frame)) >= 0) seen.push(view(frame));
    }
    return seen;
  } finally {
    packet.free();
    frame.free();
    context.freeContext();
  }
}

export async function decodeJpeg(jpeg: Buffer): Promise<Seen> {
  const [seen] = await decode(AV_CODEC_ID_MJPEG, [jpeg], look);
  if (seen === undefined) throw new Error('no picture in it');
  return seen;
}

/** The colours of a JPEG, as Y, U, V at a pixel of it. */
export async function coloursOf(jpeg: Buffer): Promise<(x: number, y: number) => readonly number[]> {
  const [planes] = await decode(AV_CODEC_ID_MJPEG, [jpeg], ({ data, linesize }) =>
    (data ?? []).map((bytes, index) => ({ bytes: Buffer.from(bytes), stride: linesize[index] ?? 0 })),
  );
  return (x, y) =>
    (planes ?? []).slice(0, 3).map(({ bytes, stride }, index) => {
      const shift = index === 0 ? 0 : 1;
      return bytes[(y >> shift) * stride + (x >> shift)] ?? 0;
    });
}

/** @param units access units in Annex B, from a key frame on */
export async function decodeH264(units: readonly Buffer[]): Promise<Seen[]> {
  return decode(AV_CODEC_ID_H264, units, look);
}

/** @param units as for `decodeH264` */
export async function decodeH265(units: readonly Buffer[]): Promise<Seen[]> {
  return decode(AV_CODEC_ID_HEVC, units, look);
}

export interface Film {
  /** What the file says that its pictures are, as FFmpeg names it, with the four letters of its kind. */
  readonly codec: string;
  /** As they are in the file. */
  readonly packets: readonly Buffer[];
  readonly pictures: readonly Seen[];
  /** Presentation times from the first, seconds. */
  readonly times: readonly number[];
}

export interface Box {
  readonly type: string;
  /** First byte, and the first after it by its own length, which may lie behind the end of the file. */
  readonly at: number;
  readonly end: number;
}

/** The boxes of an MP4 file at the top (ISO/IEC 14496-12, 4.2), none of which has to be whole. */
export function boxesOf(file: Buffer): Box[] {
  const boxes: Box[] = [];
  for (let at = 0; at + 8 <= file.length; at = boxes.at(-1)?.end ?? file.length)
    boxes.push({
      type: file.toString('latin1', at + 4, at + 8),
      at,
      end: at + Math.max(8, file.readUInt32BE(at)),
    });
  return boxes;
}

/** Every picture of a file, as a player finds them. @throws Error when it does not open */
export async function decodeFile(path: string): Promise<Film> {
  const input = new FormatContext();
  input.allocContext();
  if ((await input.openInput(path)) < 0) throw new Error(`${path} does not open`);
  await input.findStreamInfo();
  const index = input.findBestStream(AVMEDIA_TYPE_VIDEO);
  const stream = input.streams[index];
  const codec = stream === undefined ? null : Codec.findDecoder(stream.codecpar.codecId);
  if (stream === undefined || codec === null) throw new Error(`${path} has no picture`);
  const context = new CodecContext();
  context.allocContext3(codec);
  context.parametersToContext(stream.codecpar);
  await context.open2(codec);
  const packet = new Packet();
  const frame = new Frame();
  packet.alloc();
  frame.alloc();
  const pictures: Seen[] = [];
  const times: number[] = [];
  const packets: Buffer[] = [];
  const drain = async (): Promise<void> => {
    while ((await context.receiveFrame(frame)) >= 0) {
      pictures.push(look(frame));
      times.push((Number(frame.pts) * stream.timeBase.num) / stream.timeBase.den);
    }
  };
  try {
    while ((await input.readFrame(packet)) >= 0) {
      await context.sendPacket(packet);
      if (packet.data !== null) packets.push(Buffer.from(packet.data));
      packet.unref();
      await drain();
    }
    await context.sendPacket(null);
    await drain();
    const name = `${codec.name} ${stream.codecpar.codecTagString ?? ''}`;
    return { codec: name, packets, pictures, times: times.map((time) => time - (times[0] ?? 0)) };
  } finally {
    packet.free();
    frame.free();
    context.freeContext();
    await input.closeInput();
  }
}

interface TestSize extends Size {
  readonly fps: number;
}

/** A picture of the test source, taken from it by `take`. */
export async function ofTestPicture<T>(size: TestSize, take: (frame: Frame) => Promise<T>): Promise<T> {
  const ended = new AbortController();
  const clock = { wall: () => Date.now(), micros: () => Math.round(performance.now() * 1000) };
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  await new TestSource(clock, size).run(
    {
      onPicture: ({ frame }) => {
        if (ended.signal.aborted) return;
        ended.abort();
        const kept = frame.clone();
        if (kept === null) reject(new Error('no memory'));
        else
          void take(kept)
            .then(resolve, reject)
            .finally(() => kept.free());
      },
      wants: () => true,
      keysOnly: false,
      onUnit: () => undefined,
    },
    ended.signal,
  );
  return promise;
}

/** The test picture as a JPEG. */
export async function jpegOfTestPicture(width: number, height: number): Promise<Buffer> {
  return ofTestPicture({ width, height, fps: 10 }, encodeJpeg);
}

/** One key frame of the test picture, H.264 with its parameter sets. */
export async function keyFrameOfTestPicture(
  size: TestSize & { readonly bitrate_kbps: number },
): Promise<Buffer> {
  const encoder = await H264Encoder.open('libx264', size);
  return ofTestPicture(size, async (frame) => {
    const [unit] = await encoder.encode(frame, { capturedAt: 0, at: 0 }, true);
    if (unit === undefined) throw new Error('the encoder gave nothing');
    return unit.data;
  });
}
