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
  type: 'object',
  required: ['x', 'y', 'width', 'height'],
  properties: {
    x: { type: 'number', minimum: -16_384, maximum: 16_384 },
    y: { type: 'number', minimum: -16_384, maximum: 16_384 },
    width: { type: 'number', exclusiveMinimum: 0, maximum: 16_384 },
    height: { type: 'number', exclusiveMinimum: 0, maximum: 16_384 },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export const MAX_DETECTIONS = 100;

export const detection = {
  type: 'object',
  required: ['bbox', 'class_label', 'confidence', 'track_id', 'lock_state'],
  properties: {
    bbox,
    class_label: { type: 'string', maxLength: 64 },
    confidence: { type: 'number', minimum: 0, maximum: 1 },
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

export const batch = {
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
    latency_ms: nullable('number', 'from the picture to this; null: not known'),
    detections: { type: 'array', maxItems: MAX_DETECTIONS, items: detection },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

export type BBox = FromSchema<typeof bbox>;
export type Detection = FromSchema<typeof detection>;
export type Batch = FromSchema<typeof batch>;
