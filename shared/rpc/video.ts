import type { FromSchema } from 'json-schema-to-ts';
import { PRINCIPAL_KINDS, type Principal } from '../auth/principal.ts';
import { SCOPES } from '../auth/scopes.ts';
import type { Made } from '../schemas/made.ts';
import type { recordStarted, videoStatus } from '../schemas/video.ts';
import { bbox, MAX_DETECTIONS } from '../schemas/vision.ts';
import { type Contract, method, shape } from './contract.ts';

/** The settings of the encoder. */
export type Profile = NonNullable<Made<typeof videoStatus>['profile']>;

/** A hardware encoder that was not taken, and why. */
export type PassedEncoder = NonNullable<Made<typeof videoStatus>['encoder_reasons']>[number];

/** As it goes to the radio, the outputs and the disk. */
export type VideoCodec = 'h264' | 'h265';

/** `searching`: no camera was found; `lost`: it failed and is tried again; `off`: disabled in the config. */
export type PipelineState = 'off' | 'searching' | 'starting' | 'running' | 'lost';

export interface PipelineStatus {
  readonly state: PipelineState;
  /** Why it is lost. */
  readonly problem: string | null;
  /** The id of the camera that is shown. */
  readonly camera: string;
  readonly source: string | null;
  /** Null before the first frame. */
  readonly codec: VideoCodec | null;
  /** Null if the source encodes itself, and before the first frame. */
  readonly encoder: string | null;
  /** Those that were not taken; null as for `encoder`. */
  readonly encoder_reasons: readonly PassedEncoder[] | null;
  /** The present settings of the encoder; null as for `encoder`. */
  readonly profile: Profile | null;
  /** Why the rate or the size is below the profile; null: it is not. */
  readonly reduced: string | null;
  /** Measured over two seconds; null when nothing comes. */
  readonly fps: number | null;
  readonly bitrate_kbps: number | null;
  readonly frames: number;
  /** Pictures that were not encoded because the encoder was still busy. */
  readonly dropped: number;
  readonly last_frame_age_ms: number | null;
  readonly restarts: number;
  /** Nobody needs the pictures: one a second is encoded. */
  readonly idle: boolean;
}

export type RecordingStatus = Made<typeof recordStarted>;

export interface Recorded extends RecordingStatus {
  readonly stopped_at: string;
}

/** Packets to one receiver. */
export interface SentStatus {
  /** `host:port`. */
  readonly to: string;
  readonly packets: number;
  readonly bytes: number;
  /** Packets that the kernel did not accept. */
  readonly failed: number;
  /** Why nothing goes there at the moment. */
  readonly problem: string | null;
}

export interface OutputStatus extends SentStatus {
  readonly kind: 'rtp' | 'mpegts';
  /** The address behind a name; null while it is not known. */
  readonly address: string | null;
  readonly port: number;
  /** It is there because a ground station is heard, not because of `video.outputs`. */
  readonly followed: boolean;
}

/** Ground stations that may be followed at a time. */
export const MAX_FOLLOWED = 8;
/** A ground station is followed for this long after it was last named. */
export const FOLLOW_MS = 5000;

/** What is known of the network path to a viewer; null: not measured. */
export type ViewerPath = Omit<NonNullable<Made<typeof videoStatus>['viewer_paths']>[number], 'kind'>;

/** A STUN or TURN server with credentials that are good now; null where it needs none. */
export interface IceServer {
  readonly urls: readonly string[];
  readonly username: string | null;
  readonly credential: string | null;
}

export interface ViewerOpened {
  /** SDP. */
  readonly answer: string;
  /** Of the ICE session. */
  readonly etag: string;
  /** For the viewer. */
  readonly ice_servers: readonly IceServer[];
}

export interface Trickled {
  /** Our side of an ICE restart, `application/trickle-ice-sdpfrag`; null where candidates were taken. */
  readonly restarted: string | null;
  readonly etag: string;
  readonly ice_servers: readonly IceServer[];
}

/** One WebRTC playback. */
export interface ViewerStatus {
  readonly id: string;
  readonly owner: Principal;
  readonly path: ViewerPath;
}

export interface EngineStatus extends PipelineStatus {
  readonly recording: RecordingStatus | null;
  /** Why the last recording ended by itself. */
  readonly recording_problem: string | null;
  readonly radio: SentStatus | null;
  /** Those of the config first. */
  readonly outputs: readonly OutputStatus[];
  /** The port of ground stations that are followed (`video.follow_gcs`); null: none is. */
  readonly follow_port: number | null;
  /** The second encode, for viewers on thin paths; null while no viewer needs it. */
  readonly small: Profile | null;
  /** In the order in which they came. */
  readonly viewers: readonly ViewerStatus[];
}

export interface Snapshot {
  readonly jpeg_base64: string;
  /** RFC 3339 with milliseconds. */
  readonly captured_at: string;
}

export interface ShownCamera {
  readonly id: string;
  readonly source: string | null;
}

/** What is drawn into a snapshot: a rectangle in pixels of the camera's picture, and a word. */
const snapshotBox = {
  ...bbox,
  required: [...bbox.required, 'text'],
  properties: { ...bbox.properties, text: { type: 'string', maxLength: 96 } },
} as const;
export type SnapshotBox = FromSchema<typeof snapshotBox>;

/** The answer of a success without data. */
export interface Done {
  readonly done: true;
}

/** The id of the camera in `video.source`; those of `video.cameras` have others. */
export const MAIN_CAMERA = 'main';

