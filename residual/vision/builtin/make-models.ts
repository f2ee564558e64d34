/**
 * `make-models.ts`: writes `marker.onnx` and `marker.json` beside this file; with a folder as argument, YOLOv8n's shape with
 * random weights into it instead, for 320x320 and 640x640, each with its JSON.
 */
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelMeta } from '../../../shared/schemas/vision.ts';
import { MARKER_SIDE, markerModel } from './marker.ts';
import { yolov8nShape } from './yolov8n-shape.ts';

interface Made {
  readonly id: string;
  readonly name: string;
  readonly model: Uint8Array;
  readonly side: number;
  readonly classes: readonly string[];
  readonly output: readonly number[];
  readonly builtin?: true;
}

/** The text of the JSON beside a model. */
function metaOf({ id, name, model, side, classes, output, builtin }: Made): string {
  const meta: ModelMeta = {
    id,
    name,
    classes: [...classes],
    head: 'yolov8',
    input_w: side,
    input_h: side,
    runtime: 'onnx',
    board_match: 'generic',
    sha256: createHash('sha256').update(model).digest('hex'),
    size_bytes: model.length,
    added_at: null,
    ...(builtin === true ? { builtin } : {}),
    input: { name: 'images', width: side, height: side, layout: 'nchw', type: 'float32' },
    outputs: [{ name: 'output0', shape: [...output] }],
    inference_ms: null,
  };
  return `${JSON.stringify(meta, null, 2)}\n`;
}

async function write(folder: string, made: Made): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${made.id}.onnx`), made.model);
  await writeFile(join(folder, `${made.id}.json`), metaOf(made));
}

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  const model = markerModel();
  const name = 'Marker of the test picture';
  const side = MARKER_SIDE;
  const made = { id: 'marker', name, model, side, classes: ['marker'], output: [1, 5, 1] };
  await write(import.meta.dirname, { ...made, builtin: true });
} else {
  for (const side of [320, 640]) {
    const { model, parameters, flops, places } = yolov8nShape(side);
    const id = `yolov8n-shape-${side}`;
    const name = `YOLOv8n's shape, random weights, ${side}x${side}`;
    await write(folder, { id, name, model, side, classes: [], output: [1, 84, places] });
    process.stdout.write(`${id}: ${parameters} parameters, ${(flops / 1e9).toFixed(2)} GFLOP\n`);
  }
}
