/**
 * `npm run models`: writes the built-in model, `shared/vision/builtin/marker.onnx` and its JSON. With a folder as argument,
 * YOLOv8n's shape with random weights into it instead, for 320x320 and 640x640, to measure with.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../support/node.ts';
import { marker, yolov8n } from './made-model.ts';

const [folder] = process.argv.slice(2);
const into = folder ?? join(ROOT, 'shared/vision/builtin');
await mkdir(into, { recursive: true });
for (const { id, model, meta } of folder === undefined ? [marker()] : [yolov8n(320), yolov8n(640)]) {
  await writeFile(join(into, `${id}.onnx`), model);
  await writeFile(join(into, `${id}.json`), meta);
  process.stdout.write(`${join(into, id)}.onnx: ${model.length} bytes\n`);
}
