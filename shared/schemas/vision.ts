import type { FromSchema } from 'json-schema-to-ts';
import type { JsonSchema } from './json-schema.ts';

/** Bodies and answers of the vision routes, and the batch of detections that processes, extensions and clients share. */

/** The only camera of a node so far. */
export const CAMERA_ID = 'main';

/** How the numbers that leave a model become boxes. `yolov8`: also YOLO11, which has the same output. */
export const HEADS = ['yolov5', 'yolov8', 'ssd'] as const;
export type Head = (typeof HEADS)[number];

export const modelId = {
  type: 'string',
  pattern: '^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$',
  maxLength: 64,
} as const;

const nullable = <const T extends 'string' | 'integer' | 'number'>(type: T, description: string) =>
  ({ type: [type, 'null'], description }) as const;

/** Pixels of the camera's picture, from its upper left corner. */
export const bbox = {
  title: 'BoundingBox',
  type: 'object',
  required: ['x', 'y', 'width', 'height'],
  properties: {
    x: { type: 'number', minimum: -16_384, maximum: 16_384, description: 'pixels' },
    y: { type: 'number', minimum: -16_384, maximum: 16_384, description: 'pixels' },
    width: { type: 'number', exclusiveMinimum: 0, maximum: 16_384, description: 'pixels' },
    height: { type: 'number', exclusiveMinimum: 0, maximum: 16_384, description: 'pixels' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const MAX_DETECTIONS = 100;

export const detection = {
  title: 'Detection',
  type: 'object',
  required: ['bbox', 'class_label', 'confidence', 'track_id', 'lock_state'],
  properties: {
    bbox,
    class_label: { type: 'string', maxLength: 64 },
    confidence: { type: 'number', minimum: 0, maximum: 1, description: 'a share' },
    track_id: nullable(
      'integer',
      'the same thing has the same number from picture to picture; null: not followed',
    ),
    lock_state: {
      enum: ['locked', 'uncertain', 'lost', null],
      description: 'of the designated target: seen, not seen just now, given up; null: it is not designated',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

const detectorState = {
  enum: ['off', 'down', 'loading', 'measuring', 'running', 'waiting', 'failed'],
  description:
    'off: no detector is chosen; down: its process does not run; measuring: how much the node can bear; waiting: no pictures come',
} as const;

export const batch = {
  title: 'DetectionBatch',
  type: 'object',
  required: [
    'v',
    'source',
    'model_id',
    'camera_id',
    'frame_id',
    'ts_ms',
    'frame_width',
    'frame_height',
    'latency_ms',
    'detections',
  ],
  properties: {
    v: { const: 1 },
    source: {
      type: 'string',
      description: '`svc-vision`, or the id of the extension that has detected this',
    },
    model_id: nullable('string', 'null: an extension that does not say it'),
    camera_id: { type: 'string', maxLength: 64 },
    frame_id: { type: 'integer', minimum: 0, description: 'number of the picture, since svc-video started' },
    ts_ms: { type: 'number', description: 'Unix time at which the picture was taken, ms' },
    frame_width: { type: 'integer', minimum: 1, maximum: 16_384, description: 'pixels' },
    frame_height: { type: 'integer', minimum: 1, maximum: 16_384, description: 'pixels' },
    latency_ms: nullable('number', 'from the picture to this; null: unknown'),
    detections: { type: 'array', maxItems: MAX_DETECTIONS, items: detection },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export type BBox = FromSchema<typeof bbox>;
export type Detection = FromSchema<typeof detection>;
export type Batch = FromSchema<typeof batch>;

/** What a person says of a model that is given to the node. */
const said = {
  id: modelId,
  name: { type: 'string', minLength: 1, maxLength: 128 },
  classes: {
    type: 'array',
    maxItems: 1000,
    items: { type: 'string', minLength: 1, maxLength: 64 },
    description: 'by the number that the model gives; without a name here it is `class <n>`',
  },
  head: { enum: HEADS, description: 'how the output is read; yolov8 also for YOLO11' },
  input_w: { type: 'integer', minimum: 16, maximum: 1920, description: 'pixels' },
  input_h: { type: 'integer', minimum: 16, maximum: 1920, description: 'pixels' },
  runtime: { const: 'onnx' },
  board_match: { const: 'generic' },
} as const;

export const modelMetadata = {
  title: 'ModelMetadata',
  type: 'object',
  required: ['id', 'head', 'input_w', 'input_h'],
  properties: said,
  additionalProperties: false,
} as const satisfies JsonSchema;

/** The shape of a tensor; null: a side that the model leaves open. */
const tensorShape = { type: 'array', maxItems: 8, items: { type: ['integer', 'null'] } } as const;

/** What the check of a model file has found. */
const found = {
  input: {
    type: 'object',
    required: ['name', 'width', 'height', 'layout', 'type'],
    properties: {
      name: { type: 'string', maxLength: 256 },
      width: { type: 'integer', description: 'pixels' },
      height: { type: 'integer', description: 'pixels' },
      layout: { enum: ['nchw', 'nhwc'] },
      type: { enum: ['float32', 'uint8'], description: 'float32: 0 to 1; uint8: 0 to 255' },
    },
    additionalProperties: false,
  },
  outputs: {
    type: 'array',
    maxItems: 16,
    items: {
      type: 'object',
      required: ['name', 'shape'],
      properties: { name: { type: 'string', maxLength: 256 }, shape: tensorShape },
      additionalProperties: false,
    },
  },
  inference_ms: nullable('number', 'one inference on one thread, when it was checked; null: not measured'),
} as const;

/** The file `<id>.json` beside a model. */
export const modelMeta = {
  title: 'Model',
  type: 'object',
  required: [
    'id',
    'name',
    'classes',
    'head',
    'input_w',
    'input_h',
    'runtime',
    'board_match',
    'sha256',
    'size_bytes',
    'added_at',
    'input',
    'outputs',
    'inference_ms',
  ],
  properties: {
    ...said,
    sha256: {
      type: 'string',
      pattern: '^[0-9a-f]{64}$',
      examples: ['9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f'],
    },
    size_bytes: { type: 'integer', minimum: 1 },
    added_at: { type: ['string', 'null'], format: 'date-time', description: 'null: part of the program' },
    builtin: { type: 'boolean', description: 'part of the program, cannot be deleted' },
    ...found,
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export type ModelMetadata = FromSchema<typeof modelMetadata>;
export type ModelMeta = FromSchema<typeof modelMeta>;

/** What `residual/vision/check-model` prints, one line of JSON. Anything else that it does is a refusal too. */
export type ModelCheck =
  | ({ readonly ok: true; readonly classes: number; readonly memory_mb: number } & Pick<
      ModelMeta,
      'input' | 'outputs' | 'inference_ms'
    >)
  | { readonly ok: false; readonly reason: string };

/** The largest file of a model. */
export const MODEL_BYTES = 200 * 1024 * 1024;

const address = { type: 'string', minLength: 1, maxLength: 2048 } as const;
const sha256 = {
  type: 'string',
  pattern: '^[0-9A-Fa-f]{64}$',
  examples: ['9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f9f'],
  description: 'of the file',
} as const;

/** The body of POST /api/vision/models that is JSON instead of a multipart form. */
export const modelDownload = {
  title: 'ModelDownloadRequest',
  type: 'object',
  required: ['url', 'sha256', 'metadata'],
  properties: { url: address, sha256, metadata: modelMetadata },
  additionalProperties: false,
} as const satisfies JsonSchema;

/** What is at the address `vision.registry`. Other members are ignored. */
export const registryList = {
  title: 'ModelRegistry',
  type: 'object',
  required: ['models'],
  properties: {
    models: {
      type: 'array',
      maxItems: 500,
      items: {
        type: 'object',
        required: ['id', 'url', 'sha256', 'metadata'],
        properties: {
          id: modelId,
          name: { type: 'string', maxLength: 128 },
          url: { ...address, description: "against the list's own" },
          sha256,
          metadata: modelMetadata,
        },
      },
    },
  },
} as const satisfies JsonSchema;

export const models = {
  title: 'ModelList',
  type: 'object',
  required: ['registry', 'registry_error', 'installed', 'custom', 'active', 'cache'],
  properties: {
    registry: { ...registryList.properties.models, description: "the models in the operator's list" },
    registry_error: nullable('string', 'why there is no list; null: there is one, or none is configured'),
    installed: { type: 'array', items: modelMeta },
    custom: { type: 'array', items: modelId, description: 'those that did not come with the program' },
    active: nullable('string', 'the detector that is chosen'),
    cache: {
      type: 'object',
      required: ['used_bytes', 'max_bytes', 'used_mb', 'max_mb'],
      properties: {
        used_bytes: { type: 'integer' },
        max_bytes: { type: 'integer' },
        used_mb: { type: 'number' },
        max_mb: { type: 'number' },
      },
    },
  },
} as const satisfies JsonSchema;

export const modelDeleted = {
  title: 'ModelDeleted',
  type: 'object',
  required: ['id', 'deleted'],
  properties: { id: modelId, deleted: { const: true } },
} as const satisfies JsonSchema;

export const visionStatus = {
  title: 'VisionStatus',
  type: 'object',
  required: [
    'state',
    'model_id',
    'fps',
    'latency_ms',
    'inference_ms',
    'threads',
    'rate_hz',
    'frames',
    'dropped',
    'memory_mb',
    'designated',
    'last_error',
  ],
  properties: {
    state: detectorState,
    model_id: nullable('string', 'the model; null: none is chosen'),
    fps: nullable('number', 'pictures a second that were looked at, over the last seconds'),
    latency_ms: nullable('number', 'from the picture to its detections, median of the last ones'),
    inference_ms: nullable('number', 'the inference alone'),
    threads: nullable('integer', 'of the inference'),
    rate_hz: nullable('number', 'pictures a second that it looks at, at most'),
    frames: nullable('integer', 'pictures that were looked at, since it started'),
    dropped: nullable('integer', 'pictures that were due while it was busy, since it started'),
    memory_mb: nullable('number', 'of its process'),
    designated: {
      type: ['object', 'null'],
      required: ['track_id', 'lock_state'],
      properties: {
        track_id: { type: 'integer' },
        lock_state: { enum: ['locked', 'uncertain', 'lost'] },
      },
    },
    last_error: nullable('string', 'why it does not run, or did not'),
  },
} as const satisfies JsonSchema;

export const detectorChoice = {
  title: 'DetectorChoice',
  examples: [{ model_id: 'people' }],
  type: 'object',
  required: ['model_id'],
  properties: { model_id: modelId },
  additionalProperties: false,
} as const satisfies JsonSchema;

const pid = nullable('integer', 'null: it did not run');

export const detectorChosen = {
  title: 'DetectorChosen',
  type: 'object',
  required: ['model_id', 'enabled', 'restart'],
  properties: {
    model_id: nullable('string', 'null: none'),
    enabled: {
      type: 'boolean',
      description: 'whether svc-vision runs now; false with a model: there is no video',
    },
    restart: {
      type: 'object',
      required: ['pid_before', 'pid_after'],
      properties: { pid_before: pid, pid_after: pid },
      description: 'of svc-vision',
    },
  },
} as const satisfies JsonSchema;

export const designateRequest = {
  title: 'DesignateRequest',
  examples: [{ track_id: 7 }, { bbox: { x: 600, y: 320, width: 80, height: 80 } }, { release: true }],
  type: 'object',
  oneOf: [
    { properties: { bbox: true }, required: ['bbox'] },
    { properties: { track_id: true }, required: ['track_id'] },
    { properties: { release: true }, required: ['release'] },
  ],
  properties: {
    bbox: { ...bbox, description: 'what is there in the newest picture; pixels of the camera' },
    track_id: { type: 'integer', minimum: 1, description: "a detection's track number" },
    release: { const: true, description: 'stop following a target' },
    camera_id: { const: CAMERA_ID },
    class_label: { type: 'string', maxLength: 64, description: 'only something of this class' },
    confidence: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description: 'what the caller saw; for the record',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const designated = {
  title: 'Designated',
  type: 'object',
  required: ['designated', 'track_id', 'camera_id', 'lock_state'],
  properties: {
    designated: { type: 'boolean', description: 'false: released' },
    track_id: nullable('integer', 'the followed target'),
    camera_id: { const: CAMERA_ID },
    lock_state: { enum: ['locked', 'uncertain', 'lost', null] },
  },
} as const satisfies JsonSchema;

/**
 * The newest batch, or an empty list where there is none of the last two seconds. `detector` tells nothing seen from nobody looking;
 * not 503, as an extension may see something while the detector is off.
 */
export const latestDetections = {
  ...batch,
  title: 'LatestDetections',
  required: ['detections', 'detector'],
  properties: { ...batch.properties, detector: detectorState },
} as const satisfies JsonSchema;

export type RegistryModel = FromSchema<typeof registryList>['models'][number];
