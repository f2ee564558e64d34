import { AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVJ420P, type AVPixelFormat } from 'node-av/constants';
import type { Size } from '../../../shared/media/picture.ts';

/**
 * What svc-video and a decoder's process say to each other: one question at a time, each answered by its pictures and then one more
 * message. A message is a head of five numbers of 32 and one of 64 bits, little-endian; that of a question has its bytes behind it.
 * Those of a picture are in a file in memory, which has room for one: the next may be written when a byte says that it was read. In a
 * socket they would cost svc-video a fifth of a core at 1280x720 and 30/s: they come as small buffers, for the garbage collector.
 */

/** The socket and the file, as descriptors of the process. */
export const WIRE = 3;
export const PIXELS = 4;
export const HEAD_BYTES = 28;

/** `codec`: FFmpeg's id, its extradata as the bytes. `packet`: at `at`, one without bytes is the last. */
export const ASK = { codec: 1, packet: 2 } as const;
/** A `picture` is one for the question; the others end the answer. `refused`: there is no such decoder, or it makes nothing of it. */
export const ANSWER = { picture: 1, done: 2, refused: 3 } as const;

/** What a picture may have, below this build's own limit: 4096x2304, and whatever has as many pixels. */
export const MAX_PIXELS = 4096 * 2304;
export const MAX_PICTURE_BYTES = MAX_PIXELS * 2;
const SIDE = { least: 16, most: 16_384 } as const;
/** As the units of a source (RTP's are smaller): a key frame of 4K at the best quality. */
export const MAX_PACKET_BYTES = 16 * 1024 * 1024;
/** More pictures than a decoder holds back. */
export const MAX_INSIDE = 16;

export interface Head {
  readonly kind: number;
  /** Of the packet, or the picture. */
  readonly bytes: number;
  /** A codec's id, or the format of a picture. */
  readonly is: number;
  readonly width: number;
  readonly height: number;
  /** Presentation time, microseconds. */
  readonly at: number;
}

export interface PictureHead extends Head {
  readonly is: AVPixelFormat;
}

export function headOf({ kind, bytes = 0, is = 0, width = 0, height = 0, at = 0 }: Partial<Head>): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  [kind ?? 0, bytes, is, width, height].forEach((value, index) => head.writeUInt32LE(value, index * 4));
  head.writeDoubleLE(at, 20);
  return head;
}

export function readHead(head: Buffer): Head {
  const [kind = 0, bytes = 0, is = 0, width = 0, height = 0] = [0, 4, 8, 12, 16].map((at) =>
    head.readUInt32LE(at),
  );
  return { kind, bytes, is, width, height, at: head.readDoubleLE(20) };
}

/** What pictures come as: planes of 8 bits in 4:2:0 without padding, of the camera's or of the full range. */
export function isFormat(format: number): format is AVPixelFormat {
  return format === AV_PIX_FMT_YUV420P || format === AV_PIX_FMT_YUVJ420P;
}

export function pictureBytes({ width, height }: Size): number {
  return width * height + 2 * Math.ceil(width / 2) * Math.ceil(height / 2);
}

/** Whether it is the head of a picture that there can be, and announces just its bytes. */
export function isPicture(head: Head): head is PictureHead {
  const { bytes, is, width, height, at } = head;
  const sides = [width, height].every((side) => side >= SIDE.least && side <= SIDE.most);
  return (
    sides &&
    width * height <= MAX_PIXELS &&
    isFormat(is) &&
    bytes === pictureBytes({ width, height }) &&
    Number.isSafeInteger(at)
  );
}
