import { readFile, stat } from 'node:fs/promises';
import { Args, Flags } from '@oclif/core';
import { messageOf } from '../../../shared/errors.ts';
import type { ModelMeta } from '../../../shared/schemas/vision.ts';
import { EXIT } from '../../cli/exit-codes.ts';
import { NodeCommand } from '../../cli/node-command.ts';
import { formUpload } from '../../client/form-upload.ts';

export default class VisionUploadCommand extends NodeCommand {
  static override summary = 'Give the node a model; it is tried there before it is kept.';
  static override description =
    'The metadata is JSON: {"id": "yolov8n", "head": "yolov8", "input_w": 640, "input_h": 640, "classes": ["person", …]}. head: yolov5, yolov8 (also YOLO11), ssd.';
  static override usage = 'vision upload FILE --meta FILE';
  static override examples = ['<%= config.bin %> vision upload yolov8n.onnx --meta yolov8n.json'];
  static override args = { file: Args.string({ required: true, description: 'an ONNX file' }) };
  static override flags = {
    meta: Flags.string({ required: true, summary: 'file with its metadata', helpValue: 'FILE' }),
  };

  async run(): Promise<ModelMeta> {
    const { args, flags } = await this.parse(VisionUploadCommand);
    const found = await stat(args.file).catch(() => null); // said below
    if (found?.isFile() !== true) this.error(`There is no file ${args.file}.`, { exit: EXIT.usage });
    const metadata = await readFile(flags.meta, 'utf8').catch((error: unknown) =>
      this.error(`The metadata cannot be read: ${messageOf(error)}.`, { exit: EXIT.usage }),
    );
    const file = { path: args.file, name: 'model.onnx', type: 'application/octet-stream' };
    const upload = await formUpload(file, { metadata });
    const stored = await this.work('POST /api/vision/models', { upload });
    this.log(`${stored.id} is stored. Use it: svc vision detector ${stored.id}`);
    return stored;
  }
}
