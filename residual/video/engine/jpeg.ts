import { AV_PIX_FMT_YUVJ420P, FF_ENCODER_MJPEG } from 'node-av/constants';
import type { Frame } from 'node-av/lib';
import { av, cloneFrame, must } from '../../../shared/media/av.ts';
import { Scaler } from '../../../shared/media/scaler.ts';
import type { SnapshotBox } from '../../../shared/rpc/video.ts';
import { drawBoxes } from '../drawing/boxes.ts';

// FFmpeg's scale from 2 (best) to 31; at 3 a picture of 1280x720 is about 100 kB.
const QUALITY = 3;

export interface JpegOptions {
  /** Drawn into it, in pixels of the picture as it comes. */
  readonly boxes?: readonly SnapshotBox[];
  /** It becomes no wider than this. */
  readonly width?: number | undefined;
}

/** One picture as a JPEG in full range. @throws Error when FFmpeg cannot */
export async function encodeJpeg(
  frame: Frame,
  { boxes = [], width = frame.width }: JpegOptions = {},
): Promise<Buffer> {
  if (width >= frame.width) return encoded(frame, boxes);
  const scaler = new Scaler();
  let picture: Frame | null = null;
  try {
    const height = Math.max(2, 2 * Math.round((frame.height * width) / frame.width / 2));
    picture = await scaler.scale(frame, width, height);
    return await encoded(
      picture,
      boxes.map((box) => scaled(box, width / frame.width)),
    );
  } finally {
    if (picture !== null && picture !== frame) picture.free();
    scaler.close();
  }
}

function scaled(box: SnapshotBox, by: number): SnapshotBox {
  return { ...box, x: box.x * by, y: box.y * by, width: box.width * by, height: box.height * by };
}

async function encoded(frame: Frame, boxes: readonly SnapshotBox[]): Promise<Buffer> {
  const codec = av().Codec.findEncoderByName(FF_ENCODER_MJPEG);
  if (codec === null) throw new Error('this build of FFmpeg has no JPEG encoder');
  const scaler = new Scaler();
  const context = new (av().CodecContext)();
  context.allocContext3(codec);
  const packet = new (av().Packet)();
  packet.alloc();
  let picture: Frame | null = null;
  try {
    // The camera's limited range would come out grey in a JPEG.
    picture = await scaler.scale(frame, frame.width, frame.height, AV_PIX_FMT_YUVJ420P);
    if (boxes.length > 0) {
      if (picture === frame) picture = cloneFrame(frame);
      must(picture.makeWritable(), 'JPEG'); // others may hold the same pixels
      drawBoxes(picture, boxes);
    }
    context.width = frame.width;
    context.height = frame.height;
    context.pixelFormat = AV_PIX_FMT_YUVJ420P;
    context.timeBase = new (av().Rational)(1, 1000);
    context.qMin = QUALITY;
    context.qMax = QUALITY;
    must(await context.open2(codec, null), 'JPEG');
    must(await context.sendFrame(picture), 'JPEG');
    must(await context.receivePacket(packet), 'JPEG');
    if (packet.data === null) throw new Error('JPEG: an empty picture');
    return Buffer.from(packet.data);
  } finally {
    if (picture !== null && picture !== frame) picture.free();
    packet.free();
    context.freeContext();
    scaler.close();
  }
}
