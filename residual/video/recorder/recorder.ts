import { mkdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { Serial } from '../../../shared/async/serial.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import type { AccessUnit, VideoClock } from '../../../shared/media/picture.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Recorded, RecordingStatus } from '../../../shared/rpc/video.ts';
import { CODECS } from '../engine/codecs.ts';
import { sizeOf } from '../engine/picture-size.ts';
import { Mp4File } from './mp4-file.ts';

interface RecorderOptions {
  readonly directory: string;
  /** Free space at which recording stops. */
  readonly reserveBytes: number;
  readonly clock: VideoClock;
  readonly log: Logger;
  readonly requestKey: () => void;
}

// Four seconds at 30 pictures a second: a disk that is slower will not catch up.
const MAX_QUEUED = 120;

interface Session {
  readonly stem: string;
  readonly startedAt: number;
  readonly files: string[];
  file: Mp4File | null;
  name: string;
  sets: Buffer | null;
  seconds: number;
  /** Of the files that are closed. */
  closedBytes: number;
  /** Of the open file, as of its newest key frame. */
  openBytes: number;
  firstAt: number;
  /** Nothing is written before there is known to be room for it. */
  room: boolean;
  /** It ends by itself: nothing more is written, and it is over when its file is closed. */
  failed: boolean;
}

/** Writes what the pipeline encodes into fragmented MP4 files, one recording at a time. */
export class Recorder {
  readonly #options: RecorderOptions;
  #session: Session | null = null;
  readonly #writes = new Serial();
  /** Why the last recording ended by itself; null when it did not. */
  #problem: string | null = null;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  get problem(): string | null {
    return this.#problem;
  }

  status(): RecordingStatus | null {
    const session = this.#session;
    return session === null ? null : describe(session);
  }

  /**
   * Starts with the next key frame, which it requests.
   * @param hint goes into the name
   * @throws ApiError E_RECORDING_ACTIVE, E_DISK_FULL, E_STORE; E_RECORDING_NOT_ACTIVE if it was stopped meanwhile
   */
  async start(hint: string | null): Promise<RecordingStatus> {
    if (this.#session !== null)
      throw new ApiError('E_RECORDING_ACTIVE', `${this.#session.name} is being recorded already.`);
    const { directory, clock, requestKey } = this.#options;
    const startedAt = clock.wall();
    const stem = `${stamp(startedAt)}${hint === null ? '' : `_${hint}`}`;
    const session: Session = {
      stem,
      startedAt,
      files: [],
      file: null,
      name: `${stem}.mp4`,
      sets: null,
      seconds: 0,
      closedBytes: 0,
      openBytes: 0,
      firstAt: 0,
      room: false,
      failed: false,
    };
    this.#session = session;
    this.#problem = null;
    try {
      await mkdir(directory, { recursive: true, mode: 0o750 });
      await this.#checkSpace();
    } catch (error) {
      if (this.#session === session) this.#session = null;
      throw error instanceof ApiError ? error : new ApiError('E_STORE', `${directory}: ${messageOf(error)}`);
    }
    if (this.#session !== session)
      throw new ApiError('E_RECORDING_NOT_ACTIVE', 'The recording was stopped before it started.');
    session.room = true;
    requestKey();
    return describe(session);
  }

  /** @throws ApiError E_RECORDING_NOT_ACTIVE */
  async stop(): Promise<Recorded> {
    const session = this.#session;
    if (session === null) throw new ApiError('E_RECORDING_NOT_ACTIVE');
    this.#session = null;
    await this.#writes.idle();
    await this.#close(session);
    return {
      ...describe(session),
      stopped_at: new Date(this.#options.clock.wall()).toISOString(),
    };
  }

  /** Never waits: pictures are queued while the disk is busy, and if the queue is full the recording ends. */
  push(unit: AccessUnit): void {
    const session = this.#session;
    if (session?.room !== true || session.failed) return;
    if (this.#writes.size >= MAX_QUEUED) {
      this.#fail(session, 'the disk is too slow');
      return;
    }
    this.#writes
      .run(async () => this.#write(session, unit))
      .catch((error: unknown) => this.#fail(session, messageOf(error)));
  }

  async #write(session: Session, unit: AccessUnit): Promise<void> {
    if (this.#session !== session || session.failed) return;
    if (unit.key) await this.#fit(session, unit);
    const { file } = session;
    if (file === null) return; // before its first key frame
    await file.write(unit);
    session.seconds = (unit.at - session.firstAt) / 1e6;
    if (!unit.key) return;
    session.openBytes = file.size;
    await this.#checkSpace();
  }

  /** A key frame with other parameter sets cannot be in the same file. */
  async #fit(session: Session, unit: AccessUnit): Promise<void> {
    const sets = CODECS[unit.codec].sets(unit.data);
    if (sets === null || session.sets?.equals(sets) === true) return;
    if (session.file !== null) await this.#close(session);
    else if (session.files.length === 0) session.firstAt = unit.at;
    session.sets = null;
    const size = sizeOf(unit.codec, sets);
    if (size === null) {
      this.#options.requestKey();
      return;
    }
    session.sets = sets;
    const number = session.files.length + 1;
    session.name = `${session.stem}${number === 1 ? '' : `-${number}`}.mp4`;
    const path = join(this.#options.directory, session.name);
    session.file = await Mp4File.create(path, unit.codec, sets, size);
    session.files.push(session.name);
  }

  async #checkSpace(): Promise<void> {
    const { directory, reserveBytes } = this.#options;
    const { bavail, bsize } = await statfs(directory);
    if (bavail * bsize < reserveBytes) {
      throw new ApiError(
        'E_DISK_FULL',
        `${directory} has ${Math.floor((bavail * bsize) / 1e6)} MB left; recording needs more than ${Math.round(reserveBytes / 1e6)} MB.`,
      );
    }
  }

  #fail(session: Session, why: string): void {
    if (this.#session !== session || session.failed) return;
    session.failed = true;
    this.#options.log.error(`video: recording ${session.name} ended: ${why}`);
    // Whoever is told that it has ended finds a file that plays.
    void this.#writes.run(async () => {
      await this.#close(session); // logs its own errors
      this.#problem = why;
      if (this.#session === session) this.#session = null;
    });
  }

  async #close(session: Session): Promise<void> {
    const { file } = session;
    session.file = null;
    if (file === null) return;
    try {
      await file.close();
    } catch (error) {
      this.#options.log.warn(`video: closing ${session.name}: ${messageOf(error)}`);
    }
    session.openBytes = 0;
    // Closing writes the last fragment.
    await stat(join(this.#options.directory, session.name)).then(
      ({ size }) => {
        session.closedBytes += size;
      },
      (error: unknown) => this.#options.log.warn(`video: ${session.name}: ${messageOf(error)}`),
    );
  }
}

function describe({ name, startedAt, files, seconds, closedBytes, openBytes }: Session): RecordingStatus {
  return {
    name,
    started_at: new Date(startedAt).toISOString(),
    files: [...files],
    duration_seconds: Math.round(seconds * 10) / 10,
    size_bytes: closedBytes + openBytes,
  };
}

/** `20261121T014500.123Z`: sorts by time, and needs no encoding in a path or URL. */
function stamp(timeMs: number): string {
  return new Date(timeMs).toISOString().replaceAll(/[-:]/g, '');
}
