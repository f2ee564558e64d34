import { ApiError } from '../../../shared/errors.ts';
import { FileReply, type HandlersOf, Reply } from '../../../shared/routes/handler.ts';
import { parseQuery } from '../../../shared/routes/query.ts';
import type { videoRows } from '../../../shared/routes/video.ts';
import { type Batch, CAMERA_ID } from '../../../shared/schemas/vision.ts';
import type { CameraList } from '../../../shared/video/cameras.ts';
import type { CsiList } from '../../../shared/video/csi-cameras.ts';
import type { EngineClient } from './engine-client.ts';
import { LEASE_SECONDS } from './leases.ts';
import type { LiveStreams } from './live-streams.ts';
import type { Recordings } from './recordings.ts';
import type { VideoService } from './video-service.ts';

interface VideoDeps {
  readonly engine: EngineClient;
  readonly service: VideoService;
  readonly recordings: Recordings;
  readonly live: LiveStreams;
  /** Those that can be shown. */
  readonly configured: readonly { readonly id: string; readonly name: string; readonly source: string }[];
  readonly cameras: () => CameraList;
  /** @param inUse one of them gives pictures */
  readonly csi: (inUse: boolean) => Promise<CsiList>;
  /** The newest detections; null if there are none. */
  readonly detections: () => Batch | null;
  readonly maxViewers: number;
  /** Video is disabled in the config. */
  readonly off: boolean;
}

type SnapshotParams = Parameters<EngineClient['calls']['snapshot']>[0];

/** The status of a pipeline that does not answer: all unknown. */
const UNKNOWN = {
  problem: null,
  camera: null,
  source: null,
  codec: null,
  encoder: null,
  encoder_reasons: null,
  reduced: null,
  profile: null,
  fps: null,
  bitrate_kbps: null,
  frames: null,
  dropped: null,
  last_frame_age_ms: null,
  restarts: null,
  idle: null,
  recording: null,
  recording_problem: null,
  radio: null,
  outputs: null,
  follow_port: null,
  small: null,
} as const;

export function videoHandlers(deps: VideoDeps): HandlersOf<typeof videoRows, 'residual'> {
  const { engine, service, recordings, live } = deps;
  return {
    'video.get': () => {
      const status = engine.status ?? { ...UNKNOWN, state: deps.off ? 'off' : 'down' };
      return {
        ...status,
        viewers: engine.viewers.length + live.count,
        // Not the playbacks' ids: who knows one could end it.
        viewer_paths: engine.viewers.map(({ owner: { kind }, path }) => ({ kind, ...path })),
        max_viewers: deps.maxViewers,
        whep_url: '/whep',
      };
    },

    'video.snapshot.get': async ({ query }) => {
      const { boxes, camera, width } = parseQuery(query) ?? {};
      const size = width === undefined ? {} : { width: Number(width) };
      const { jpeg, capturedAt } =
        camera === undefined || camera === engine.status?.camera
          ? await snapshot(engine, { ...size, ...(boxes === '1' ? boxesOf(deps.detections()) : {}) })
          : await glance(deps, { id: camera, ...size }, boxes === '1');
      return new Reply(200, jpeg, 'image/jpeg', { 'x-captured-at': capturedAt });
    },

    'video.snapshot.post': async () => {
      const { jpeg, capturedAt } = await snapshot(engine);
      return { ...(await recordings.storeSnapshot(jpeg, capturedAt)), captured_at: capturedAt };
    },

    'video.profile.get': async () => service.profile(),

    'video.profile.post': async ({ body: { profile, holder, lease_s: seconds } }) => {
      if (holder !== undefined) return service.hold(holder, profile, seconds ?? LEASE_SECONDS.default);
      if (seconds === undefined) return service.moveBase(profile);
      throw new ApiError('E_INVALID_VALUE', 'lease_s needs a holder.', {
        errors: [{ path: '/holder', message: 'is missing' }],
      });
    },

    'video.profile.delete': async ({ query }) => service.release(parseQuery(query)?.['holder'] ?? ''),

    'video.cameras.get': async () => {
      const { cameras, problem } = deps.cameras();
      const source = engine.status?.source ?? null;
      const csi = await deps.csi(source?.startsWith('libcamera:') ?? false);
      return {
        cameras: [...cameras, ...csi.cameras],
        source,
        problem,
        csi_problem: csi.problem,
        configured: deps.configured,
        camera_id: engine.status?.camera ?? null,
      };
    },

    'video.camera.put': async ({ body }) => {
      const { id, source } = await service.showCamera(body.camera_id);
      return { camera_id: id, source };
    },

    'video.record.start.post': async ({ body }) => service.startRecording(body.name ?? null),

    'video.record.stop.post': async () => service.stopRecording(),

    'video.recordings.get': async () => ({
      recordings: await recordings.list(),
      recording: engine.status?.recording ?? null,
      free_bytes: await recordings.freeBytes(),
    }),

    'video.recordings.name.get': async ({ params }) => {
      const { name, kind } = await recordings.find(params.name);
      return new FileReply(await recordings.open(name), kind === 'recording' ? 'video/mp4' : 'image/jpeg');
    },

    'video.live.mp4.get': async ({ principal }) => {
      const { body, codec, captured_at: capturedAt } = await live.open(principal);
      return new Reply(200, body, `video/mp4; codecs="${codec}"`, { 'x-captured-at': capturedAt });
    },

    'video.recordings.name.delete': async ({ params }) => {
      if (engine.status?.recording?.name === params.name)
        throw new ApiError(
          'E_RECORDING_ACTIVE',
          `${params.name} is being written. Stop the recording first.`,
        );
      await recordings.remove(params.name);
      return { name: params.name, deleted: true };
    },
  };
}

