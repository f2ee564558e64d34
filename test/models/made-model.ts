import { createHash } from 'node:crypto';
import type { ModelMeta } from '../../shared/schemas/vision.ts';
import { MARKER_SIDE, markerModel } from './marker.ts';
import { yolov8nShape } from './yolov8n-shape.ts';

/** A model that is made here, as the two files that a node has of it. */
export interface MadeModel {
  readonly id: string;
  readonly model: Uint8Array;
  /** JSON. */
  readonly meta: string;
}

type About = Pick<ModelMeta, 'id' | 'name' | 'classes' | 'builtin'>;

/** The built-in model. */
export function marker(): MadeModel {
  const about = { id: 'marker', name: 'Marker of the test picture', classes: ['marker'], builtin: true };
  return made(about, markerModel(), MARKER_SIDE, [1, 5, 1]);
}

/** YOLOv8n's shape with random weights. @param side of the input, pixels */
export function yolov8n(side: number): MadeModel {
  const { model, places } = yolov8nShape(side);
  const name = `YOLOv8n's shape, random weights, ${side}x${side}`;
  return made({ id: `yolov8n-shape-${side}`, name, classes: [] }, model, side, [1, 84, places]);
}

function made(about: About, model: Uint8Array, side: number, shape: number[]): MadeModel {
  const meta: ModelMeta = {
    ...about,
    head: 'yolov8',
    input_w: side,
    input_h: side,
    runtime: 'onnx',
    board_match: 'generic',
    sha256: createHash('sha256').update(model).digest('hex'),
    size_bytes: model.length,
    added_at: null,
    input: { name: 'images', width: side, height: side, layout: 'nchw', type: 'float32' },
    outputs: [{ name: 'output0', shape }],
    inference_ms: null,
  };
  return { id: about.id, model, meta: `${JSON.stringify(meta, null, 2)}\n` };
}
