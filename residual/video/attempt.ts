import { deferred } from '../../shared/async/deferred.ts';
import { messageOf } from '../../shared/errors.ts';
import type { VideoClock } from '../../shared/media/picture.ts';
import type { SourceSink, VideoSource } from './sources/source.ts';

export interface AttemptOptions {
  readonly source: VideoSource;
  readonly sink: (attempt: Attempt) => SourceSink;
  readonly clock: VideoClock;
  /** Nothing is heard before a picture that a decoder can begin with. */
  readonly fromKey: boolean;
  /** The first picture has to come within this time. */
  readonly firstPictureMs: number;
  /** Added to that at most, while the source is preparing; default 0. */
  readonly preparingMs?: number;
  /** Each further one within this time; default 3 s. */
  readonly stallMs?: number;
  /** Called four times a second while it runs. @param late this process stood still for so long before, microseconds */
  readonly onLook: (attempt: Attempt, now: number, late: number) => void;
  /** Called when the source does not end. */
  readonly onStuck: (why: string) => void;
}

const LIMITS = {
  stallMs: 3000,
  /** For a camera to end. */
  stuckMs: 5000,
  watchMs: 250,
  /** A look that comes so late says nothing. */
  lateMs: 1000,
} as const;

/** One run of a source, watched: it ends when nothing comes any more. */
export class Attempt {
  readonly name: string;
  readonly #options: AttemptOptions;
  readonly #ended = new AbortController();
  readonly #failed = deferred<string>();
  readonly #done = deferred<string>();
  #problem = 'the source ended';
  #endedAt = 0;
  #began: number;
  /** Microseconds that it was preparing. */
  #prepared = 0;
  #heardAt: number | null = null;

  constructor(options: AttemptOptions) {
    this.#options = options;
    this.name = options.source.name;
    this.#began = options.clock.micros();
  }

  start(): void {
    void this.#run();
  }

  /** Resolves with the reason when it has ended; never while the source does not end. */
  get done(): Promise<string> {
    return this.#done.promise;
  }

  /** Resolves with the reason as soon as it is to end. */
  get failed(): Promise<string> {
    return this.#failed.promise;
  }

  /** Microseconds since it began, while nothing has come; null once something has. */
  waited(now: number): number | null {
    return this.#heardAt === null ? now - this.#began : null;
  }

  /** The next picture is to be a key frame, where the source can be asked for one. */
  requestKey(): void {
    this.#options.source.requestKey?.();
  }

  /** The source may still need a moment. */
  end(why: string): void {
    if (this.#ended.signal.aborted) return;
    this.#problem = why;
    this.#endedAt = this.#options.clock.micros();
    this.#ended.abort();
    this.#failed.resolve(why);
  }

  async #run(): Promise<void> {
    const { source, clock } = this.#options;
    let lookedAt = this.#began;
    const watch = setInterval(() => {
      const now = clock.micros();
      const late = now - lookedAt - LIMITS.watchMs * 1000;
      lookedAt = now;
      this.#look(now, late > LIMITS.lateMs * 1000 ? late : 0);
    }, LIMITS.watchMs);
    try {
      await source.run(this.#sink(), this.#ended.signal);
    } catch (error) {
      this.end(messageOf(error));
    } finally {
      clearInterval(watch);
    }
    this.end(this.#problem);
    this.#done.resolve(this.#problem);
  }

  #look(now: number, late: number): void {
    const {
      source,
      onLook,
      onStuck,
      firstPictureMs,
      preparingMs = 0,
      stallMs = LIMITS.stallMs,
    } = this.#options;
    if (this.#heardAt === null && source.preparing === true && this.#prepared < preparingMs * 1000) {
      this.#prepared += now - this.#began;
      this.#began = now;
    }
    if (this.#heardAt !== null && source.rests === true) this.#heardAt = now;
    onLook(this, now, late);
    // It is this process that did not run: what the camera did meanwhile has not been seen yet.
    if (late > 0) {
      this.#began += late;
      this.#endedAt += late;
      if (this.#heardAt !== null) this.#heardAt += late;
      return;
    }
    const limit = this.#heardAt === null ? firstPictureMs : stallMs;
    if (now - (this.#heardAt ?? this.#began) > limit * 1000)
      this.end(source.hindrance ?? `nothing came from the camera for ${limit / 1000} s`);
    if (this.#ended.signal.aborted && now - this.#endedAt > LIMITS.stuckMs * 1000)
      onStuck(`the camera ${this.name} does not end (${this.#problem})`);
  }

  /** What comes after the end is dropped. */
  #sink(): SourceSink {
    const { sink, fromKey } = this.#options;
    const { wants, keysOnly, onPicture, onUnit } = sink(this);
    const { signal } = this.#ended;
    return {
      wants,
      keysOnly,
      onPicture: (picture) => {
        if (signal.aborted) return;
        this.#heardAt = picture.at;
        onPicture(picture);
      },
      onUnit: (unit) => {
        if (signal.aborted || (fromKey && this.#heardAt === null && !unit.key)) return;
        this.#heardAt = unit.at;
        onUnit(unit);
      },
    };
  }
}
