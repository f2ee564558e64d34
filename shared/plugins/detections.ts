import type { FromSchema } from 'json-schema-to-ts';
import { plainText } from '../plain-text.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';
import { type Batch, batch, CAMERA_ID } from '../schemas/vision.ts';

/**
 * The arguments of `vision.publish_detection`: a batch, of which an extension that is no part of the node need not know all.
 * What it hears it can give back.
 */
export const publishedBatch = {
  ...batch,
  required: ['ts_ms', 'frame_width', 'frame_height', 'detections'],
  properties: {
    ...batch.properties,
    detections: {
      ...batch.properties.detections,
      items: { ...batch.properties.detections.items, required: ['bbox', 'class_label', 'confidence'] },
    },
  },
} as const satisfies JsonSchema;

export type PublishedBatch = FromSchema<typeof publishedBatch>;

/**
 * The batch of an extension. It comes in its own name, whatever it says, and it cannot say what is designated: only svc-vision
 * follows something.
 * @param given valid by `publishedBatch`
 */
export function batchOf(extension: string, given: PublishedBatch): Batch {
  return {
    v: 1,
    source: extension,
    model_id: given.model_id ?? null,
    camera_id: plainText(given.camera_id ?? CAMERA_ID),
    frame_id: given.frame_id ?? 0,
    ts_ms: given.ts_ms,
    frame_width: given.frame_width,
    frame_height: given.frame_height,
    latency_ms: given.latency_ms ?? null,
    detections: given.detections.map(({ bbox, class_label, confidence, track_id = null }) => ({
      bbox,
      class_label: plainText(class_label),
      confidence,
      track_id,
      lock_state: null,
    })),
  };
}
