import { createServer, type Socket } from 'node:net';
import { messageOf } from '../../../shared/errors.ts';
import { NAL, nalType, parameterSets, splitNals } from '../../../shared/media/h264.ts';
import type { AccessUnit, VideoClock } from '../../../shared/media/picture.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { LiveHead } from '../../../shared/rpc/live.ts';
import { listenUnix } from '../../../shared/rpc/socket-file.ts';
import { sizeOf } from '../engine/picture-size.ts';
import { codecOf, initSegment, sampleOf } from './fragmented-mp4.ts';
import { LiveStream } from './live-stream.ts';

export interface LiveStreamsOptions {
  readonly socketPath: string;
  readonly requestKey: () => void;
  readonly clock: VideoClock;
  readonly log: Logger;
}

/** What the fragments of a stream have in common. */
interface Film {
  /** SPS and PPS in Annex B. */
  readonly sets: Buffer;
  readonly codec: string;
  readonly init: Buffer;
}

/** svc-residual decides who may watch, and how many; this is above what the config allows it. */
const MAX_STREAMS = 64;

/**
 * The main encode as fragmented MP4, for those who connect to `live.sock`: a line with a `LiveHead`, then the stream from a key
 * frame on. It ends when other parameter sets come: no film can change its own.
 */
export class LiveStreams {
  readonly #options: LiveStreamsOptions;
  readonly #server = createServer((socket) => this.#accept(socket));
  readonly #streams = new Set<LiveStream>();
  #film: Film | null = null;

  constructor(options: LiveStreamsOptions) {
    this.#options = options;
    this.#server.maxConnections = MAX_STREAMS;
  }

  async start(): Promise<void> {
    await listenUnix(this.#server, this.#options.socketPath);
  }

  async stop(): Promise<void> {
    for (const stream of this.#streams) stream.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  get watched(): boolean {
    return this.#streams.size > 0;
  }

  /** Never waits: a stream whose reader is slow leaves out its own pictures. */
  push(unit: AccessUnit): void {
    if (unit.key) this.#checkFilm(unit); // also while nobody reads, so that the first need not wait for it
    const film = this.#film;
    if (film === null || this.#streams.size === 0) return;
    const data = sampleOf(unit.data);
    for (const stream of this.#streams) {
      if (!stream.begun && unit.key) stream.begin(headOf(film, unit), film.init, unit.at);
      if (stream.begun) stream.push(unit, data, this.#options.clock.micros());
    }
  }

  #accept(socket: Socket): void {
    const stream = new LiveStream(socket);
    this.#streams.add(stream);
    socket.on('error', (error) => this.#options.log.debug(`live: ${messageOf(error)}`)); // the reader hung up
    socket.on('close', () => this.#streams.delete(stream));
    socket.resume(); // to notice its end
    this.#options.requestKey();
  }

  #checkFilm(key: AccessUnit): void {
    const sets = parameterSets(key.data);
    if (sets === null || this.#film?.sets.equals(sets) === true) return;
    this.#film = null;
    for (const stream of this.#streams) {
      if (!stream.begun) continue;
      this.#streams.delete(stream);
      stream.end();
    }
    this.#read(key, sets);
  }

  /** The head needs the size of the picture. Without it the next key frame is looked at. */
  #read(key: AccessUnit, sets: Buffer): void {
    try {
      const size = sizeOf(key.codec, sets);
      const nals = splitNals(sets);
      const sps = nals.find((nal) => nalType(nal) === NAL.sps);
      const pps = nals.find((nal) => nalType(nal) === NAL.pps);
      if (size !== null && sps !== undefined && pps !== undefined)
        this.#film = { sets, codec: codecOf(sps), init: initSegment({ sps, pps, ...size }) };
    } catch (error) {
      this.#options.log.warn(`live: ${messageOf(error)}`);
    }
  }
}

function headOf({ codec }: Film, { capturedAt }: AccessUnit): LiveHead {
  return { codec, captured_at: new Date(capturedAt).toISOString() };
}