const NOTHING = { type: 'object', additionalProperties: false } as const;
const text = { type: 'string' } as const;
const whole = { type: 'integer', minimum: 1 } as const;
const id = { type: 'string', minLength: 1, maxLength: 64 } as const;
const CALL_MS = 5000;
/** Two tries of a camera, and an end of the present one in between. */
const CAMERA_MS = 25_000;
/** One try, within what a read may take. */
const GLANCE_MS = 9000;

/** The contract of svc-video on `video.sock`. Errors: E_NO_PIPELINE while no pictures come. */
export const VIDEO = {
  server: 'svc-video',
  methods: {
    status: method(NOTHING, shape<EngineStatus>(), CALL_MS),
    /** Answers with the encoder's settings when they are in use. */
    profile: method(
      {
        type: 'object',
        required: ['width', 'height', 'fps', 'bitrate_kbps'],
        properties: { width: whole, height: whole, fps: whole, bitrate_kbps: whole },
        additionalProperties: false,
      },
      shape<Profile>(),
      CALL_MS,
    ),
    /** The most that the radio takes, or a metered uplink, whatever the profile says; the lower of both counts. `key`: the next picture is a key frame. */
    limit: method(
      {
        type: 'object',
        required: ['bitrate_kbps', 'key'],
        properties: {
          bitrate_kbps: whole,
          key: { type: 'boolean' },
          of: { enum: ['radio', 'uplink'], description: 'radio unless said' },
        },
        additionalProperties: false,
      },
      shape<Done>(),
      CALL_MS,
    ),
    /** Shows another camera; nothing changes if it gives no picture. Errors: E_NOT_FOUND, E_BUSY. */
    camera: method(
      { type: 'object', required: ['id'], properties: { id }, additionalProperties: false },
      shape<ShownCamera>(),
      CAMERA_MS,
    ),
    /** `frame_id`: this picture, which went over `frames.sock` just now, instead of the newest. `width`: no wider than this, pixels. Errors: E_NO_FRAME. */
    snapshot: method(
      {
        type: 'object',
        properties: {
          frame_id: { type: 'integer', minimum: 1 },
          boxes: { type: 'array', maxItems: MAX_DETECTIONS, items: snapshotBox },
          width: whole,
        },
        additionalProperties: false,
      },
      shape<Snapshot>(),
      CALL_MS,
    ),
    /** A picture of any camera; one that is not shown runs for that. Errors: E_NOT_FOUND, E_BUSY, E_NO_FRAME. */
    glance: method(
      {
        type: 'object',
        required: ['id'],
        properties: { id, width: whole },
        additionalProperties: false,
      },
      shape<Snapshot>(),
      GLANCE_MS,
    ),
    /** `hint` goes into the file's name. Errors: E_RECORDING_ACTIVE, E_DISK_FULL, E_STORE. */
    record_start: method(
      {
        type: 'object',
        required: ['hint'],
        properties: { hint: { type: ['string', 'null'] } },
        additionalProperties: false,
      },
      shape<RecordingStatus>(),
      CALL_MS,
    ),
    /** Sends RTP to these ground stations and to no other, for FOLLOW_MS; nothing without `video.follow_gcs`. */
    follow: method(
      {
        type: 'object',
        required: ['addresses'],
        properties: {
          addresses: {
            type: 'array',
            maxItems: MAX_FOLLOWED,
            items: { type: 'string', format: 'ip-address' },
          },
        },
        additionalProperties: false,
      },
      shape<Done>(),
      CALL_MS,
    ),
    /** Errors: E_RECORDING_NOT_ACTIVE. */
    record_stop: method(NOTHING, shape<Recorded>(), CALL_MS),
    /**
     * Answers an SDP offer; from then on the viewer is listed in `status`, and ends with the connection that it was opened on.
     * The caller decides who may watch, and how many. Errors: E_BAD_REQUEST.
     */
    viewer_open: method(
      {
        type: 'object',
        required: ['id', 'owner', 'offer'],
        properties: {
          id,
          /** A Principal; it is only stored. */
          owner: {
            type: 'object',
            required: ['kind', 'id', 'scopes'],
            properties: {
              kind: { enum: PRINCIPAL_KINDS },
              id: text,
              scopes: { anyOf: [{ type: 'null' }, { type: 'array', items: { enum: SCOPES } }] },
            },
            additionalProperties: false,
          },
          offer: text,
        },
        additionalProperties: false,
      },
      shape<ViewerOpened>(),
      CALL_MS,
    ),
    /**
     * An `application/trickle-ice-sdpfrag` body; an `if_match` of `*` restarts ICE. Errors: E_NOT_FOUND, E_BAD_REQUEST, E_BUSY,
     * E_PRECONDITION.
     */
    viewer_trickle: method(
      {
        type: 'object',
        required: ['id', 'fragment', 'if_match'],
        properties: { id, fragment: text, if_match: { type: ['string', 'null'] } },
        additionalProperties: false,
      },
      shape<Trickled>(),
      CALL_MS,
    ),
    /** Ends those that exist; `why` is for the log. */
    viewers_end: method(
      {
        type: 'object',
        required: ['ids', 'why'],
        properties: { ids: { type: 'array', items: id }, why: text },
        additionalProperties: false,
      },
      shape<Done>(),
      CALL_MS,
    ),
  },
  events: {
    /**
     * At once on connect, every second, when pictures begin to come or come no more, and at each change of the recording and of
     * the viewers, before its answer.
     */
    status: shape<EngineStatus>(),
  },
} as const satisfies Contract;
