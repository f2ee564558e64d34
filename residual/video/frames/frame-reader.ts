import type { Socket } from 'node:net';
import { AV_PIX_FMT_RGB24 } from 'node-av/constants';
import type { Frame } from 'node-av/lib';
import { messageOf } from '../../../shared/errors.ts';
import type { Picture, Size } from '../../../shared/media/picture.ts';
import { Scaler } from '../../../shared/media/scaler.ts';
import { FRAME_SIDE, type FrameHeader, type FrameRequest } from '../../../shared/video/frames.ts';

const MAX_REQUEST_BYTES = 256;
/** A reader that does not take its picture in this time is cut off, and its place and memory are free. */
const MAX_STUCK_MS = 10_000;

/** One connection of `frames.sock`. */
export class FrameReader {
  readonly #socket: Socket;
  readonly #refuse: (sentence: string) => void;
  readonly #scaler = new Scaler();
  #text = '';
  #request: FrameRequest | null = null;
  #scaling = false;

  /** @param refuse told why the connection was ended */
  constructor(socket: Socket, refuse: (sentence: string) => void) {
    this.#socket = socket;
    this.#refuse = refuse;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => this.#take(text));
    socket.on('close', () => {
      if (!this.#scaling) this.#scaler.close();
    });
  }

  /** Whether it is ready for a picture: it has asked, and has taken what it had before. */
  get asks(): boolean {
    return this.#request !== null && this.#socket.writableLength === 0 && !this.#socket.destroyed;
  }

  /** Sends it the picture; an error ends the connection. The caller keeps the picture. */
  async answer({ frame, capturedAt, at }: Picture, number: number): Promise<void> {
    const request = this.#request;
    if (request === null || this.#socket.destroyed) return;
    this.#scaling = true;
    try {
      const size = fit(frame, request);
      const scaled = await this.#scaler.scale(frame, size.width, size.height, AV_PIX_FMT_RGB24);
      const pixels = packed(scaled);
      if (scaled !== frame) scaled.free();
      this.#request = null;
      this.#send(
        {
          frame_id: number,
          captured_at_ms: capturedAt,
          at_us: Math.round(at),
          frame_width: frame.width,
          frame_height: frame.height,
          ...size,
        },
        pixels,
      );
    } catch (error) {
      this.#end(messageOf(error));
    } finally {
      this.#scaling = false;
      if (this.#socket.destroyed) this.#scaler.close();
    }
  }

  end(): void {
    this.#socket.destroy();
  }

  #send(header: FrameHeader, pixels: Buffer): void {
    const text = Buffer.from(JSON.stringify(header));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(text.length);
    const late = setTimeout(() => this.#end('a reader does not take its picture'), MAX_STUCK_MS);
    this.#socket.cork();
    this.#socket.write(length);
    this.#socket.write(text);
    this.#socket.write(pixels, () => clearTimeout(late)); // also when the connection ends
    this.#socket.uncork();
  }

  #take(text: string): void {
    this.#text += text;
    const end = this.#text.indexOf('\n');
    // One request is open at a time, so nothing comes after its line.
    if (
      this.#request !== null ||
      this.#text.length > MAX_REQUEST_BYTES ||
      (end !== -1 && end < this.#text.length - 1)
    ) {
      this.#end('a reader does not wait for its picture');
      return;
    }
    if (end === -1) return;
    const request = parse(this.#text);
    this.#text = '';
    if (request === null) this.#end('a reader asks for what is no picture');
    else this.#request = request;
  }

  #end(why: string): void {
    this.#refuse(why);
    this.#socket.destroy();
  }
}

function parse(line: string): FrameRequest | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null; // not JSON
  }
  if (typeof value !== 'object' || value === null || Object.keys(value).length !== 2) return null;
  if (!('width' in value) || !('height' in value)) return null;
  const { width, height } = value;
  return isSide(width) && isSide(height) ? { width, height } : null;
}

function isSide(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= FRAME_SIDE.least && Number(value) <= FRAME_SIDE.most;
}

/** Inside of what was asked for, in the picture's own shape, never larger. */
function fit({ width, height }: Size, within: FrameRequest): Size {
  const scale = Math.min(1, within.width / width, within.height / height);
  const side = (value: number): number => Math.max(1, Math.round(value * scale));
  return { width: side(width), height: side(height) };
}

/** The pixels without the padding at the end of each row. */
function packed(frame: Frame): Buffer {
  const [from] = frame.data ?? [];
  const [stride = 0] = frame.linesize;
  if (from === undefined) throw new Error('no memory for a picture');
  const row = frame.width * 3;
  const pixels = Buffer.allocUnsafe(row * frame.height);
  for (let y = 0; y < frame.height; y++) from.copy(pixels, y * row, y * stride, y * stride + row);
  return pixels;
}
