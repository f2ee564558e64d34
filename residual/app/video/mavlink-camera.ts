import { ApiError, messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { CameraAction, CameraDone, CameraRequest, CameraState } from '../../../shared/rpc/camera.ts';
import type { EngineStatus } from '../../../shared/rpc/video.ts';
import type { LinkConnection } from '../link-connection.ts';
import type { EngineClient } from './engine-client.ts';
import type { Recordings } from './recordings.ts';
import { snapshot } from './video-handlers.ts';
import type { VideoService } from './video-service.ts';

interface MavlinkCameraOptions {
  readonly link: LinkConnection;
  readonly engine: EngineClient;
  readonly service: VideoService;
  readonly recordings: Recordings;
  /** Free space below which nothing is stored. */
  readonly reserveBytes: number;
  readonly log: Logger;
}

/**
 * Between svc-link, which is the camera for ground stations, and svc-video, which has the pictures: tells svc-link what camera
 * there is, tells svc-video which ground stations are heard, and carries out what they ask for. The two know nothing of each
 * other, and the link does not depend on this.
 */
export class MavlinkCamera {
  readonly #options: MavlinkCameraOptions;
  #unfollow: (() => void) | null = null;
  #telling = false;
  /** The newest status that came meanwhile. */
  #next: EngineStatus | null = null;
  #problem: string | null = null;

  constructor(options: MavlinkCameraOptions) {
    this.#options = options;
  }

  start(): void {
    this.#unfollow = this.#options.link.follow({ camera: (request) => void this.#serve(request) });
  }

  stop(): void {
    this.#unfollow?.();
  }

  /** Call it with each status of svc-video. */
  heard(status: EngineStatus): void {
    this.#next = status;
    if (!this.#telling) void this.#tell();
  }

  async #tell(): Promise<void> {
    this.#telling = true;
    try {
      for (let status = this.#next; status !== null; status = this.#next) {
        this.#next = null;
        if (this.#options.link.connected) await this.#pass(status);
      }
      this.#problem = null;
    } catch (error) {
      // svc-link or svc-video was just ended; the next status tries again.
      const problem = messageOf(error);
      if (problem !== this.#problem) this.#options.log.warn(`camera: ${problem}`);
      this.#problem = problem;
    } finally {
      this.#telling = false;
    }
  }

  async #pass(status: EngineStatus): Promise<void> {
    const camera = status.state === 'running' ? await this.#describe(status) : null;
    const { ground_stations: addresses } = await this.#options.link.calls.camera({ camera });
    if (status.follow_port !== null) await this.#options.engine.calls.follow({ addresses });
  }

  async #describe(status: EngineStatus): Promise<CameraState> {
    const { recording, profile, idle } = status;
    const space = await this.#options.recordings.space();
    return {
      name: (status.source ?? '').slice(0, 128),
      codec: status.codec,
      width: profile?.width ?? null,
      height: profile?.height ?? null,
      // What there will be once somebody watches.
      fps: idle ? (profile?.fps ?? null) : status.fps,
      bitrate_kbps: idle ? (profile?.bitrate_kbps ?? null) : status.bitrate_kbps,
      recording_ms: recording === null ? null : Math.round(recording.duration_seconds * 1000),
      storage:
        space === null
          ? null
          : { total_bytes: space.total, free_bytes: Math.max(0, space.free - this.#options.reserveBytes) },
      follow_port: status.follow_port,
      outputs: status.outputs.flatMap(({ kind, address, port, problem }) =>
        address === null ? [] : [{ kind, address, port, sending: problem === null }],
      ),
    };
  }

  async #serve({ id, action }: CameraRequest): Promise<void> {
    const { log } = this.#options;
    let problem: CameraDone['problem'] = null;
    let picture: CameraDone['picture'] = null;
    try {
      picture = await this.#act(action);
      log.info(`camera: ${action} for a ground station${picture === null ? '' : `: ${picture.file}`}`);
    } catch (error) {
      problem = { code: error instanceof ApiError ? error.code : 'E_INTERNAL', detail: messageOf(error) };
      log.warn(`camera: ${action} for a ground station: ${problem.detail}`);
    }
    await this.#options.link.calls
      .camera_done({ id, problem, picture })
      .catch((error: unknown) => log.warn(`camera: ${messageOf(error)}`));
  }

  /** @returns a picture that was stored. @throws ApiError */
  async #act(action: CameraAction): Promise<CameraDone['picture']> {
    const { engine, service, recordings, reserveBytes } = this.#options;
    switch (action) {
      case 'record_start':
        await service.startRecording(null);
        return null;
      case 'record_stop':
        await service.stopRecording();
        return null;
      case 'picture': {
        const space = await recordings.space();
        if (space !== null && space.free < reserveBytes) throw new ApiError('E_DISK_FULL');
        const { jpeg, capturedAt } = await snapshot(engine);
        const { name } = await recordings.storeSnapshot(jpeg, capturedAt);
        return { file: `/api/video/recordings/${name}`, captured_at: Date.parse(capturedAt) };
      }
    }
  }
}
