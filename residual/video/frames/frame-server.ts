import { createServer, type Socket } from 'node:net';
import { messageOf } from '../../../shared/errors.ts';
import { cloneFrame } from '../../../shared/media/av.ts';
import type { Picture } from '../../../shared/media/picture.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { listenUnix } from '../../../shared/rpc/socket-file.ts';
import { FrameReader } from './frame-reader.ts';

interface FrameServerOptions {
  readonly socketPath: string;
  /** Steady, ms. */
  readonly now: () => number;
  readonly log: Logger;
}

const MAX_READERS = 4;
/** Who looks at pictures asks again and again; in between, a decoder must not begin anew with the next key frame. */
const LINGER_MS = 2000;
/** What a reader had, so that something can be drawn on the very picture that it has looked at. */
const KEPT = { pictures: 3, ms: 10_000 } as const;

interface ReadPicture extends Picture {
  readonly reader: FrameReader;
  readonly number: number;
}

/** Raw pictures for those who connect to `frames.sock` and ask (shared/video/frames.ts). */
export class FrameServer {
  readonly #options: FrameServerOptions;
  readonly #server = createServer((socket) => this.#accept(socket));
  readonly #readers = new Set<FrameReader>();
  #kept: ReadPicture[] = [];
  #askedAt = -Infinity;
  #working: Promise<void> | null = null;

  constructor(options: FrameServerOptions) {
    this.#options = options;
    this.#server.maxConnections = MAX_READERS;
  }

  async start(): Promise<void> {
    await listenUnix(this.#server, this.#options.socketPath);
  }

  async stop(): Promise<void> {
    for (const reader of this.#readers) reader.end();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    await this.#working;
    for (const { frame } of this.#kept.splice(0)) frame.free();
  }

  /** Whether somebody waits for a picture, or has asked for one just now. */
  get wanted(): boolean {
    for (const reader of this.#readers) if (reader.asks) return true;
    return this.#options.now() - this.#askedAt < LINGER_MS;
  }

  /** A raw picture; the caller keeps it. Never waits: who is not ready for this one gets a later one. */
  offer(picture: Picture, number: number): void {
    const readers = [...this.#readers].filter((reader) => reader.asks);
    if (readers.length === 0 || this.#working !== null) return;
    this.#askedAt = this.#options.now();
    const { capturedAt, at } = picture;
    for (const reader of readers)
      this.#keep({ frame: cloneFrame(picture.frame), capturedAt, at, number, reader });
    this.#working = this.#answer({ frame: cloneFrame(picture.frame), capturedAt, at }, number, readers);
  }

  /** A picture that a reader has had lately, its frame for the caller to free; null if it is gone. */
  had(number: number): Picture | null {
    const kept = this.#kept.find((one) => one.number === number);
    if (kept === undefined || this.#options.now() - kept.at / 1000 > KEPT.ms) return null;
    return { frame: cloneFrame(kept.frame), capturedAt: kept.capturedAt, at: kept.at };
  }

  /** One after the other, so that scaling leaves threads for the encoder. */
  async #answer(picture: Picture, number: number, readers: readonly FrameReader[]): Promise<void> {
    try {
      for (const reader of readers) await reader.answer(picture, number);
    } finally {
      picture.frame.free();
      this.#working = null;
    }
  }

  #keep(picture: ReadPicture): void {
    this.#kept.push(picture);
    const own = this.#kept.filter(({ reader }) => reader === picture.reader);
    this.#drop(own.slice(0, -KEPT.pictures));
  }

  #drop(pictures: readonly ReadPicture[]): void {
    this.#kept = this.#kept.filter((one) => !pictures.includes(one));
    for (const { frame } of pictures) frame.free();
  }

  #accept(socket: Socket): void {
    const reader = new FrameReader(socket, (sentence) => this.#options.log.warn(`frames: ${sentence}`));
    this.#readers.add(reader);
    socket.on('error', (error) => this.#options.log.debug(`frames: ${messageOf(error)}`)); // it hung up
    socket.on('close', () => {
      this.#readers.delete(reader);
      this.#drop(this.#kept.filter((one) => one.reader === reader));
    });
  }
}
