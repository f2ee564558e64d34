import { setTimeout as delay } from 'node:timers/promises';
import type { Frame } from 'node-av/lib';
import { Backoff } from '../../shared/async/backoff.ts';
import { deferred } from '../../shared/async/deferred.ts';
import { ApiError, messageOf } from '../../shared/errors.ts';
import { cloneFrame } from '../../shared/media/av.ts';
import type { H264Encoder } from '../../shared/media/encoder.ts';
import { Pace } from '../../shared/media/pace.ts';
import type { AccessUnit, Picture, VideoClock } from '../../shared/media/picture.ts';
import { Scaler } from '../../shared/media/scaler.ts';
import type { Logger } from '../../shared/process/logger.ts';
import type { PipelineState, PipelineStatus, Profile, VideoCodec } from '../../shared/rpc/video.ts';
import { Attempt, type AttemptOptions } from './attempt.ts';
import type { Encoders } from './engine/encoders.ts';
import { Meter } from './engine/meter.ts';
import type { Camera, VideoSource } from './sources/source.ts';

/** A camera that is tried. */
interface Next {
  readonly attempt: Attempt;
  readonly camera: Camera;
  readonly onShown: () => void;
}

export interface PipelineOptions {
  /** The one that is shown first. */
  readonly camera: Camera;
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
  /** Whether anybody needs the pictures. While nobody does, one a second is encoded, and none asked for of a camera that sends on demand. */
  readonly needed: () => boolean;
  /** Called when pictures begin or stop to come, or to be needed. */
  readonly onState: () => void;
  /** Called when a foreign engine has not answered for 5 s. What waits for it cannot be ended but with the process. */
  readonly onStuck: (why: string) => void;
}

const LIMITS = {
  firstPictureMs: 10_000,
  /** For a source to make what it shows, before. */
  preparingMs: 120_000,
  /** After so long without it, that is said. */
  sayMs: 4000,
  /** For the first picture of a camera that is to replace another. */
  changeMs: 6000,
  /** For one picture inside an encoder. */
  stuckMs: 5000,
  searchMs: 2000,
  firstBackoffMs: 250,
  longestBackoffMs: 5000,
  keyIntervalUs: 200_000,
  keyEveryUs: 1_000_000,
  /** Of a period, after the picture before. */
  missed: 0.9,
  /** From one picture to the next while nobody needs them: encoder and camera stay ready, and a loss of the camera is noticed. */
  idleUs: 1_000_000,
  /** Pictures go on for so long when nobody needs them any more, and after the start. */
  lingerUs: 2_000_000,
} as const;

const TOO_SLOW = 'the processor cannot encode what the profile has';

interface ProfileChange {
  readonly resolve: (profile: Profile) => void;
  readonly reject: (error: Error) => void;
}