/**
 * The picture of these detections, with what is drawn into it.
 * @throws ApiError E_NO_DETECTOR without detections, or for those of another camera
 */
function boxesOf(batch: Batch | null): SnapshotParams {
  if (batch === null || batch.camera_id !== CAMERA_ID) throw new ApiError('E_NO_DETECTOR');
  const boxes = batch.detections.map(({ bbox, class_label: label, confidence, track_id: track }) => ({
    ...bbox,
    text: `${label} ${Math.round(confidence * 100)}%${track === null ? '' : ` #${track}`}`,
  }));
  return { frame_id: batch.frame_id, boxes };
}

/** @param boxes there are none: nothing looks at a camera that is not shown. @throws ApiError E_NOT_FOUND, E_NO_DETECTOR, as `snapshot` */
async function glance(
  { engine, configured }: VideoDeps,
  params: Parameters<EngineClient['calls']['glance']>[0],
  boxes: boolean,
): ReturnType<typeof snapshot> {
  if (!configured.some((camera) => camera.id === params.id))
    throw new ApiError('E_NOT_FOUND', `No camera is called ${params.id}.`);
  if (boxes) throw new ApiError('E_NO_DETECTOR', 'The detector looks at the camera that is shown.');
  return taken(engine.calls.glance(params));
}

/**
 * One picture, the newest unless `params` says which. @throws ApiError E_NO_FRAME, E_TIMEOUT: without a pipeline there is no picture either, so the code is the one
 * for pictures
 */
export async function snapshot(
  engine: EngineClient,
  params: SnapshotParams = {},
): Promise<{ readonly jpeg: Buffer; readonly capturedAt: string }> {
  return taken(engine.calls.snapshot(params));
}

async function taken(
  asked: ReturnType<EngineClient['calls']['snapshot']>,
): Promise<{ readonly jpeg: Buffer; readonly capturedAt: string }> {
  try {
    const { jpeg_base64, captured_at } = await asked;
    return { jpeg: Buffer.from(jpeg_base64, 'base64'), capturedAt: captured_at };
  } catch (error) {
    if (error instanceof ApiError && error.code === 'E_NO_PIPELINE')
      throw new ApiError('E_NO_FRAME', error.message, {}, error.headers);
    throw error;
  }
}
