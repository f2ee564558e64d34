/** The process of decoder-process.ts: takes packets from its socket, and gives their pictures back. It ends with the socket. */
import { readSync, writeSync } from 'node:fs';
import { AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVJ420P, AVCOL_RANGE_JPEG, type AVCodecID } from 'node-av/constants';
import type { Frame } from 'node-av/lib';
import { av } from '../../../shared/media/av.ts';
import { Scaler } from '../../../shared/media/scaler.ts';
import { PacketDecoder } from '../engine/packet-decoder.ts';
import {
  ANSWER,
  ASK,
  HEAD_BYTES,
  headOf,
  isFormat,
  isPicture,
  MAX_INSIDE,
  MAX_PIXELS,
  PIXELS,
  pictureBytes,
  readHead,
  WIRE,
} from './wire.ts';

const packet = new (av().Packet)();
packet.alloc();
const scaler = new Scaler();
let decoder: PacketDecoder | null = null;
const PLANES = 3;

// The socket blocks: there is nothing else to do meanwhile.
for (;;) {
  const { kind, bytes, is, at } = readHead(read(HEAD_BYTES));
  const data = read(bytes);
  try {
    await (kind === ASK.codec ? open(is as AVCodecID, data) : decode(data, at));
    write(headOf({ kind: ANSWER.done }));
  } catch {
    write(headOf({ kind: ANSWER.refused })); // the other end says it
  }
}

async function open(id: AVCodecID, extradata: Buffer): Promise<void> {
  decoder?.close();
  decoder = null;
  decoder = await PacketDecoder.open(
    id,
    (context) => {
      if (extradata.length > 0) context.extraData = extradata;
    },
    MAX_PIXELS,
  );
}

async function decode(data: Buffer, at: number): Promise<void> {
  const last = data.length === 0;
  if (!last) {
    packet.data = data;
    packet.pts = BigInt(at);
  }
  let left = MAX_INSIDE;
  await decoder?.decode(last ? null : packet, async (frame) => {
    if (left-- > 0) await give(frame, at);
  });
  packet.unref();
}

/** In planes of 8 bits, whatever the camera has. @param now where the decoder does not say which packet it is of */
async function give(frame: Frame, now: number): Promise<void> {
  const { width, height, colorRange } = frame;
  const pts = Number(frame.pts);
  const at = Number.isSafeInteger(pts) ? pts : now;
  const like = colorRange === AVCOL_RANGE_JPEG ? AV_PIX_FMT_YUVJ420P : AV_PIX_FMT_YUV420P;
  const format = isFormat(frame.format) ? frame.format : like;
  const bytes = pictureBytes({ width, height });
  const head = { kind: ANSWER.picture, bytes, is: format, width, height, at };
  if (!isPicture(head)) return; // the other end would take it for a lie
  const picture = await scaler.scale(frame, width, height, format);
  try {
    writePlanes(picture);
    write(headOf(head));
    read(1);
  } finally {
    if (picture !== frame) picture.free();
  }
}

/** Without the padding at the end of each row. */
function writePlanes({ data, linesize, width, height }: Frame): void {
  let at = 0;
  for (const [index, plane] of (data ?? []).slice(0, PLANES).entries()) {
    const [row, rows] = index === 0 ? [width, height] : [Math.ceil(width / 2), Math.ceil(height / 2)];
    const stride = linesize[index] ?? row;
    const step = stride === row ? rows : 1;
    for (let y = 0; y < rows; y += step) at += writeSync(PIXELS, plane, y * stride, row * step, at);
  }
}

function read(bytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(bytes);
  for (let from = 0; from < bytes; ) {
    const got = readSync(WIRE, buffer, from, bytes - from, null);
    if (got === 0) process.exit(); // nobody wants pictures any more
    from += got;
  }
  return buffer;
}

function write(bytes: Buffer): void {
  for (let from = 0; from < bytes.length; ) from += writeSync(WIRE, bytes, from);
}
