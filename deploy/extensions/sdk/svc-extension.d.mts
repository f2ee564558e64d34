import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';

/** The name and version of this SDK, as the node is told. */
export const SDK: string;

/** Why the node did not do what was asked: the message is its own text, `code` what stands before the first colon. */
export class NodeError extends Error {
  readonly code:
    | 'capability_denied'
    | 'allowlist_violation'
    | 'invalid_arguments'
    | 'not_available'
    | 'timeout'
    | 'closed'
    | 'busy'
    | 'too_large'
    | (string & {});
}

export interface ConnectOptions {
  /** Path of the node's socket; by default of SVC_PLUGIN_SOCKET. */
  readonly socket?: string;
  /** By default of SVC_PLUGIN_ID. */
  readonly id?: string;
  /** For every call, ms; 10 000 by default. */
  readonly timeoutMs?: number;
}

/** Anything that JSON can say, and bytes. */
export type Value =
  | null
  | boolean
  | number
  | string
  | Uint8Array
  | readonly Value[]
  | { readonly [name: string]: Value };

/** What `GET /api/telemetry` answers; what the vehicle has not told is null or left out. */
export interface Telemetry {
  readonly armed?: boolean | null;
  readonly mode?: string | null;
  /** Degrees; metres above the sea and above home. */
  readonly position?: {
    readonly lat: number | null;
    readonly lon: number | null;
    readonly alt_msl: number | null;
    readonly alt_rel: number | null;
    readonly heading: number | null;
  };
  readonly [group: string]: unknown;
}

export interface SeenThing {
  /** Pixels of the picture, from its upper left corner. */
  readonly bbox: {
    readonly x: number;
    readonly y: number;
    readonly width: number;
    readonly height: number;
  };
  /** At most 64 characters. */
  readonly class_label: string;
  /** 0 to 1. */
  readonly confidence: number;
  /** The same thing has the same number from picture to picture. */
  readonly track_id?: number | null;
}

/** What was seen in one picture. */
export interface SeenPicture {
  /** Unix time at which it was taken, ms. */
  readonly ts_ms: number;
  readonly frame_width: number;
  readonly frame_height: number;
  /** At most 100. */
  readonly detections: readonly SeenThing[];
  readonly model_id?: string | null;
  readonly camera_id?: string;
  readonly frame_id?: number;
  readonly latency_ms?: number | null;
}

/** As `WS /api/vision/detections/ws` tells it. */
export interface Detections extends Required<SeenPicture> {
  readonly v: 1;
  /** `svc-vision`, or the id of an extension. */
  readonly source: string;
  readonly detections: readonly (Required<SeenThing> & {
    /** Of the target that was designated; null: it is not it. */
    readonly lock_state: 'locked' | 'uncertain' | 'lost' | null;
  })[];
}

export type Part = 'mission' | 'fence' | 'rally';

/** A connection to the node. Every method that asks it throws `NodeError` when it refuses. */
export interface Extension {
  readonly id: string;
  readonly version: string;
  readonly profile: 'drone' | 'ground-station';
  /** The only folder that can be written to; it survives an update. */
  readonly dataDir: string;
  /** The capabilities that are granted now. They may be taken away at any moment. */
  readonly grants: ReadonlySet<string>;
  /** Its configuration now: what was set for this node before what was set for all. */
  readonly config: { readonly [key: string]: Value };

  call(method: string, args?: { readonly [name: string]: Value }, timeoutMs?: number): Promise<Value>;
  on(name: string, listener: (args: never) => unknown): this;
  ping(): Promise<Value>;
  /** `plugin.<id>.<name>` */
  topic(name: string): string;
  /** Publishes an event; a name without a dot is one of its own. Others need `event.publish`. */
  publish(name: string, payload: Value): Promise<Value>;
  /** What `GET /api/plugins/{id}/state` shows; publish it again at least every 10 s. 8 topics, 64 KiB together. */
  publishState(name: string, payload: Value): Promise<Value>;
  /** Needs `event.subscribe`. */
  subscribe(topics: readonly string[], listener: (payload: Value, topic: string) => unknown): Promise<Value>;
  /** Needs `telemetry.read`. */
  telemetry(
    options: { readonly rateHz?: number; readonly fields?: readonly string[] },
    listener: (telemetry: Telemetry) => unknown,
  ): Promise<Value>;
  /** Whole MAVLink frames, by message id. Needs `mavlink.read`. */
  mavlink(
    options: { readonly messages?: readonly number[] },
    listener: (frame: Uint8Array) => unknown,
  ): Promise<Value>;
  /** Needs `mavlink.write`. */
  sendMavlink(frame: Uint8Array): Promise<Value>;
  /**
   * Shows values below `extensions.<id>` in the telemetry for 10 s: 32 names, 2048 characters, 10 times a second. Needs
   * `telemetry.extend`.
   */
  extendTelemetry(values: {
    readonly [name: string]: number | boolean | string | null | readonly (number | null)[];
  }): Promise<Value>;
  /** As POST /api/command takes it; what the vehicle answers. Needs `command.send`. */
  sendCommand(cmd: string, args?: readonly (number | string)[]): Promise<Value>;
  /**
   * Is this component of the vehicle, declared in `mavlink_components`, while it is connected; the node sends the heartbeat. Needs
   * `mavlink.component.<kind>`. The result sends one of its frames; `onFrame` hears frames that are addressed to it.
   */
  component(
    id: number,
    onFrame?: (frame: Uint8Array) => unknown,
  ): Promise<(frame: Uint8Array) => Promise<Value>>;
  /** Offers a camera, which `video.source: extension:<id>` shows. Needs `sensor.camera.register`. */
  camera(format: 'mpegts' | 'mjpeg', handler: (stream: Socket) => unknown): Promise<Value>;
  /** The newest picture, `{ jpeg, captured_at }`; 5 a second. Needs `vision.frame.read`. */
  readFrame(): Promise<Value>;
  /** One value, null where there is none; without a key all of them. */
  getConfig(key?: string): Promise<Value>;
  setConfig(key: string, value: Value): Promise<Value>;
  /** Needs `mission.read`. */
  readMission(part?: Part): Promise<Value>;
  /** `{ items }` as `GET /api/mission` shows them, or a QGroundControl plan. Needs `mission.write`. */
  writeMission(plan: { readonly [name: string]: Value }, part?: Part): Promise<Value>;
  /** Needs `recording.write`. */
  startRecording(): Promise<Value>;
  /** Needs `recording.write`. */
  stopRecording(): Promise<Value>;
  /** At most 30 times a second. Needs `vision.detection.publish`. */
  publishDetections(batch: SeenPicture): Promise<Value>;
  /** What others have seen: the node's detector, other extensions. Needs `vision.detection.subscribe`. */
  detections(listener: (batch: Detections) => unknown): Promise<Value>;
  /** Answers a tool of the manifest; AI clients see it with `mcp.expose`. */
  tool(name: string, handler: (args: { readonly [name: string]: unknown }) => unknown): this;
  /** Serves `/api/plugins/{id}/x/…`; the request's path is what follows `x`. Needs `http: true` in the manifest. */
  serve(handler: RequestListener): Promise<Server>;
  /** Something to end on SIGTERM, within 5 s altogether. */
  onStop(work: () => unknown): this;
  close(): Promise<void>;
}

/** Connects to the node that started this process, and says hello. SIGTERM then ends the process in order. */
export function connect(options?: ConnectOptions): Promise<Extension>;
