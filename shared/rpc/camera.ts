import { type Method, method, shape } from './contract.ts';

/** The part of svc-link's contract by which svc-residual makes the node's video its MAVLink camera. */

/** What a ground station wants of the camera. */
const CAMERA_ACTIONS = ['picture', 'record_start', 'record_stop'] as const;
export type CameraAction = (typeof CAMERA_ACTIONS)[number];

/** Answered with `camera_done`. */
export interface CameraRequest {
  readonly id: number;
  readonly action: CameraAction;
}

/** The camera is there for this long after it was last told. */
export const CAMERA_MS = 4000;
const CALL_MS = 2000;

const whole = { type: 'integer', minimum: 0 } as const;
/** Bounded, so that it fits its field in MAVLink. Null: not measured. */
const measured = <const M extends number>(maximum: M) =>
  ({ type: ['number', 'null'], minimum: 0, maximum }) as const;

interface HeardStations {
  /** IP addresses of ground stations that are heard over UDP. */
  readonly ground_stations: readonly string[];
}
interface Done {
  readonly done: true;
}

const camera = {
  type: ['object', 'null'],
  required: [
    'name',
    'codec',
    'width',
    'height',
    'fps',
    'bitrate_kbps',
    'recording_ms',
    'storage',
    'follow_port',
    'outputs',
  ],
  properties: {
    /** The source of the pictures. */
    name: { type: 'string', maxLength: 128 },
    /** Null: not known. */
    codec: { enum: ['h264', 'h265', null] },
    width: measured(65_535),
    height: measured(65_535),
    fps: measured(1000),
    bitrate_kbps: measured(4_000_000),
    /** How long it has been recording; null: it is not. */
    recording_ms: measured(4_294_967_295),
    /** Free: without the reserve that recording keeps. */
    storage: {
      type: ['object', 'null'],
      required: ['total_bytes', 'free_bytes'],
      properties: { total_bytes: whole, free_bytes: whole },
      additionalProperties: false,
    },
    /** The port to which ground stations get RTP; null: they do not. */
    follow_port: { type: ['integer', 'null'], minimum: 1, maximum: 65_535 },
    outputs: {
      type: 'array',
      maxItems: 16,
      items: {
        type: 'object',
        required: ['kind', 'address', 'port', 'sending'],
        properties: {
          kind: { enum: ['rtp', 'mpegts'] },
          address: { type: 'string', maxLength: 64 },
          port: { type: 'integer', minimum: 1, maximum: 65_535 },
          sending: { type: 'boolean' },
        },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
} as const;

const told = method(
  { type: 'object', required: ['camera'], properties: { camera }, additionalProperties: false },
  shape<HeardStations>(),
  CALL_MS,
);
const done = method(
  {
    type: 'object',
    required: ['id', 'problem', 'picture'],
    properties: {
      id: whole,
      /** Null: it is done. */
      problem: {
        type: ['object', 'null'],
        required: ['code', 'detail'],
        properties: { code: { type: 'string' }, detail: { type: 'string' } },
        additionalProperties: false,
      },
      /** The picture that was stored: its path, and when it was taken (Unix time, ms). */
      picture: {
        type: ['object', 'null'],
        required: ['file', 'captured_at'],
        properties: { file: { type: 'string', maxLength: 200 }, captured_at: { ...whole, maximum: 8.64e15 } },
        additionalProperties: false,
      },
    },
    additionalProperties: false,
  },
  shape<Done>(),
  CALL_MS,
);

type ParamsOfMethod<M> = M extends Method<infer P, unknown> ? P : never;
/** The camera as it is at the moment. */
export type CameraState = NonNullable<ParamsOfMethod<typeof told>['camera']>;
export type CameraDone = ParamsOfMethod<typeof done>;

export const CAMERA_METHODS = {
  /** Told at each change and every second; null: there is no picture. */
  camera: told,
  camera_done: done,
} as const;
