import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { deferred } from '../async/deferred.ts';
import { within } from '../async/within.ts';
import { ApiError } from '../errors.ts';
import { isRecord } from '../member.ts';
import type { FrameHeader, FrameRequest } from './frames.ts';

/** A raw picture: RGB, 8 bits each, row by row, `header.width * header.height * 3` bytes. */
export interface RawPicture {
  readonly header: FrameHeader;
  readonly pixels: Buffer;
}

const CONNECT_MS = 2000;
/** From the first byte of an answer to its last. */
const ANSWER_MS = 5000;
const MAX_HEADER_BYTES = 1024;
const NUMBERS = [
  'frame_id',
  'captured_at_ms',
  'at_us',
  'frame_width',
  'frame_height',
  'width',
  'height',
] as const satisfies readonly (keyof FrameHeader)[];

/** One connection to `frames.sock`. After an error it is closed, and the caller makes another. */
export class FrameClient {
  readonly #socket: Socket;
  #lost: Error | null = null;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('error', (error) => {
      this.#lost ??= new ApiError('E_UPSTREAM_DOWN', `svc-video does not answer: ${error.message}.`);
    });
    socket.on('close', () => {
      this.#lost ??= new ApiError('E_UPSTREAM_DOWN', 'svc-video has ended the connection.');
    });
  }

  /** @throws ApiError E_UPSTREAM_DOWN, E_TIMEOUT */
  static async connect(path: string): Promise<FrameClient> {
    const socket = createConnection(path);
    const client = new FrameClient(socket);
    try {
      await within(once(socket, 'connect'), CONNECT_MS, () => new ApiError('E_TIMEOUT'));
    } catch (error) {
      client.close();
      throw client.#lost ?? error;
    }
    return client;
  }

  /**
   * The next picture. Where none comes it waits, until the signal aborts. One call at a time.
   * @throws ApiError E_UPSTREAM_DOWN, E_TIMEOUT, E_UPSTREAM for an answer that is none; the signal's reason
   */
  async next(size: FrameRequest, signal: AbortSignal): Promise<RawPicture> {
    try {
      signal.throwIfAborted();
      if (this.#socket.readableLength > 0) throw wrong('bytes that nobody asked for');
      const { width, height } = size;
      this.#socket.write(`${JSON.stringify({ width, height })}\n`);
      const length = (await this.#take(4, signal)).readUInt32BE();
      if (length > MAX_HEADER_BYTES) throw wrong(`a header of ${length} bytes`);
      const rest = this.#rest(length, size, signal);
      return await within(
        rest,
        ANSWER_MS,
        () => new ApiError('E_TIMEOUT', 'A picture stopped in its middle.'),
      );
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  async #rest(length: number, size: FrameRequest, signal: AbortSignal): Promise<RawPicture> {
    const header = parse((await this.#take(length, signal)).toString(), size);
    return { header, pixels: await this.#take(header.width * header.height * 3, signal) };
  }

  async #take(bytes: number, signal: AbortSignal): Promise<Buffer> {
    for (;;) {
      const taken: Buffer | null = this.#socket.read(bytes);
      if (taken?.length === bytes) return taken;
      if (taken !== null) throw wrong('a torn picture'); // read gives fewer only at the end
      if (this.#lost !== null || this.#socket.destroyed || this.#socket.readableEnded)
        throw this.#lost ?? new ApiError('E_UPSTREAM_DOWN', 'svc-video has ended the connection.');
      await moved(this.#socket, signal);
    }
  }
}

/** Resolves when there is more to read, or nothing more to come. @throws the signal's reason */
async function moved(socket: Socket, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = deferred();
  const onNews = (): void => resolve();
  const events = ['readable', 'end', 'close'] as const;
  for (const event of events) socket.on(event, onNews);
  signal.addEventListener('abort', onNews, { once: true });
  try {
    if (!signal.aborted) await promise;
  } finally {
    for (const event of events) socket.off(event, onNews);
    signal.removeEventListener('abort', onNews);
  }
  signal.throwIfAborted();
}

/** @throws ApiError E_UPSTREAM unless it is the header of a picture that was asked for */
function parse(text: string, asked: FrameRequest): FrameHeader {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw wrong('a header that is not JSON');
  }
  if (!isHeader(value)) throw wrong('an incomplete header');
  const { width, height } = value;
  const fits = isSide(width, asked.width) && isSide(height, asked.height);
  if (!fits) throw wrong(`a picture of ${width}x${height}`);
  return value;
}

function isHeader(value: unknown): value is FrameHeader {
  return isRecord(value) && NUMBERS.every((name) => Number.isFinite(value[name]));
}

function isSide(value: number, most: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= most;
}

function wrong(what: string): ApiError {
  return new ApiError('E_UPSTREAM', `svc-video sent ${what}.`);
}
