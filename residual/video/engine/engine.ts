import { every } from '../../../shared/async/every.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { RpcServer } from '../../../shared/rpc/rpc.ts';
import type { EngineStatus, Snapshot } from '../protocol.ts';
import { Recorder } from '../recorder/recorder.ts';
import type { VideoSource } from '../sources/source.ts';
import { cloneFrame } from './av.ts';
import type { EncoderChoice } from './encoder.ts';
import { encodeJpeg } from './jpeg.ts';
import { MediaServer } from './media-server.ts';
import type { AccessUnit, Profile, VideoClock } from './picture.ts';
import { Pipeline } from './pipeline.ts';
import type { RadioSender } from './radio-sender.ts';
import { UnitBuffer } from './unit-buffer.ts';

export interface EngineOptions {
  readonly open: () => VideoSource | null;
  readonly encoder: EncoderChoice;
  readonly profile: Profile;
  readonly radio: RadioSender | null;
  readonly recordings: { readonly directory: string; readonly reserveBytes: number };
  readonly controlSocket: string;
  readonly mediaSocket: string;
  readonly clock: VideoClock;
  readonly log: Logger;
}

const STATUS_MS = 1000;

/** One pipeline and all that lives on its pictures: the residual's viewers, the radio, the recorder, the snapshot. */
export class Engine {
  readonly #options: EngineOptions;
  readonly #pipeline: Pipeline;
  readonly #media: MediaServer;
  readonly #recorder: Recorder;
  readonly #units = new UnitBuffer();
  readonly #server: RpcServer;
  #ticker: NodeJS.Timeout | null = null;

  constructor(options: EngineOptions) {
    this.#options = options;
    const { clock, log } = options;
    const requestKey = (): void => this.#pipeline.requestKey();
    this.#pipeline = new Pipeline({
      open: options.open,
      encoder: options.encoder,
      profile: options.profile,
      clock,
      log,
      onUnit: (unit) => this.#spread(unit),
    });
    this.#media = new MediaServer(options.mediaSocket, requestKey);
    this.#recorder = new Recorder({ ...options.recordings, clock, log, requestKey });
    this.#server = new RpcServer({
      path: options.controlSocket,
      methods: {
        status: () => this.status(),
        profile: async (params) => this.#pipeline.apply(profileOf(params)),
        key: () => {
          requestKey();
          return true;
        },
        snapshot: async () => this.#snapshot(),
        record_start: async (params) => this.#told(this.#record(params)),
        record_stop: async () => this.#told(this.#recorder.stop()),
      },
      greeting: () => [['status', this.status()]],
      onError: (error) => log.error(`video: ${String(error)}`),
    });
  }

  async start(): Promise<void> {
    await this.#media.start();
    await this.#server.start();
    this.#pipeline.start();
    this.#ticker = every(STATUS_MS, 'video status', () => this.#server.broadcast('status', this.status()));
  }

  async stop(): Promise<void> {
    if (this.#ticker !== null) clearInterval(this.#ticker);
    if (this.#recorder.status() !== null) await this.#recorder.stop();
    await this.#pipeline.stop();
    await this.#server.stop();
    await this.#media.stop();
    this.#options.radio?.stop();
  }

  status(): EngineStatus {
    return {
      ...this.#pipeline.status(),
      recording: this.#recorder.status(),
      recording_problem: this.#recorder.problem,
      radio: this.#options.radio?.status() ?? null,
      consumers: this.#media.clients,
      consumer_drops: this.#media.drops,
    };
  }

  #spread(unit: AccessUnit): void {
    this.#media.push(unit);
    this.#options.radio?.send(unit);
    this.#recorder.push(unit);
    this.#units.push(unit);
  }

  async #told<T>(change: Promise<T>): Promise<T> {
    const result = await change;
    this.#server.broadcast('status', this.status());
    return result;
  }

  async #record(params: unknown): Promise<unknown> {
    const hint = typeof params === 'object' && params !== null && 'hint' in params ? params.hint : null;
    if (this.#pipeline.status().state !== 'running')
      throw new ApiError('E_NO_PIPELINE', 'There is nothing to record: no pictures come from the camera.');
    return this.#recorder.start(typeof hint === 'string' ? hint : null);
  }

  /** The raw picture where we have it; what came encoded is decoded for it. */
  async #snapshot(): Promise<Snapshot> {
    if (this.#pipeline.status().state !== 'running') throw new ApiError('E_NO_FRAME');
    const raw = this.#pipeline.latest;
    const picture = raw === null ? await this.#units.decode() : { ...raw, frame: cloneFrame(raw.frame) };
    if (picture === null) throw new ApiError('E_NO_FRAME');
    try {
      const jpeg = await encodeJpeg(picture.frame);
      return {
        jpeg_base64: jpeg.toString('base64'),
        captured_at: new Date(picture.capturedAt).toISOString(),
      };
    } finally {
      picture.frame.free();
    }
  }
}

function profileOf(params: unknown): Profile {
  const given: Partial<Record<keyof Profile, unknown>> =
    typeof params === 'object' && params !== null ? params : {};
  const { width, height, fps, bitrate_kbps } = given;
  if (
    typeof width !== 'number' ||
    typeof height !== 'number' ||
    typeof fps !== 'number' ||
    typeof bitrate_kbps !== 'number'
  )
    throw new ApiError('E_INVALID_VALUE', 'a profile is {width, height, fps, bitrate_kbps}');
  return { width, height, fps, bitrate_kbps };
}
