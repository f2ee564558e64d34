import type { Principal } from '../../../shared/auth/principal.ts';
import type { HandlersOf } from '../../../shared/routes/handler.ts';
import type { videoRows } from '../../../shared/routes/video.ts';
import type { whepRows } from '../../../shared/routes/whep.ts';
import { type EngineStatus, MAIN_CAMERA } from '../../../shared/rpc/video.ts';
import type { Batch } from '../../../shared/schemas/vision.ts';
import { findCameras } from '../../../shared/video/cameras.ts';
import { CsiCameras } from '../../../shared/video/csi-cameras.ts';
import { recordingsDirectory } from '../../../shared/video/recordings-directory.ts';
import type { Base } from '../base.ts';
import { whepHandlers } from '../whep/whep-handlers.ts';
import { WhepService } from '../whep/whep-service.ts';
import { EngineClient } from './engine-client.ts';
import { RESERVED_HOLDER } from './leases.ts';
import { LiveStreams } from './live-streams.ts';
import { MavlinkCamera } from './mavlink-camera.ts';
import { Recordings } from './recordings.ts';
import { snapshot, videoHandlers } from './video-handlers.ts';
import { VideoService } from './video-service.ts';

export interface Video {
  readonly handlers: HandlersOf<typeof videoRows, 'residual'> & HandlersOf<typeof whepRows, 'residual'>;
  /** Ends the playbacks and live streams of these principals. @returns the other viewers */
  end(ids: ReadonlySet<string>): Promise<readonly Principal[]>;
  /** The last status of svc-video, or why there is none. */
  known(): { readonly is: EngineStatus } | { readonly unknown: string };
  /** The recorder, for others of this process. */
  readonly recording: {
    readonly start: () => Promise<unknown>;
    readonly stop: () => Promise<unknown>;
    /** Of the recording that runs, oldest first. */
    readonly files: () => readonly string[];
    /** The names of all stored files. */
    readonly kept: () => Promise<readonly string[]>;
  };
  /** The newest picture, as GET /api/video/snapshot.jpg gives it. @throws ApiError E_NO_FRAME, E_NO_PIPELINE */
  readonly picture: () => ReturnType<typeof snapshot>;
  /** The profile lease of the node's own vision. */
  readonly lease: {
    readonly hold: (seconds: number) => Promise<unknown>;
    readonly release: () => Promise<unknown>;
  };
  start(): void;
  stop(): void;
}

/** The video part of the residual: svc-video's client, profiles and leases, viewers, files. */
export async function openVideo(
  { config, paths, link, trees, log }: Base,
  /** The newest detections; null if there are none. */
  detections: () => Batch | null,
): Promise<Video> {
  const csi = new CsiCameras(() => performance.now());
  const { video } = config;
  const off = video.source === 'none';
  const onStatus = (status: EngineStatus, isNew: boolean): void => {
    service.heard(status, isNew);
    camera.heard(status);
  };
  const engine = new EngineClient(paths.videoSocket, onStatus, off);
  // svc-video has the same list.
  const configured = [{ id: MAIN_CAMERA, name: MAIN_CAMERA, source: video.source }, ...video.cameras];
  const recordings = new Recordings(recordingsDirectory(config, paths));
  const service = await VideoService.open({
    engine,
    profiles: { hero: video.hero, thumbnail: video.thumbnail },
    known: new Set(configured.map(({ id }) => id)),
    file: paths.videoProfile,
    now: () => performance.now(),
    wall: Date.now,
    sizeOf: async (name) => recordings.sizeOf(name),
    log,
  });
  const camera = new MavlinkCamera({
    link,
    engine,
    service,
    recordings,
    reserveBytes: video.recording.reserve_mb * 1e6,
    log,
  });
  const maxViewers = video.whep.max_viewers;
  const check = (): void => void service.checkRunning();
  const whep = new WhepService({ engine, maxViewers, check, others: () => live.count });
  const live = new LiveStreams({
    socketPath: paths.liveSocket,
    maxViewers,
    check,
    others: () => whep.count,
  });
  return {
    handlers: {
      ...videoHandlers({
        engine,
        service,
        recordings,
        configured,
        cameras: () => findCameras(trees.sys, trees.dev),
        csi: async (inUse) => csi.list(inUse),
        live,
        detections,
        maxViewers,
        off,
      }),
      ...whepHandlers(whep),
    },
    known: () =>
      engine.status === null
        ? { unknown: off ? 'video was off when the node started; restart it' : 'svc-video is not running' }
        : { is: engine.status },
    recording: {
      start: async () => service.startRecording(null),
      stop: async () => service.stopRecording(),
      files: () => engine.status?.recording?.files ?? [],
      kept: async () => recordings.names(),
    },
    picture: async () => snapshot(engine),
    lease: {
      hold: async (seconds) => service.holdOwn(seconds),
      release: async () => service.release(RESERVED_HOLDER),
    },
    end: async (ids) => [...live.endOf(ids), ...(await whep.endOf(ids))],
    start() {
      if (off) return;
      camera.start();
      engine.start();
    },
    stop() {
      camera.stop();
      live.stop();
      service.stop();
      engine.stop(); // this also ends the playbacks of the connection
    },
  };
}
