import { setTimeout as delay } from 'node:timers/promises';
import type { Frame } from 'node-av/lib';
import { Backoff } from '../../shared/async/backoff.ts';
import { ApiError, messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/process/logger.ts';
import type { PipelineState, PipelineStatus, Profile } from '../../shared/rpc/video.ts';
import { cloneFrame } from './engine/av.ts';
import type { H264Encoder } from './engine/encoder.ts';
import type { Encoders } from './engine/encoders.ts';
import { Meter } from './engine/meter.ts';
import type { AccessUnit, Picture, VideoClock } from './engine/picture.ts';
import { Scaler } from './engine/scaler.ts';
import type { VideoSource } from './sources/source.ts';

export interface PipelineOptions {
  /** The source for one attempt; null when there is no camera at the moment. */
  readonly open: () => Promise<VideoSource | null>;
  readonly encoders: Encoders;
  readonly profile: Profile;
  readonly clock: VideoClock;
  readonly log: Logger;
  readonly onUnit: (unit: AccessUnit) => void;
  /**
   * Called with each raw picture of the source, also with those that are not encoded; the pipeline keeps it.
   * @param number counts the pictures of the source since the process started, from 1, as in `onReceived`
   */
  readonly onPicture: (picture: Picture, number: number) => void;
  /** Called with each picture of a source that encodes itself, before `onUnit`. */
  readonly onReceived: (unit: AccessUnit, number: number) => void;
  /** Whether anybody needs the pictures. While nobody does, one a second is encoded. */
  readonly needed: () => boolean;
  /** Called when pictures begin or stop to come, or to be needed. */
  readonly onState: () => void;
  /** Called when a foreign engine has not answered for 5 s. What waits for it cannot be ended but with the process. */
  readonly onStuck: (why: string) => void;
}

const LIMITS = {
  firstPictureMs: 10_000,
  stallMs: 3000,
  /** For one picture inside an encoder, and for a camera to end. */
  stuckMs: 5000,
  watchMs: 250,
  /** A look that comes so late says nothing. */
  lateMs: 1000,
  searchMs: 2000,
  firstBackoffMs: 250,
  longestBackoffMs: 5000,
  keyIntervalUs: 200_000,
  /** From one picture to the next while nobody needs them: encoder and camera stay ready, and a loss of the camera is noticed. */
  idleUs: 1_000_000,
  /** Pictures go on for so long when nobody needs them any more, and after the start. */
  lingerUs: 2_000_000,
} as const;

interface Applying {
  readonly resolve: (profile: Profile) => void;
  readonly reject: (error: Error) => void;
}

/** Source, scaler, encoder: restarted when the camera is lost, and changed without a restart for another profile. */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #stopped = new AbortController();
  readonly #meter = new Meter();
  #done: Promise<void> = Promise.resolve();
  #state: PipelineState = 'starting';
  #problem: string | null = null;
  #source: string | null = null;
  #wanted: Profile;
  #encoder: H264Encoder | null = null;
  #scaler = new Scaler();
  #busy: Promise<void> | null = null;
  /** Since when, on the video clock. */
  #busyAt = 0;
  #latest: { frame: Frame; capturedAt: number; at: number } | null = null;
  #keyWanted = false;
  #keyAt = 0;
  #dueAt = 0;
  #neededAt = 0;
  #idle = false;
  readonly #waiting = new Set<() => void>();
  #lastAt: number | null = null;
  /** Pictures of the source so far. */
  #taken = 0;
  #frames = 0;
  #dropped = 0;
  #restarts = 0;
  /** The most that the radio takes, kbit/s. */
  #limit = Number.POSITIVE_INFINITY;
  readonly #applying = new Set<Applying>();

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#wanted = options.profile;
  }

  start(): void {
    this.#done = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#done;
  }

  status(): PipelineStatus {
    const now = this.#options.clock.micros();
    const measured = this.#meter.read(now);
    return {
      state: this.#state,
      problem: this.#problem,
      source: this.#source,
      encoder: this.#encoder?.name ?? null,
      encoder_reasons: this.#encoder === null ? null : this.#options.encoders.passed,
      profile: this.#encoder?.profile ?? null,
      fps: measured?.fps ?? null,
      bitrate_kbps: measured?.kbps ?? null,
      frames: this.#frames,
      dropped: this.#dropped,
      last_frame_age_ms: this.#lastAt === null ? null : Math.round((now - this.#lastAt) / 1000),
      restarts: this.#restarts,
      idle: this.#idle,
    };
  }

  /** The next picture becomes a key frame; at most five a second. */
  requestKey(): void {
    this.#keyWanted = true;
  }

  /** From the next picture on, the encoder has at most this bit rate, whatever is asked of it. */
  limit(kbps: number): void {
    this.#limit = kbps;
  }

  /** The newest raw picture; null where there is none. The caller may use it until it awaits. */
  get latest(): Picture | null {
    return this.#latest;
  }

  /** Resolves when `latest` is not older than a usual picture; after a second without one too. */
  async fresh(): Promise<void> {
    if (!this.#idle) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    await Promise.race([promise, delay(LIMITS.idleUs / 1000, undefined, { ref: false })]);
    this.#waiting.delete(resolve);
  }

  /**
   * Resolves with the encoder's settings after a picture was encoded with them.
   * @throws ApiError E_NO_PIPELINE when no pictures come, or they come encoded
   */
  async apply(profile: Profile): Promise<Profile> {
    this.#wanted = profile;
    if (this.#state !== 'running' || this.#encoder === null)
      throw new ApiError('E_NO_PIPELINE', `No encoder running: ${this.#why()}.`);
    return new Promise((resolve, reject) => this.#applying.add({ resolve, reject }));
  }

  #why(): string {
    switch (this.#state) {
      case 'running':
        return 'the pictures come encoded already';
      case 'searching':
        return 'no camera was found';
      case 'off':
        return 'video.source is none';
      case 'starting':
        return 'it is starting';
      case 'lost':
        return this.#problem ?? 'the camera is lost';
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    const backoff = new Backoff(LIMITS.firstBackoffMs, LIMITS.longestBackoffMs);
    while (!signal.aborted) {
      const source = await this.#options.open();
      if (signal.aborted) return;
      this.#source = source?.name ?? null;
      if (source === null) {
        this.#state = 'searching';
        await delay(LIMITS.searchMs, undefined, { signal }).catch(() => undefined); // aborted: the loop ends
        continue;
      }
      this.#state = 'starting';
      const before = this.#frames;
      const problem = await this.#attempt(source, signal);
      await this.#close(problem);
      if (signal.aborted) return;
      if (this.#frames > before) backoff.reset();
      this.#restarts++;
      this.#state = 'lost';
      // Once until a picture comes: a camera that is away for a day must not fill the log.
      if (problem !== this.#problem) this.#options.log.warn(`video: ${source.name}: ${problem}`);
      this.#problem = problem;
      this.#options.onState();
      await delay(backoff.next(), undefined, { signal }).catch(() => undefined); // aborted: the loop ends
    }
  }

  /** @returns why it ended */
  async #attempt(source: VideoSource, stopped: AbortSignal): Promise<string> {
    const attempt = new AbortController();
    let problem = 'the source ended';
    let endedAt = 0;
    const end = (why: string): void => {
      if (attempt.signal.aborted) return;
      problem = why;
      endedAt = this.#options.clock.micros();
      attempt.abort();
    };
    const onStop = (): void => end('stopped');
    stopped.addEventListener('abort', onStop, { once: true });
    let began = this.#options.clock.micros();
    this.#neededAt = began;
    let heardAt: number | null = null;
    let lookedAt = began;
    const watch = setInterval(() => {
      const now = this.#options.clock.micros();
      const late = now - lookedAt - LIMITS.watchMs * 1000;
      lookedAt = now;
      // It is this process that did not run: what camera and encoder did meanwhile has not been seen yet.
      if (late > LIMITS.lateMs * 1000) {
        began += late;
        endedAt += late;
        this.#busyAt += late;
        if (heardAt !== null) heardAt += late;
        return;
      }
      const limit = heardAt === null ? LIMITS.firstPictureMs : LIMITS.stallMs;
      this.#watchOver(now);
      if (now - (heardAt ?? began) > limit * 1000) end(`nothing came from the camera for ${limit / 1000} s`);
      if (attempt.signal.aborted && now - endedAt > LIMITS.stuckMs * 1000)
        this.#options.onStuck(`the camera ${source.name} does not end (${problem})`);
    }, LIMITS.watchMs);
    const hear = (at: number): void => {
      heardAt = at;
      if (this.#state === 'running') return;
      this.#state = 'running';
      this.#problem = null;
      this.#options.onState();
    };
    try {
      await source.run(
        {
          wants: (at) => this.#wants(at),
          onPicture: (picture) => {
            if (attempt.signal.aborted) return;
            hear(picture.at);
            this.#options.onPicture(picture, ++this.#taken);
            this.#offer(picture, end);
          },
          onUnit: (unit) => {
            if (attempt.signal.aborted) return;
            hear(unit.at);
            this.#options.onReceived(unit, ++this.#taken);
            this.#emit(unit);
          },
        },
        attempt.signal,
      );
    } catch (error) {
      end(messageOf(error));
    } finally {
      clearInterval(watch);
      stopped.removeEventListener('abort', onStop);
    }
    return problem;
  }

  #watchOver(now: number): void {
    if (this.#busy === null || now - this.#busyAt <= LIMITS.stuckMs * 1000) return;
    const encoder = this.#encoder?.name ?? 'the encoder';
    this.#refuseWaiting(`${encoder} does not answer`);
    const software = 'libx264';
    const remedy = encoder === software ? '' : `; set video.encoder to ${software} if this goes on`;
    this.#options.onStuck(
      `${encoder} took a picture ${LIMITS.stuckMs / 1000} s ago and has not answered since${remedy}`,
    );
  }

  #refuseWaiting(why: string): void {
    for (const waiting of this.#applying)
      waiting.reject(new ApiError('E_NO_PIPELINE', `No picture: ${why}.`));
    this.#applying.clear();
  }

  /** False for what nobody needs. Who looks at raw pictures may want more of them than the profile encodes. */
  #wants(at: number): boolean {
    if (this.#applying.size > 0 || this.#options.needed()) {
      this.#neededAt = at;
      if (this.#idle) {
        // Who has come begins with the next picture.
        this.#dueAt = 0;
        this.#keyWanted = true;
      }
    }
    const idle = at - this.#neededAt > LIMITS.lingerUs;
    if (idle !== this.#idle) {
      this.#idle = idle;
      this.#options.onState();
    }
    return !this.#idle || this.#isDue(at);
  }

  /** A picture may come a little early; more than a quarter of a period is another picture. */
  #isDue(at: number): boolean {
    return at >= this.#dueAt - this.#period / 4;
  }

  get #period(): number {
    return this.#idle ? LIMITS.idleUs : 1e6 / this.#wanted.fps;
  }

  /** Encodes every picture that is due; pictures that come while the encoder is busy are dropped, so that none is late. */
  #offer(picture: Picture, fail: (why: string) => void): void {
    if (!this.#isDue(picture.at)) return;
    if (this.#busy !== null) {
      this.#dropped++;
      return;
    }
    const period = this.#period;
    this.#dueAt = Math.max(this.#dueAt + period, picture.at + period / 2);
    const { capturedAt, at } = picture;
    const frame = cloneFrame(picture.frame);
    this.#latest?.frame.free();
    this.#latest = { frame, capturedAt, at };
    for (const resolve of this.#waiting) resolve();
    const own = cloneFrame(frame);
    this.#busyAt = this.#options.clock.micros();
    this.#busy = this.#encode(own, capturedAt, at)
      .catch((error: unknown) => fail(messageOf(error)))
      .finally(() => {
        own.free();
        this.#busy = null;
      });
  }

  async #encode(frame: Frame, capturedAt: number, at: number): Promise<void> {
    const wanted = this.#wanted;
    const limited = { ...wanted, bitrate_kbps: Math.min(wanted.bitrate_kbps, this.#limit) };
    const encoder = await this.#encoderFor(limited);
    const scaled = await this.#scaler.scale(frame, wanted.width, wanted.height, encoder.format);
    try {
      const key = this.#keyWanted && at - this.#keyAt > LIMITS.keyIntervalUs;
      if (key) {
        this.#keyWanted = false;
        this.#keyAt = at;
      }
      for (const unit of await encoder.encode(scaled, { capturedAt, at }, key)) this.#emit(unit);
    } catch (error) {
      this.#options.encoders.failed(encoder.name, messageOf(error));
      throw error;
    } finally {
      if (scaled !== frame) scaled.free();
    }
    if (wanted !== this.#wanted) return; // changed since: the next picture applies it
    for (const waiting of this.#applying) waiting.resolve(limited);
    this.#applying.clear();
  }

  async #encoderFor(wanted: Profile): Promise<H264Encoder> {
    if (this.#encoder?.adapt(wanted) === true) return this.#encoder;
    // Until the next encoder is open, the status shows the old one.
    this.#encoder?.close();
    try {
      this.#encoder = await this.#options.encoders.open(wanted);
    } catch (error) {
      this.#encoder = null;
      throw error;
    }
    this.#options.log.info(
      `video: ${this.#encoder.name} ${wanted.width}x${wanted.height} ${wanted.fps} fps ${wanted.bitrate_kbps} kbit/s`,
    );
    return this.#encoder;
  }

  #emit(unit: AccessUnit): void {
    this.#frames++;
    this.#lastAt = unit.at;
    this.#meter.add(unit.at, unit.data.length);
    this.#options.onUnit(unit);
  }

  async #close(why: string): Promise<void> {
    this.#refuseWaiting(why);
    // Freed memory below a native call that still runs would end the process without a word.
    if (this.#busy !== null && !(await endsWithin(this.#busy, LIMITS.stuckMs))) return;
    this.#encoder?.close();
    this.#encoder = null;
    this.#scaler.close();
    this.#latest?.frame.free();
    this.#latest = null;
    this.#dueAt = 0;
  }
}

/** @param work that does not throw */
async function endsWithin(work: Promise<void>, ms: number): Promise<boolean> {
  return Promise.race([work.then(() => true), delay(ms, false, { ref: false })]);
}
