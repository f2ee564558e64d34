import { connect, type Socket } from 'node:net';
import type { Principal } from '../../../shared/auth/principal.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import type { LiveHead } from '../../../shared/rpc/live.ts';
import { tooMany } from '../whep/whep-service.ts';

export interface LiveStreamsOptions {
  /** svc-video's `live.sock`. */
  readonly socketPath: string;
  readonly maxViewers: number;
  /** Throws ApiError E_NO_PIPELINE if there is no video. */
  readonly check: () => void;
  /** How many watch in another way. */
  readonly others: () => number;
}

interface OpenedStream extends LiveHead {
  /** The fragmented MP4; to be read or destroyed. */
  readonly body: Socket;
}

/** A camera that others encode may have a key frame every few seconds only. */
const FIRST_PICTURE_MS = 10_000;
const MAX_HEAD_BYTES = 1024;
const LF = 0x0a;

/** The streams of `GET /api/video/live.mp4`, with their owners. svc-video makes them; here is who may watch. */
export class LiveStreams {
  readonly #options: LiveStreamsOptions;
  readonly #open = new Map<Socket, Principal>();

  constructor(options: LiveStreamsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#open.size;
  }

  /** @throws ApiError E_NO_PIPELINE, E_VIEWERS */
  async open(owner: Principal): Promise<OpenedStream> {
    const { check, maxViewers, others, socketPath } = this.#options;
    check();
    if (this.count + others() >= maxViewers) throw tooMany(maxViewers);
    const body = connect(socketPath);
    this.#open.set(body, owner);
    body.once('close', () => this.#open.delete(body));
    try {
      return { ...(JSON.parse(await readLine(body)) as LiveHead), body };
    } catch (error) {
      body.destroy();
      throw new ApiError('E_NO_PIPELINE', `No live stream: ${messageOf(error)}.`);
    }
  }

  /** Ends the streams of these principals. @returns the other viewers */
  endOf(ids: ReadonlySet<string>): readonly Principal[] {
    for (const [body, { id }] of this.#open) if (ids.has(id)) body.destroy();
    return [...this.#open.values()].filter(({ id }) => !ids.has(id));
  }

  stop(): void {
    for (const body of this.#open.keys()) body.destroy();
  }
}

/** Takes the first line off the stream and leaves the rest. */
async function readLine(body: Socket): Promise<string> {
  let read = Buffer.alloc(0);
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer): void => {
      read = Buffer.concat([read, chunk]);
      const end = read.indexOf(LF);
      if (end === -1) {
        if (read.length > MAX_HEAD_BYTES) body.destroy(new Error('svc-video sent no head'));
        return;
      }
      body.setTimeout(0);
      body.off('data', onData).pause();
      body.unshift(read.subarray(end + 1));
      resolve(read.toString('utf8', 0, end));
    };
    body.on('data', onData);
    body.setTimeout(FIRST_PICTURE_MS, () => body.destroy(new Error('no picture came in time')));
    // Also after the head: the end of the stream is its reader's to see.
    body.on('error', reject);
    body.once('close', () => reject(new Error('svc-video has hung up')));
  });
}
