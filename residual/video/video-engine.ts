import { every } from '../../shared/async/every.ts';
import { ApiError } from '../../shared/errors.ts';
import { cloneFrame } from '../../shared/media/av.ts';
import type { AccessUnit, Picture, VideoClock } from '../../shared/media/picture.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { type Server, serverOf } from '../../shared/rpc/contract.ts';
import {
  type EngineStatus,
  type Profile,
  type RecordingStatus,
  type ShownCamera,
  type Snapshot,
  type SnapshotBox,
  VIDEO,
} from '../../shared/rpc/video.ts';
import { Decoding } from './decoder/decoding.ts';
import { UnitBuffer } from './decoder/unit-buffer.ts';
import type { Encoders } from './engine/encoders.ts';
import { encodeJpeg, type JpegOptions } from './engine/jpeg.ts';
import { fitWithin, SideEncode } from './engine/side-encode.ts';
import { SmallEncode } from './engine/small-encode.ts';
import { FrameServer } from './frames/frame-server.ts';
import { Glances } from './glances.ts';
import { LiveStreams } from './live/live-streams.ts';
import type { Outputs } from './outputs/outputs.ts';
import { Pipeline } from './pipeline.ts';
import { Recorder } from './recorder/recorder.ts';
import type { Camera } from './sources/source.ts';
import type { IceServers } from './viewers/ice-servers.ts';
import { type OpenViewer, Viewers } from './viewers/viewers.ts';

interface EngineOptions {
  /** Those that can be shown, the one of `video.source` first. */
  readonly cameras: readonly [Camera, ...Camera[]];
  readonly encoders: Encoders;
  readonly profile: Profile;
  readonly outputs: Outputs;
  readonly recordings: { readonly directory: string; readonly reserveBytes: number };
  readonly openViewer: OpenViewer;
  readonly iceServers: Pick<IceServers, 'list'>;
  readonly socketPath: string;
  readonly liveSocketPath: string;
  readonly framesSocketPath: string;
  readonly clock: VideoClock;
  readonly log: Logger;
  /** As `PipelineOptions.onStuck`. */
  readonly onStuck: (why: string) => void;
}

const STATUS_MS = 1000;
/** Who has asked for a snapshot may soon ask for the next. */
const SNAPSHOT_US = 10_000_000;

/** One pipeline and the users of its pictures: viewers, live streams, outputs, recorder, snapshot. */
export class Engine {
  readonly #options: EngineOptions;
  readonly #pipeline: Pipeline;
  readonly #viewers: Viewers;
  readonly #recorder: Recorder;
  readonly #small: SmallEncode;
  /** H.264 of a camera that sends H.265, for those who watch by a browser. */
  readonly #browser: SideEncode;
  readonly #frames: FrameServer;
  readonly #decoding: Decoding;
  readonly #live: LiveStreams;
  readonly #glances: Glances;
  readonly #units = new UnitBuffer();
  readonly #server: Server<typeof VIDEO>;
  #ticker: NodeJS.Timeout | null = null;
  #snapshotAt = -Infinity;

