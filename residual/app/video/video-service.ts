import { readFile } from 'node:fs/promises';
import { ApiError, codeOf, messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type {
  EngineStatus,
  Profile,
  Recorded,
  RecordingStatus,
  ShownCamera,
} from '../../../shared/rpc/video.ts';
import type { EngineClient } from './engine-client.ts';
import { KeptCamera } from './kept-camera.ts';
import { KeptRecording } from './kept-recording.ts';
import { LeaseBook, type ProfileName } from './leases.ts';

interface AppliedProfile extends Profile {
  readonly profile: ProfileName;
  readonly base_profile: ProfileName;
  readonly leases: readonly {
    readonly holder: string;
    readonly profile: ProfileName;
    readonly lease_s: number;
    /** RFC 3339. */
    readonly expires_at: string;
  }[];
}

interface Applied {
  readonly name: ProfileName;
  readonly profile: Profile;
}

interface VideoServiceOptions {
  readonly engine: EngineClient;
  readonly profiles: Readonly<Record<ProfileName, Profile>>;
  /** The ids of the cameras that can be shown. */
  readonly known: ReadonlySet<string>;
  /** The file with the base profile. */
  readonly file: string;
  /** Monotonic clock, ms. */
  readonly now: () => number;
  /** Unix time, ms. */
  readonly wall: () => number;
  /** The size of a stored recording, bytes; 0 for one that was deleted. */
  readonly sizeOf: (name: string) => Promise<number>;
  readonly log: Logger;
}

/** Keeps the encoder at the profile of the leases or the base profile, also after a restart of svc-video. */
export class VideoService {
  readonly #options: VideoServiceOptions;
  readonly #leases: LeaseBook;
  /** What svc-video confirmed last; null while that is unknown. */
  #applied: Applied | null = null;
  #applying: Promise<void> | null = null;
  #lapse: NodeJS.Timeout | null = null;
  readonly #recording: KeptRecording;
  readonly #camera: KeptCamera;

  private constructor(options: VideoServiceOptions, base: ProfileName) {
    this.#options = options;
    this.#leases = new LeaseBook(base, options.now);
    this.#recording = new KeptRecording(options);
    this.#camera = new KeptCamera(options);
  }

  static async open(options: VideoServiceOptions): Promise<VideoService> {
    return new VideoService(options, await readBase(options.file, options.log));
  }

  stop(): void {
    if (this.#lapse !== null) clearTimeout(this.#lapse);
  }

  /** Call it with each status of svc-video. */
  heard(status: EngineStatus, isNew: boolean): void {
    if (isNew) this.#applied = null;
    this.#recording.heard(status, isNew);
    this.#camera.heard(status, isNew);
    if (status.state !== 'running' || status.profile === null) return;
    if (this.#applied === null && this.#applying === null) this.#follow();
  }

  /** @throws ApiError E_NO_PIPELINE, E_TIMEOUT */
  async profile(): Promise<AppliedProfile> {
    this.#check();
    return this.#apply();
  }

  /** @throws ApiError E_NO_PIPELINE, E_TIMEOUT, E_STORE */
  async moveBase(profile: ProfileName): Promise<AppliedProfile> {
    this.#check();
    try {
      await writeAtomic(this.#options.file, JSON.stringify({ base_profile: profile }), 0o600);
    } catch (error) {
      throw new ApiError('E_STORE', `The base profile cannot be stored: ${messageOf(error)}.`);
    }
    this.#leases.moveBase(profile);
    return this.#apply();
  }

  /** @throws ApiError E_NO_PIPELINE, E_TIMEOUT, E_INVALID_VALUE, E_RATE_LIMITED */
  async hold(holder: string, profile: ProfileName, seconds: number): Promise<AppliedProfile> {
    this.#check();
    this.#leases.hold(holder, profile, seconds);
    return this.#apply();
  }

  /** The lease of the node's own vision; `release` ends it. @throws ApiError E_NO_PIPELINE, E_TIMEOUT */
  async holdOwn(seconds: number): Promise<AppliedProfile> {
    this.#check();
    this.#leases.holdOwn(seconds);
    return this.#apply();
  }

  /** @throws ApiError E_NO_PIPELINE, E_TIMEOUT */
  async release(holder: string): Promise<AppliedProfile> {
    this.#leases.release(holder);
    this.#check();
    return this.#apply();
  }

  /** @param hint goes into the name */
  async startRecording(hint: string | null): Promise<RecordingStatus> {
    return this.#recording.start(hint);
  }

  /** @throws ApiError E_NOT_FOUND, E_BUSY, E_NO_PIPELINE, E_TIMEOUT; what was shown is shown on then */
  async showCamera(id: string): Promise<ShownCamera> {
    return this.#camera.show(id);
  }

  async stopRecording(): Promise<Recorded> {
    return this.#recording.stop();
  }

  /** @throws ApiError E_NO_PIPELINE when no pictures come */
  checkRunning(): EngineStatus {
    const status = this.#options.engine.status;
    if (status === null) throw this.#options.engine.away;
    if (status.state !== 'running')
      throw new ApiError('E_NO_PIPELINE', status.problem ?? `The camera is ${status.state}.`);
    return status;
  }

  /** Called before any change: a lease without an encoder would have no effect. */
  #check(): void {
    const status = this.checkRunning();
    if (status.encoder === null)
      throw new ApiError(
        'E_NO_PIPELINE',
        'The video comes encoded from the camera or the drone. Set its profile there.',
      );
  }

  async #apply(): Promise<AppliedProfile> {
    this.#schedule();
    const applied = await this.#settled();
    const { now, wall } = this.#options;
    return {
      profile: applied.name,
      ...applied.profile,
      base_profile: this.#leases.base,
      leases: this.#leases.live().map(({ holder, profile, lease_s, expiresAt }) => ({
        holder,
        profile,
        lease_s,
        expires_at: new Date(wall() + Math.max(0, expiresAt - now())).toISOString(),
      })),
    };
  }

  /** One call at a time, until svc-video has what is wanted by then. */
  async #settled(): Promise<Applied> {
    for (;;) {
      const name = this.#leases.wanted;
      if (this.#applied?.name === name) return this.#applied;
      this.#applying ??= this.#send(name).finally(() => {
        this.#applying = null;
      });
      await this.#applying;
    }
  }

  async #send(name: ProfileName): Promise<void> {
    // A call that fails may have had its effect or not: the next status tries again.
    this.#applied = null;
    const profile = await this.#options.engine.calls.profile(this.#options.profiles[name]);
    this.#applied = { name, profile };
  }

  /** When the next lease ends, the encoder changes back by itself. */
  #schedule(): void {
    if (this.#lapse !== null) clearTimeout(this.#lapse);
    const next = this.#leases.live()[0];
    this.#lapse =
      next === undefined ? null : setTimeout(() => this.#follow(), next.expiresAt - this.#options.now());
  }

  #follow(): void {
    this.#apply().catch((error: unknown) => {
      this.#options.log.warn(`video profile: ${messageOf(error)}`); // the next status tries again
    });
  }
}

async function readBase(file: string, log: Logger): Promise<ProfileName> {
  try {
    const stored: unknown = JSON.parse(await readFile(file, 'utf8'));
    const base =
      typeof stored === 'object' && stored !== null && 'base_profile' in stored ? stored.base_profile : null;
    if (base === 'hero' || base === 'thumbnail') return base;
    log.error(`video: ${file} has no base profile; using hero`);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') log.error(`video: ${file}: ${messageOf(error)}; using hero`);
  }
  return 'hero';
}
