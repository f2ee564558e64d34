import { ApiError, type ErrorCode, messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { EngineStatus, Recorded, RecordingStatus } from '../../../shared/rpc/video.ts';
import type { EngineClient } from './engine-client.ts';

/** Errors that pass: the camera is not there yet, svc-video was busy or died again, an earlier call came through late. */
const PASSING: ReadonlySet<ErrorCode> = new Set([
  'E_NO_PIPELINE',
  'E_RECORDING_ACTIVE',
  'E_TIMEOUT',
  'E_UPSTREAM',
  'E_UPSTREAM_DOWN',
]);
/** A recording that svc-video dies of again and again ends here. */
const MAX_PARTS = 1000;

interface WantedRecording {
  readonly hint: string | null;
  /** What svc-video had recorded each time that it died, oldest first. */
  readonly ended: RecordingStatus[];
  /** As svc-video told last; null between its death and the continuation. */
  present: RecordingStatus | null;
}

interface KeptRecordingOptions {
  readonly engine: EngineClient;
  /** The size of a stored file, bytes; 0 for one that was deleted. */
  readonly sizeOf: (name: string) => Promise<number>;
  readonly log: Logger;
}

/** A recording that was started and not stopped: it continues in a new file after a crash of svc-video. */
export class KeptRecording {
  readonly #options: KeptRecordingOptions;
  #wanted: WantedRecording | null = null;
  #resuming = false;
  /** How often it was stopped: a start that is overtaken by a stop has started nothing. */
  #stops = 0;

  constructor(options: KeptRecordingOptions) {
    this.#options = options;
  }

  /** @param hint goes into the name. @throws ApiError as record_start */
  async start(hint: string | null): Promise<RecordingStatus> {
    const stops = this.#stops;
    const present = await this.#options.engine.calls.record_start({ hint });
    if (this.#stops !== stops)
      throw new ApiError('E_RECORDING_NOT_ACTIVE', 'The recording was stopped before it started.');
    this.#wanted = { hint, ended: [], present };
    return present;
  }

  /** @returns the whole of it, with the parts from before a crash. @throws ApiError as record_stop */
  async stop(): Promise<Recorded> {
    const ended = this.#wanted?.ended ?? [];
    this.#wanted = null;
    this.#stops++;
    const last = await this.#options.engine.calls.record_stop({});
    const first = ended[0];
    if (first === undefined) return last;
    const before = ended.flatMap(({ files }) => files);
    const sizes = await Promise.all(before.map(this.#options.sizeOf));
    return {
      ...last,
      files: [...before, ...last.files],
      started_at: first.started_at,
      duration_seconds: [...ended, last].reduce((sum, { duration_seconds: part }) => sum + part, 0),
      size_bytes: sizes.reduce((sum, size) => sum + size, last.size_bytes),
    };
  }

  /** Call it with each status of svc-video; `isNew` for the first one of a connection. */
  heard({ state, recording, recording_problem: problem }: EngineStatus, isNew: boolean): void {
    // This process was restarted during a recording.
    if (isNew && this.#wanted === null && recording !== null)
      this.#wanted = { hint: hintOf(recording), ended: [], present: null };
    const wanted = this.#wanted;
    if (wanted === null) return;
    if (recording === null && wanted.present !== null) wanted.ended.push(wanted.present);
    wanted.present = recording;
    if (recording !== null) return;
    if (problem !== null) this.#giveUp(problem);
    else if (wanted.ended.length > MAX_PARTS) this.#giveUp('svc-video died too often');
    else if (state === 'running' && !this.#resuming) void this.#resume(wanted);
  }

  async #resume(wanted: WantedRecording): Promise<void> {
    const { calls } = this.#options.engine;
    this.#resuming = true;
    try {
      const { name } = await calls.record_start({ hint: wanted.hint });
      this.#options.log.warn(`video: svc-video died during a recording; it continues in ${name}`);
    } catch (error) {
      // After an error that passes, the next status tries again.
      if (this.#wanted === wanted && !(error instanceof ApiError && PASSING.has(error.code)))
        this.#giveUp(messageOf(error));
    } finally {
      this.#resuming = false;
    }
  }

  #giveUp(why: string): void {
    this.#wanted = null;
    this.#options.log.error(`video: the recording does not continue: ${why}`);
  }
}

/** A file's name is its time, and after `_` the hint, if there is one. */
function hintOf({ files, name }: RecordingStatus): string | null {
  return /_(.*)\.mp4$/.exec(files[0] ?? name)?.[1] ?? null;
}
