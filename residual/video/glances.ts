import { setTimeout as delay } from 'node:timers/promises';
import { deferred } from '../../shared/async/deferred.ts';
import { every } from '../../shared/async/every.ts';
import { ApiError, messageOf } from '../../shared/errors.ts';
import { cloneFrame } from '../../shared/media/av.ts';
import type { AccessUnit, Picture, VideoClock } from '../../shared/media/picture.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { Attempt } from './attempt.ts';
import { UnitBuffer } from './decoder/unit-buffer.ts';
import type { Camera, VideoSource } from './sources/source.ts';

interface GlancesOptions {
  readonly clock: VideoClock;
  readonly log: Logger;
}

const LIMITS = {
  /** Cameras that run at a time. */
  kept: 3,
  /** One runs on for so long after the last question: a network camera is not dialled anew for each picture. */
  keptMs: 5000,
  firstPictureMs: 6000,
  /** Key frames are enough, and some cameras give few. */
  stallMs: 12_000,
  /** A picture that is older is worth waiting for the next one, for so long. */
  freshMs: 1000,
  waitMs: 1500,
  /** Raw pictures are taken so often. */
  periodUs: 500_000,
  /** For a camera to end. */
  endMs: 3000,
} as const;

/** Pictures of cameras that are not shown. Such a camera runs while somebody asks for them. */
export class Glances {
  readonly #options: GlancesOptions;
  readonly #kept = new Map<string, Glance>();
  /** Cameras that are ending, and those that are wanted elsewhere. */
  readonly #ending = new Map<string, Promise<unknown>>();
  readonly #held = new Set<string>();
  #opening: { readonly id: string; readonly glance: Promise<Glance> } | null = null;
  #ticker: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(options: GlancesOptions) {
    this.#options = options;
  }

  /**
   * @returns its newest picture, the frame for the caller to free
   * @throws ApiError E_BUSY while another one is being started, E_NO_FRAME with the reason
   */
  async at(camera: Camera): Promise<Picture> {
    const { id } = camera;
    if (this.#stopped || this.#held.has(id))
      throw new ApiError('E_BUSY', `The camera ${id} is needed elsewhere.`);
    if (this.#opening !== null && this.#opening.id !== id && !this.#kept.has(id))
      throw new ApiError('E_BUSY', 'Another camera is being looked at.');
    const glance = this.#kept.get(id) ?? (await this.#open(camera));
    return glance.picture();
  }

  /** Runs `work`, which needs this camera: it is not looked at meanwhile. */
  async without<T>(id: string, work: () => Promise<T>): Promise<T> {
    this.#held.add(id);
    try {
      if (this.#opening?.id === id) await this.#opening.glance.catch(() => undefined); // told to whoever asked for it
      await this.#end(id, 'it is needed elsewhere');
      return await work();
    } finally {
      this.#held.delete(id);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#opening?.glance.catch(() => undefined); // as above
    await Promise.all([...this.#kept.keys()].map(async (id) => this.#end(id, 'stopped')));
  }

  /** One at a time; who asks for the same one waits for the same. */
  async #open(camera: Camera): Promise<Glance> {
    this.#opening ??= { id: camera.id, glance: this.#start(camera).finally(() => (this.#opening = null)) };
    return this.#opening.glance;
  }

  async #start(camera: Camera): Promise<Glance> {
    const { id } = camera;
    await this.#ended(id);
    if (this.#ending.has(id)) throw noPicture(id, 'it does not end what it did before');
    const source = await camera.open().catch((error: unknown) => {
      throw noPicture(id, messageOf(error));
    });
    if (source === null) throw noPicture(id, 'it is not there');
    await this.#makeRoom();
    const glance = new Glance(id, source, this.#options);
    this.#kept.set(id, glance);
    this.#ticker ??= every(1000, 'glances', () => this.#dropUnasked());
    void glance.done.then(() => {
      if (this.#kept.get(id) === glance) this.#kept.delete(id);
    });
    try {
      await glance.first;
    } catch (error) {
      await this.#end(id, messageOf(error));
      throw error;
    }
    return glance;
  }

  async #makeRoom(): Promise<void> {
    while (this.#kept.size >= LIMITS.kept) {
      const [oldest] = [...this.#kept.values()].toSorted((one, other) => one.askedAt - other.askedAt);
      if (oldest === undefined) return;
      await this.#end(oldest.id, 'another one is looked at');
    }
  }

  #dropUnasked(): void {
    const now = this.#options.clock.micros();
    for (const { id, askedAt } of this.#kept.values())
      if (now - askedAt > LIMITS.keptMs * 1000) void this.#end(id, 'nobody asks any more');
  }

  /** Waits for the end, for a few seconds: one that never ends must not hold up the others. */
  async #end(id: string, why: string): Promise<void> {
    const glance = this.#kept.get(id);
    if (glance !== undefined) {
      this.#kept.delete(id);
      glance.end(why);
      const done = glance.done.then(() => this.#ending.delete(id));
      this.#ending.set(id, done);
    }
    if (this.#kept.size === 0 && this.#ticker !== null) {
      clearInterval(this.#ticker);
      this.#ticker = null;
    }
    await this.#ended(id);
  }

  async #ended(id: string): Promise<void> {
    const ending = this.#ending.get(id);
    if (ending !== undefined) await Promise.race([ending, delay(LIMITS.endMs, undefined, { ref: false })]);
  }
}

/** One of them, while it runs. */
class Glance {
  readonly id: string;
  readonly #clock: VideoClock;
  readonly #attempt: Attempt;
  readonly #units = new UnitBuffer();
  readonly #first = deferred();
  #next = deferred();
  #newest: Picture | null = null;
  #decoding = false;
  #askedAt: number;

  constructor(id: string, source: VideoSource, { clock, log }: GlancesOptions) {
    this.id = id;
    this.#clock = clock;
    this.#askedAt = clock.micros();
    let isTold = false;
    this.#attempt = new Attempt({
      source,
      clock,
      fromKey: true,
      firstPictureMs: LIMITS.firstPictureMs,
      stallMs: LIMITS.stallMs,
      onLook: () => undefined,
      // The process goes on: what is shown and recorded is worth more than this one.
      onStuck: (why) => {
        if (!isTold) log.error(`video: ${why}`);
        isTold = true;
      },
      sink: () => ({
        keysOnly: true,
        wants: (at) => at - (this.#newest?.at ?? -Infinity) >= LIMITS.periodUs,
        onPicture: (picture) => this.#keep({ ...picture, frame: cloneFrame(picture.frame) }),
        onUnit: (unit) => {
          if (unit.key && !this.#decoding) void this.#decode(unit);
        },
      }),
    });
    this.#first.promise.catch(() => undefined); // told to whoever waits for it
    void this.#attempt.failed.then((why) => this.#first.reject(noPicture(id, why)));
    void this.done.then(() => {
      this.#units.close();
      this.#forget();
    });
    this.#attempt.start();
  }

  /** Resolves with its first picture. @throws ApiError E_NO_FRAME (rejects) */
  get first(): Promise<void> {
    return this.#first.promise;
  }

  /** Resolves when the camera has ended. */
  get done(): Promise<string> {
    return this.#attempt.done;
  }

  /** When somebody last wanted a picture, on the video clock. */
  get askedAt(): number {
    return this.#askedAt;
  }

  end(why: string): void {
    this.#attempt.end(why);
  }

  /** The frame is for the caller to free. @throws ApiError E_NO_FRAME */
  async picture(): Promise<Picture> {
    this.#askedAt = this.#clock.micros();
    if (this.#newest === null || this.#askedAt - this.#newest.at > LIMITS.freshMs * 1000)
      await Promise.race([
        this.#next.promise,
        this.#attempt.failed,
        delay(LIMITS.waitMs, undefined, { ref: false }),
      ]);
    const newest = this.#newest;
    if (newest === null) throw noPicture(this.id, await this.#attempt.failed);
    return { ...newest, frame: cloneFrame(newest.frame) };
  }

  async #decode(key: AccessUnit): Promise<void> {
    this.#decoding = true;
    this.#units.push(key);
    try {
      const picture = await this.#units.decode();
      if (picture !== null) this.#keep(picture);
    } catch (error) {
      this.end(messageOf(error));
    }
    this.#decoding = false;
  }

  #keep(picture: Picture): void {
    this.#forget();
    this.#newest = picture;
    this.#first.resolve();
    this.#next.resolve();
    this.#next = deferred();
  }

  #forget(): void {
    this.#newest?.frame.free();
    this.#newest = null;
  }
}

function noPicture(id: string, why: string): ApiError {
  return new ApiError('E_NO_FRAME', `The camera ${id} gives no picture: ${why}.`);
}
