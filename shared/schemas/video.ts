import type { JsonSchema } from './json-schema.ts';

/** Bodies and answers of the video routes. */

const nullable = <const T extends 'boolean' | 'string' | 'integer' | 'number'>(
  type: T,
  description: string,
) => ({ type: [type, 'null'], description }) as const;

const profileName = { enum: ['hero', 'thumbnail'] } as const;
const holder = {
  type: 'string',
  minLength: 1,
  maxLength: 64,
  pattern: '^[A-Za-z0-9._:-]+$',
  not: { const: 'vision' },
  'x-says': 'must be a name of letters, digits and . _ : -, and not vision, which is the node itself',
  description: "who holds the lease; `vision` is the node's own",
} as const;

export const profileRequest = {
  title: 'VideoProfileRequest',
  examples: [{ profile: 'hero', holder: 'page', lease_s: 30 }, { profile: 'thumbnail' }],
  type: 'object',
  required: ['profile'],
  'x-says': 'has lease_s and no holder: say who holds the lease',
  anyOf: [{ properties: { holder: true }, required: ['holder'] }, { properties: { lease_s: false } }],
  properties: {
    profile: { ...profileName, description: 'without a holder: the base profile' },
    holder,
    lease_s: { type: 'integer', minimum: 5, maximum: 120, default: 30, description: 'seconds' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const releaseQuery = {
  type: 'object',
  required: ['holder'],
  properties: { holder },
  additionalProperties: false,
} as const satisfies JsonSchema;

const pixels = {
  type: 'string',
  pattern: '^[1-9][0-9]{1,3}$',
  examples: ['320'],
  'x-says': 'must be a number of pixels from 10 to 9999',
  description: 'the picture is no wider than this, in pixels; without it, as the camera gives it',
} as const;

export const snapshotQuery = {
  type: 'object',
  properties: {
    boxes: {
      enum: ['0', '1'],
      description: 'draws the newest detections on their own picture',
    },
    camera: {
      type: 'string',
      minLength: 1,
      maxLength: 32,
      description: 'the id of a camera; one that is not shown runs for this and for 5 s more',
    },
    width: pixels,
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const pictureFigures = {
  width: { type: 'integer' },
  height: { type: 'integer' },
  fps: { type: 'integer' },
  bitrate_kbps: { type: 'integer' },
} as const;

export const profileAnswer = {
  title: 'VideoProfile',
  type: 'object',
  required: ['profile', 'width', 'height', 'fps', 'bitrate_kbps', 'base_profile', 'leases'],
  properties: {
    profile: { ...profileName, description: 'the profile that the encoder uses' },
    ...pictureFigures,
    base_profile: profileName,
    leases: {
      type: 'array',
      items: {
        type: 'object',
        required: ['holder', 'profile', 'lease_s', 'expires_at'],
        properties: {
          holder: { type: 'string' },
          profile: profileName,
          lease_s: { type: 'integer' },
          expires_at: { type: 'string', description: 'RFC 3339' },
        },
      },
    },
  },
} as const satisfies JsonSchema;

const recording = {
  title: 'ActiveRecording',
  type: ['object', 'null'],
  required: ['name', 'started_at', 'files', 'duration_seconds', 'size_bytes'],
  properties: {
    name: { type: 'string', description: 'the file that is written at the moment' },
    started_at: { type: 'string', description: 'RFC 3339' },
    files: {
      type: 'array',
      items: { type: 'string' },
      description:
        "all its files; a change of the picture's size begins another, and so does a restart of svc-video",
    },
    duration_seconds: { type: 'number', description: 'of all its files' },
    size_bytes: { type: 'integer', description: 'of all its files' },
  },
} as const;

export const videoStatus = {
  title: 'VideoStatus',
  type: 'object',
  required: [
    'state',
    'source',
    'encoder',
    'fps',
    'bitrate_kbps',
    'frames',
    'dropped',
    'viewers',
    'recording',
  ],
  properties: {
    state: {
      enum: ['off', 'down', 'searching', 'starting', 'running', 'lost'],
      description:
        'off: the config wants none; down: svc-video does not run; searching: no camera; lost: it failed and is tried again',
    },
    problem: nullable('string', 'why it is lost'),
    camera: nullable('string', 'the id of the camera that is shown: main, or one of `video.cameras`'),
    source: nullable('string', 'where the pictures come from'),
    codec: {
      enum: ['h264', 'h265', null],
      description:
        'of the pictures that go to the radio, the outputs and the disk: h265 where the camera sends that',
    },
    encoder: nullable('string', 'null if the pictures are already encoded'),
    encoder_reasons: {
      type: ['array', 'null'],
      description:
        'hardware encoders that `video.encoder` asks for and that were not taken; null before the first picture',
      items: {
        type: 'object',
        required: ['encoder', 'reason'],
        properties: { encoder: { type: 'string' }, reason: { type: 'string' } },
      },
    },
    profile: {
      type: ['object', 'null'],
      required: ['width', 'height', 'fps', 'bitrate_kbps'],
      properties: pictureFigures,
      description: 'what is encoded at the moment: below the profile while `reduced` says why',
    },
    reduced: nullable(
      'string',
      'why the rate, or the size too, is below the profile: the processor is too slow for it. It comes back by itself',
    ),
    fps: nullable('number', 'measured over two seconds'),
    bitrate_kbps: nullable('integer', 'measured over two seconds'),
    frames: nullable('integer', 'since svc-video started'),
    dropped: nullable('integer', 'pictures skipped because the encoder was too busy'),
    last_frame_age_ms: nullable('integer', 'null before the first'),
    restarts: nullable('integer', 'of the source'),
    idle: nullable(
      'boolean',
      'nobody needs the pictures: one a second is encoded, none is asked for of the landscape',
    ),
    viewers: { type: 'integer', description: 'WebRTC sessions and live streams' },
    viewer_paths: {
      type: 'array',
      description: 'one for each WebRTC session, in the order in which they came',
      items: {
        type: 'object',
        required: ['kind', 'encode', 'capacity_kbps', 'queue_ms', 'loss'],
        properties: {
          kind: { type: 'string', description: 'of its credential' },
          encode: { enum: ['main', 'small'], description: 'small: its path is too slow for the main encode' },
          capacity_kbps: nullable('integer', 'what its path carried when it was last at its limit'),
          queue_ms: nullable('integer', 'how long packets wait in queues on the way'),
          loss: nullable('number', 'the share of packets that were lost lately and not repaired at once'),
        },
      },
    },
    small: { type: ['object', 'null'], description: 'the second encode; null while no viewer needs it' },
    max_viewers: { type: 'integer', description: 'the limit of viewers at a time' },
    whep_url: nullable('string', 'path of the playback endpoint; null where the feature is off'),
    recording,
    recording_problem: nullable('string', 'why the last recording ended by itself'),
    radio: { type: ['object', 'null'], description: 'RTP to the radio: to, packets, bytes, failed, problem' },
    outputs: {
      type: ['array', 'null'],
      description: 'other receivers: `video.outputs`, then followed ground stations',
      items: {
        type: 'object',
        required: ['to', 'kind', 'address', 'port', 'followed', 'packets', 'bytes', 'failed', 'problem'],
        properties: {
          to: { type: 'string', description: 'host:port' },
          kind: { enum: ['rtp', 'mpegts'] },
          address: nullable('string', 'behind the name; null while unknown'),
          port: { type: 'integer' },
          followed: { type: 'boolean', description: 'a followed ground station' },
          packets: { type: 'integer' },
          bytes: { type: 'integer' },
          failed: { type: 'integer', description: 'packets that could not be sent' },
          problem: nullable('string', 'why nothing goes there at the moment'),
        },
      },
    },
    follow_port: nullable('integer', 'the port of followed ground stations; null: none is followed'),
  },
} as const satisfies JsonSchema;

export const cameras = {
  title: 'CameraList',
  type: 'object',
  required: ['cameras', 'source', 'problem', 'csi_problem', 'configured', 'camera_id'],
  properties: {
    cameras: {
      type: 'array',
      items: {
        type: 'object',
        required: ['source', 'device_path', 'type', 'label', 'width', 'height'],
        properties: {
          source: { type: 'string', description: 'its value for video.source' },
          device_path: { type: 'string' },
          type: { enum: ['v4l2', 'csi'] },
          label: nullable('string', 'the name of its driver; of a CSI camera, the sensor'),
          width: nullable('integer', 'of the sensor; null: unknown'),
          height: nullable('integer', 'as `width`'),
          modes: {
            type: 'array',
            description: "of a CSI camera: its sensor's modes",
            items: {
              type: 'object',
              required: ['format', 'width', 'height', 'fps'],
              properties: {
                format: { type: 'string' },
                width: { type: 'integer' },
                height: { type: 'integer' },
                fps: nullable('number', 'at most'),
              },
            },
          },
        },
      },
    },
    source: { type: ['string', 'null'], description: 'the one in use' },
    problem: nullable('string', 'why V4L2 cameras may be missing'),
    csi_problem: nullable('string', 'why CSI cameras are not listed'),
    configured: {
      type: 'array',
      description: 'the cameras that can be shown: main, which is `video.source`, then `video.cameras`',
      items: {
        type: 'object',
        required: ['id', 'name', 'source'],
        properties: { id: { type: 'string' }, name: { type: 'string' }, source: { type: 'string' } },
      },
    },
    camera_id: nullable('string', 'the one that is shown; null while svc-video does not run'),
  },
} as const satisfies JsonSchema;

export const cameraChoice = {
  title: 'CameraChoice',
  examples: [{ camera_id: 'main' }],
  type: 'object',
  required: ['camera_id'],
  properties: {
    camera_id: {
      type: 'string',
      minLength: 1,
      maxLength: 32,
      description: 'main, or the id of one of `video.cameras`',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const cameraShown = {
  title: 'CameraShown',
  type: 'object',
  required: ['camera_id', 'source'],
  properties: {
    camera_id: { type: 'string', description: 'the one that is shown' },
    source: nullable('string', 'where its pictures come from'),
  },
} as const satisfies JsonSchema;

export const storedFile = {
  title: 'StoredFile',
  type: 'object',
  required: ['name', 'kind', 'size_bytes', 'modified_at'],
  properties: {
    name: { type: 'string' },
    kind: { enum: ['recording', 'snapshot'] },
    size_bytes: { type: 'integer' },
    modified_at: { type: 'string', description: 'RFC 3339' },
  },
} as const;

export const snapshotStored = {
  ...storedFile,
  title: 'SnapshotStored',
  required: [...storedFile.required, 'captured_at'],
  properties: { ...storedFile.properties, captured_at: { type: 'string', description: 'RFC 3339' } },
} as const satisfies JsonSchema;

export const recordStart = {
  title: 'RecordingStartRequest',
  examples: [{ name: 'inspection' }],
  type: 'object',
  properties: {
    name: {
      type: 'string',
      pattern: '^[A-Za-z0-9_-]{1,48}$',
      description: 'added to the file name, which begins with the time',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const recordStarted = { ...recording, type: 'object' } as const satisfies JsonSchema;

export const recordStopped = {
  ...recording,
  title: 'RecordingStopped',
  type: 'object',
  required: [...recording.required, 'stopped_at'],
  properties: {
    ...recording.properties,
    stopped_at: { type: 'string', description: 'RFC 3339' },
  },
} as const satisfies JsonSchema;

export const recordings = {
  title: 'RecordingList',
  type: 'object',
  required: ['recordings', 'recording', 'free_bytes'],
  properties: {
    recordings: { type: 'array', items: storedFile, description: 'newest first; stored pictures among them' },
    recording,
    free_bytes: {
      type: ['integer', 'null'],
      description: 'of the disk; null where nothing was recorded yet',
    },
  },
} as const satisfies JsonSchema;

export const removed = {
  title: 'RecordingRemoved',
  type: 'object',
  required: ['name', 'deleted'],
  properties: { name: { type: 'string' }, deleted: { const: true } },
} as const satisfies JsonSchema;