/** Source, scaler, encoder: restarted when the camera is lost, and changed without a restart for another profile. */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #stopped = new AbortController();
  readonly #meter = new Meter();
  #done: Promise<void> = Promise.resolve();
  /** The camera that is shown, or looked for. */
  #camera: Camera;
  /** Its present run; null between two of them. */
  #present: Attempt | null = null;
  #next: Next | null = null;
  /** Another camera is being started. */
  #change: Promise<void> | null = null;
  /** Resolves when a camera has been tried alone; null while none is. */
  #alone: Promise<void> | null = null;
  /** Ends the pause of the loop. */
  #turn = new AbortController();
  /** What comes is encoded already. */
  #encoded = false;
  #state: PipelineState = 'starting';
  #problem: string | null = null;
  #source: string | null = null;
  #wanted: Profile;
  #encoder: H264Encoder | null = null;
  #scaler = new Scaler();
  readonly #pace = new Pace();
  #busy: Promise<void> | null = null;
  /** Since when, on the video clock. */
  #busyAt = 0;
  #latest: { frame: Frame; capturedAt: number; at: number } | null = null;
  #keyWanted = false;
  #keyAt = 0;
  #dueAt = 0;
  #offeredAt = 0;
  #neededAt = 0;
  #idle = false;
  readonly #waiting = new Set<() => void>();
  /** Of the newest picture. */
  #codec: VideoCodec | null = null;
  #lastAt: number | null = null;
  /** Pictures of the source so far. */
  #taken = 0;
  #frames = 0;
  #dropped = 0;
  #restarts = 0;
  /** The most that the radio takes, kbit/s. */
  readonly #limits = { radio: Number.POSITIVE_INFINITY, uplink: Number.POSITIVE_INFINITY };
  readonly #applying = new Set<ProfileChange>();

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#camera = options.camera;
    this.#wanted = options.profile;
  }

  start(): void {
    this.#done = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#present?.end('stopped');
    this.#next?.attempt.end('stopped');
    await this.#change?.catch(() => undefined); // told to whoever asked for it
    await this.#done;
  }

  status(): PipelineStatus {
    const now = this.#options.clock.micros();
    const measured = this.#meter.read(now);
    return {
      state: this.#state,
      problem: this.#problem,
      camera: this.#camera.id,
      source: this.#source,
      codec: this.#codec,
      encoder: this.#encoder?.name ?? null,
      encoder_reasons: this.#encoder === null ? null : this.#options.encoders.passed,
      profile: this.#encodedAs(),
      reduced: this.#encoder !== null && this.#pace.reduced ? TOO_SLOW : null,
      fps: measured?.fps ?? null,
      bitrate_kbps: measured?.kbps ?? null,
      frames: this.#frames,
      dropped: this.#dropped,
      last_frame_age_ms: this.#lastAt === null ? null : Math.round((now - this.#lastAt) / 1000),
      restarts: this.#restarts,
      idle: this.#idle,
    };
  }

  /** The encoder's settings, with the pictures a second that it is given. */
  #encodedAs(): Profile | null {
    const profile = this.#encoder?.profile;
    return profile === undefined ? null : { ...profile, fps: this.#pace.applied(this.#wanted).fps };
  }

  /** The next picture becomes a key frame; at most five a second. */
  requestKey(): void {
    this.#keyWanted = true;
    this.#present?.requestKey();
  }

  /** From the next picture on, the encoder has at most this bit rate, whatever is asked of it. */
  limit(kbps: number, of: 'radio' | 'uplink'): void {
    this.#limits[of] = kbps;
  }

  /** Of the newest picture; null before the first. */
  get codec(): VideoCodec | null {
    return this.#codec;
  }

  /** The newest raw picture; null where there is none. The caller may use it until it awaits. */
  get latest(): Picture | null {
    return this.#latest;
  }

  /** Resolves when the newest picture is not older than a usual one; after a second without one too. */
  async fresh(): Promise<void> {
    if (!this.#idle) return;
    const { promise, resolve } = deferred();
    this.#waiting.add(resolve);
    await Promise.race([promise, delay(LIMITS.idleUs / 1000, undefined, { ref: false })]);
    this.#waiting.delete(resolve);
  }

  /**
   * Resolves with the encoder's settings after a picture was encoded with them.
   * @throws ApiError E_NO_PIPELINE when no pictures come, or they come encoded
   */
  async apply(profile: Profile): Promise<Profile> {
    const before = this.#wanted;
    this.#wanted = profile;
    if (this.#pace.changed(before, profile)) this.#tellPace();
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

  /**
   * Shows this camera instead of the present one, which goes on until the new one's first picture is there: viewers see no gap.
   * Where both need the same part of the machine, it goes first, and comes back if the new one gives nothing.
   * @throws ApiError E_BUSY while another change is under way, E_NO_PIPELINE if no picture comes: nothing has changed then
   */
  async show(camera: Camera): Promise<void> {
    if (this.#change !== null) throw new ApiError('E_BUSY', 'Another camera is being started already.');
    if (camera.id === this.#camera.id) return;
    this.#change = this.#changeTo(camera);
    await this.#change.finally(() => {
      this.#change = null;
    });
  }

  async #changeTo(camera: Camera): Promise<void> {
    let problem = await this.#try(camera);
    const present = this.#present;
    if (problem !== null && present !== null && camera.exclusive && this.#camera.exclusive)
      problem = await this.#tryAlone(camera, present);
    if (problem !== null)
      throw new ApiError('E_NO_PIPELINE', `The camera ${camera.id} gives no picture: ${problem}.`);
  }

  /** Beside the present camera, if there is one. @returns why it did not come to be shown; null: it is */
  async #try(camera: Camera): Promise<string | null> {
    const source = await camera.open();
    if (source === null) return 'it is not there';
    if (this.#stopped.signal.aborted) return 'stopped';
    const attempt = this.#begin(source, { fromKey: true, firstPictureMs: LIMITS.changeMs });
    const shown = deferred<null>();
    this.#next = { attempt, camera, onShown: () => shown.resolve(null) };
    attempt.start();
    const problem = await Promise.race([shown.promise, attempt.failed]);
    this.#next = null;
    if (problem === null) return null;
    await attempt.done; // it may hold what the present camera needs
    return problem;
  }

  /** As `#try`, with the present camera out of the way. */
  async #tryAlone(camera: Camera, present: Attempt): Promise<string | null> {
    const over = deferred();
    this.#alone = over.promise;
    try {
      present.end('another camera is tried');
      await present.done;
      this.#present = null;
      this.#state = 'starting';
      return await this.#try(camera);
    } finally {
      this.#alone = null;
      over.resolve();
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    const backoff = new Backoff(LIMITS.firstBackoffMs, LIMITS.longestBackoffMs);
    while (!signal.aborted) {
      const attempt = this.#present ?? (await this.#open());
      if (attempt === null) {
        await this.#pause(LIMITS.searchMs);
        continue;
      }
      const before = this.#frames;
      const problem = await attempt.done;
      await this.#alone;
      if (this.#present !== attempt) continue; // another camera is shown, or this one comes back
      this.#present = null;
      await this.#close(problem);
      if (signal.aborted) break;
      if (this.#frames > before) backoff.reset();
      this.#restarts++;
      this.#state = 'lost';
      // Once until a picture comes: a camera that is away for a day must not fill the log.
      if (problem !== this.#problem) this.#options.log.warn(`video: ${attempt.name}: ${problem}`);
      this.#problem = problem;
      this.#options.onState();
      await this.#pause(backoff.next());
    }
    await this.#close('stopped');
  }

  /** The camera that is to be shown; null if it is not there. */
  async #open(): Promise<Attempt | null> {
    const source = await this.#camera.open();
    if (this.#present !== null) return this.#present; // shown meanwhile
    this.#source = source?.name ?? null;
    this.#state = source === null ? 'searching' : 'starting';
    if (source === null || this.#stopped.signal.aborted) return null;
    this.#beNeeded();
    const { firstPictureMs, preparingMs } = LIMITS;
    this.#present = this.#begin(source, { fromKey: false, firstPictureMs, preparingMs });
    this.#present.start();
    return this.#present;
  }

  /** Until another camera is shown. */
  async #pause(ms: number): Promise<void> {
    if (this.#present !== null) return;
    this.#turn = new AbortController();
    const signal = AbortSignal.any([this.#stopped.signal, this.#turn.signal]);
    await delay(ms, undefined, { signal }).catch(() => undefined); // aborted: the loop goes on
  }

  #begin(
    source: VideoSource,
    how: Pick<AttemptOptions, 'fromKey' | 'firstPictureMs' | 'preparingMs'>,
  ): Attempt {
    const { clock, onStuck } = this.#options;
    return new Attempt({
      source,
      clock,
      ...how,
      onStuck,
      onLook: (attempt, now, late) => {
        if (attempt !== this.#present) return;
        if (late > 0) this.#busyAt += late;
        else this.#watchOver(attempt, now);
      },
      sink: (attempt) => ({
        wants: (at) => attempt !== this.#present || this.#wants(at),
        keysOnly: false,
        onPicture: (picture) => {
          if (!this.#shows(attempt, false)) return;
          this.#options.onPicture(picture, ++this.#taken);
          this.#offer(picture, (why) => attempt.end(why));
        },
        onUnit: (unit) => {
          if (!this.#shows(attempt, true)) return;
          this.#codec = unit.codec;
          this.#options.onReceived(unit, ++this.#taken);
          this.#emit(unit);
          this.#wakeWaiting();
        },
      }),
    });
  }

  /** Whether what comes from there is shown: the first picture of a camera that is tried makes it the present one. */
  #shows(attempt: Attempt, encoded: boolean): boolean {
    if (attempt === this.#next?.attempt) this.#takeOver(this.#next, encoded);
    if (attempt !== this.#present) return false;
    this.#encoded = encoded;
    if (this.#state === 'running') return true;
    this.#state = 'running';
    this.#problem = null;
    this.#beNeeded();
    this.#options.onState();
    return true;
  }

  /** The encoder goes on, so that its stream does; where the new camera encodes itself, it is not needed any more. */
  #takeOver({ attempt, camera, onShown }: Next, encoded: boolean): void {
    const { log, onState } = this.#options;
    this.#next = null;
    this.#present?.end('another camera is shown');
    this.#present = attempt;
    this.#camera = camera;
    this.#source = attempt.name;
    this.#problem = null;
    this.#state = 'running';
    this.#encoded = encoded;
    this.#beNeeded();
    // Who watches begins with its first picture.
    this.#dueAt = 0;
    this.#keyAt = 0;
    this.#keyWanted = true;
    if (encoded) void this.#close('the pictures come encoded already');
    this.#turn.abort();
    log.info(`video: ${camera.id} is shown (${attempt.name})`);
    onState();
    onShown();
  }

  #watchOver(attempt: Attempt, now: number): void {
    if (this.#problem === null && (attempt.waited(now) ?? 0) > LIMITS.sayMs * 1000) {
      this.#problem = 'nothing has come from the camera yet';
      this.#options.onState();
    }
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

  /** A camera begins: pictures go on for a while, and of some it is never asked whether they are needed. */
  #beNeeded(): void {
    this.#neededAt = this.#options.clock.micros();
    this.#idle = false;
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
    // A camera that sends on demand sends nothing then.
    return !this.#idle || (!this.#encoded && this.#isDue(at));
  }

  /** A picture may come a little early; more than a quarter of a period is another picture. */
  #isDue(at: number): boolean {
    return at >= this.#dueAt - this.#period / 4;
  }

  get #period(): number {
    return this.#idle ? LIMITS.idleUs : 1e6 / (this.#wanted.fps * this.#pace.rate);
  }

  /** Encodes every picture that is due; pictures that come while the encoder is busy are dropped, so that none is late. */
  #offer(picture: Picture, fail: (why: string) => void): void {
    // That of another camera may be a little older.
    if (!this.#isDue(picture.at) || picture.at <= this.#offeredAt) return;
    const period = this.#period;
    const left = this.#busy !== null;
    // One that comes a little early is not missed.
    if (left && picture.at - this.#offeredAt < period * LIMITS.missed) return;
    if (left) this.#dropped++;
    if (!this.#idle && this.#pace.due(picture.at, left, this.#wanted.fps)) this.#tellPace();
    if (left) return;
    this.#dueAt = Math.max(this.#dueAt + period, picture.at + period / 2);
    const { capturedAt, at } = picture;
    this.#offeredAt = at;
    const frame = cloneFrame(picture.frame);
    this.#latest?.frame.free();
    this.#latest = { frame, capturedAt, at };
    this.#wakeWaiting();
    const own = cloneFrame(frame);
    this.#busyAt = this.#options.clock.micros();
    this.#busy = this.#encode(own, capturedAt, at)
      .catch((error: unknown) => fail(messageOf(error)))
      .finally(() => {
        own.free();
        this.#busy = null;
        this.#pace.encoded(this.#options.clock.micros() - this.#busyAt);
      });
  }

  async #encode(frame: Frame, capturedAt: number, at: number): Promise<void> {
    const wanted = this.#wanted;
    const { width, height } = this.#pace.applied(wanted);
    const limited = {
      ...wanted,
      width,
      height,
      bitrate_kbps: Math.min(wanted.bitrate_kbps, this.#limits.radio, this.#limits.uplink),
    };
    const encoder = await this.#encoderFor(limited);
    const scaled = await this.#scaler.scale(frame, width, height, encoder.format);
    try {
      // The encoder counts pictures from one key frame to the next: with fewer of them a second they would be far apart.
      const wants = this.#keyWanted || (this.#pace.reduced && at - this.#keyAt >= LIMITS.keyEveryUs);
      const key = wants && at - this.#keyAt > LIMITS.keyIntervalUs;
      if (key) {
        this.#keyWanted = false;
        this.#keyAt = at;
      }
      for (const unit of await encoder.encode(scaled, { capturedAt, at }, key))
        if (!this.#encoded) this.#emit(unit); // else another camera is shown since
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
    this.#options.onState(); // it has a profile now that can be set
    return this.#encoder;
  }

  #wakeWaiting(): void {
    for (const resolve of this.#waiting) resolve();
  }

  #tellPace(): void {
    const { width, height, fps } = this.#pace.applied(this.#wanted);
    this.#options.log.info(
      `video: ${width}x${height} ${fps} fps${this.#pace.reduced ? `: ${TOO_SLOW}` : ', as the profile has it'}`,
    );
    this.#options.onState();
  }

  #emit(unit: AccessUnit): void {
    this.#frames++;
    this.#lastAt = unit.at;
    this.#codec = unit.codec;
    this.#meter.add(unit.at, unit.data.length);
    this.#options.onUnit(unit);
  }

  async #close(why: string): Promise<void> {
    this.#refuseWaiting(why);
    // Freed memory below a native call that still runs would end the process without a word.
    while (this.#busy !== null) if (!(await endsWithin(this.#busy, LIMITS.stuckMs))) return;
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
