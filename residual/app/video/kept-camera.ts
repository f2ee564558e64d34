import { ApiError, type ErrorCode, messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { type EngineStatus, MAIN_CAMERA, type ShownCamera } from '../../../shared/rpc/video.ts';
import type { EngineClient } from './engine-client.ts';

const DIED: ReadonlySet<ErrorCode> = new Set(['E_UPSTREAM', 'E_UPSTREAM_DOWN']);

interface KeptCameraOptions {
  readonly engine: EngineClient;
  /** The ids of the cameras that can be shown. */
  readonly known: ReadonlySet<string>;
  readonly log: Logger;
}

/** The camera that was chosen: it is shown again after a crash of svc-video. A node that starts shows that of `video.source`. */
export class KeptCamera {
  readonly #options: KeptCameraOptions;
  /** Null until svc-video has said which one it shows. */
  #chosen: string | null = null;

  constructor(options: KeptCameraOptions) {
    this.#options = options;
  }

  /** @throws ApiError E_NOT_FOUND, and as the call `camera` */
  async show(id: string): Promise<ShownCamera> {
    if (!this.#options.known.has(id)) throw new ApiError('E_NOT_FOUND', `No camera is called ${id}.`);
    const shown = await this.#options.engine.calls.camera({ id });
    this.#chosen = id;
    return shown;
  }

  /** Call it with each status of svc-video; `isNew` for the first one of a connection. */
  heard({ camera }: EngineStatus, isNew: boolean): void {
    this.#chosen ??= camera; // this process was restarted, and svc-video was not
    if (isNew && camera !== this.#chosen) void this.#again(this.#chosen);
  }

  async #again(id: string): Promise<void> {
    try {
      await this.#options.engine.calls.camera({ id });
    } catch (error) {
      // svc-video died again: its next connection asks for it once more.
      if (error instanceof ApiError && DIED.has(error.code)) return;
      if (this.#chosen === id) this.#chosen = MAIN_CAMERA;
      this.#options.log.error(`video: the camera ${id} is not shown any more: ${messageOf(error)}`);
    }
  }
}