  constructor(options: EngineOptions) {
    this.#options = options;
    const { clock, log } = options;
    const requestKey = (): void => {
      this.#pipeline.requestKey();
      this.#browser.requestKey();
    };
    const now = (): number => clock.micros() / 1000;
    this.#pipeline = new Pipeline({
      camera: options.cameras[0],
      encoders: options.encoders,
      profile: options.profile,
      clock,
      log,
      onUnit: (unit) => this.#spread(unit),
      onPicture: (picture, number) => this.#show(picture, number),
      onReceived: (unit, number) => this.#decoding.offer(unit, number),
      needed: () => this.#needed,
      onState: () => this.#tell(),
      onStuck: options.onStuck,
    });
    this.#glances = new Glances({ clock, log });
    this.#small = new SmallEncode({
      log,
      onUnit: (unit) => this.#viewers.push('small', unit),
      now,
    });
    this.#browser = new SideEncode({
      what: 'for browsers',
      wanted: () => this.#sends265 && (this.#viewers.watched || this.#live.watched),
      profileFor: (size) => ({ ...options.profile, ...fitWithin(size, options.profile) }),
      fps: () => options.profile.fps,
      onUnit: (unit) => {
        if (this.#sends265) this.#watch(unit); // else another camera is shown since
      },
      now,
      log,
    });
    this.#frames = new FrameServer({
      socketPath: options.framesSocketPath,
      now,
      log,
    });
    this.#decoding = new Decoding({
      wanted: () => this.#small.wanted || this.#frames.wanted || this.#browser.wanted,
      onPicture: (picture, number) => {
        this.#show(picture, number);
        this.#browser.offer(picture);
      },
      now,
      log,
    });
    this.#viewers = new Viewers({
      open: options.openViewer,
      servers: options.iceServers,
      requestKey: (encode) => (encode === 'main' ? requestKey() : this.#small.requestKey()),
      onSmall: (kbps) => this.#small.want(kbps),
      onChange: () => this.#tell(),
      now,
      log,
    });
    this.#recorder = new Recorder({ ...options.recordings, clock, log, requestKey });
    this.#live = new LiveStreams({ socketPath: options.liveSocketPath, requestKey, clock, log });
    this.#server = serverOf(VIDEO, {
      path: options.socketPath,
      handlers: {
        status: () => this.status(),
        profile: async (params) => this.#pipeline.apply(params),
        limit: ({ bitrate_kbps: kbps, key, of = 'radio' }) => {
          this.#pipeline.limit(kbps, of);
          if (key) requestKey();
          return { done: true };
        },
        glance: async ({ id, width }) => this.#lookAt(this.#cameraOf(id), width),
        camera: async ({ id }) => this.#showCamera(id),
        snapshot: async ({ frame_id: number, boxes, width }) =>
          this.#snapshot(number ?? null, boxes ?? [], width),
        follow: ({ addresses }) => {
          // Told only when there is news: whoever calls this does so at each status.
          if (options.outputs.follow(addresses)) {
            requestKey();
            this.#tell();
          }
          return { done: true };
        },
        record_start: async ({ hint }) => this.#told(this.#record(hint)),
        record_stop: async () => this.#told(this.#recorder.stop()),
        viewer_open: async (params, signal) => this.#viewers.open(params, signal),
        viewer_trickle: async ({ id, fragment, if_match: ifMatch }) =>
          this.#viewers.trickle(id, fragment, ifMatch),
        viewers_end: ({ ids, why }) => {
          this.#viewers.end(ids, why);
          return { done: true };
        },
      },
      greeting: () => [['status', this.status()]],
      onError: (error) => log.error(`video: ${String(error)}`),
    });
  }

  async start(): Promise<void> {
    await this.#server.start();
    await this.#live.start();
    await this.#frames.start();
    this.#pipeline.start();
    this.#ticker = every(STATUS_MS, 'video status', () => {
      this.#browser.rest();
      this.#options.outputs.keepAlive();
      this.#tell();
    });
  }

  async stop(): Promise<void> {
    if (this.#ticker !== null) clearInterval(this.#ticker);
    this.#viewers.stop();
    if (this.#recorder.status() !== null) await this.#recorder.stop();
    await this.#pipeline.stop();
    await this.#glances.stop();
    await this.#small.stop();
    await this.#frames.stop();
    await this.#decoding.stop();
    this.#units.close();
    await this.#live.stop();
    await this.#browser.stop();
    await this.#server.stop();
    await this.#options.outputs.stop();
  }

  status(): EngineStatus {
    const { outputs } = this.#options;
    return {
      ...this.#pipeline.status(),
      recording: this.#recorder.status(),
      recording_problem: this.#recorder.problem,
      radio: outputs.radio,
      outputs: outputs.status,
      follow_port: outputs.followPort,
      small: this.#small.profile,
      viewers: this.#viewers.list,
    };
  }

  /** Whether somebody uses the pictures, or has just asked for one. */
  get #needed(): boolean {
    return (
      this.#viewers.watched ||
      this.#live.watched ||
      this.#recorder.status() !== null ||
      this.#frames.wanted ||
      this.#options.outputs.wanted ||
      this.#options.clock.micros() - this.#snapshotAt < SNAPSHOT_US
    );
  }

  /** A raw picture, for those who need one. */
  #show(picture: Picture, number: number): void {
    this.#small.offer(picture);
    this.#frames.offer(picture, number);
  }

  #spread(unit: AccessUnit): void {
    if (unit.codec === 'h264') this.#watch(unit);
    this.#options.outputs.send(unit);
    this.#recorder.push(unit);
    this.#units.push(unit);
  }

  /** H.264, which every browser plays. */
  #watch(unit: AccessUnit): void {
    this.#viewers.push('main', unit);
    this.#live.push(unit);
  }

  get #sends265(): boolean {
    return this.#pipeline.codec === 'h265';
  }

  async #told<T>(change: Promise<T>): Promise<T> {
    const result = await change;
    this.#tell();
    return result;
  }

  #tell(): void {
    this.#server.tell('status', this.status());
  }

  async #showCamera(id: string): Promise<ShownCamera> {
    const camera = this.#cameraOf(id);
    await this.#glances.without(id, async () => this.#pipeline.show(camera));
    return { id, source: this.#pipeline.status().source };
  }

  /** @throws ApiError E_NOT_FOUND */
  #cameraOf(id: string): Camera {
    const camera = this.#options.cameras.find((each) => each.id === id);
    if (camera === undefined) throw new ApiError('E_NOT_FOUND', `No camera is called ${id}.`);
    return camera;
  }

  /** A camera that is not shown. One that needs a part of this machine waits until the one that is shown has all it needs. */
  async #lookAt(camera: Camera, width: number | undefined): Promise<Snapshot> {
    const { camera: shown, state } = this.#pipeline.status();
    if (camera.id === shown) return this.#snapshot(null, [], width);
    if (camera.exclusive && (state === 'starting' || state === 'lost'))
      throw new ApiError('E_NO_FRAME', 'The camera that is shown has no picture yet.');
    return jpegOf(await this.#glances.at(camera), { width });
  }

  async #record(hint: string | null): Promise<RecordingStatus> {
    if (this.#pipeline.status().state !== 'running')
      throw new ApiError('E_NO_PIPELINE', 'Nothing to record: no video from the camera.');
    return this.#recorder.start(hint);
  }

  /** The raw picture if there is one; an encoded one is decoded. The frame is for the caller to free. */
  async #newest(): Promise<Picture | null> {
    this.#snapshotAt = this.#options.clock.micros();
    await this.#pipeline.fresh();
    const raw = this.#pipeline.latest;
    return raw === null ? this.#units.decode() : { ...raw, frame: cloneFrame(raw.frame) };
  }

  async #snapshot(
    number: number | null,
    boxes: readonly SnapshotBox[],
    width: number | undefined,
  ): Promise<Snapshot> {
    if (this.#pipeline.status().state !== 'running') throw new ApiError('E_NO_FRAME');
    const picture = number === null ? await this.#newest() : this.#frames.had(number);
    if (picture === null)
      throw new ApiError('E_NO_FRAME', number === null ? undefined : 'That picture is not kept any more.');
    return jpegOf(picture, { boxes, width });
  }
}

/** Frees the picture. */
async function jpegOf({ frame, capturedAt }: Picture, options: JpegOptions): Promise<Snapshot> {
  try {
    const jpeg = await encodeJpeg(frame, options);
    return { jpeg_base64: jpeg.toString('base64'), captured_at: new Date(capturedAt).toISOString() };
  } finally {
    frame.free();
  }
}
