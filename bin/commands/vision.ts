import { readFile, stat } from 'node:fs/promises';
import { Args, Flags } from '@oclif/core';
import { messageOf } from '../../shared/errors.ts';
import type { Answer } from '../../shared/routes/typed-row.ts';
import { EXIT } from '../cli/exit-codes.ts';
import { NodeCommand } from '../cli/node-command.ts';
import { requestCommand, usageError } from '../cli/request-command.ts';
import { tableOf } from '../cli/table.ts';
import { formUpload } from '../client/form-upload.ts';

class VisionModelsCommand extends NodeCommand {
  static override summary = 'List the models that a detector can be made of.';
  static override examples = ['<%= config.bin %> vision models'];

  async run(): Promise<Answer<'vision.models.get'>> {
    await this.parse(VisionModelsCommand);
    const answer = await this.call('GET /api/vision/models');
    const rows = answer.installed.map(
      ({ id, head, input_w: width, input_h: height, classes, size_bytes: size }) => [
        id,
        head,
        `${width}x${height}`,
        classes.length,
        size,
        id === answer.active ? 'in use' : '',
      ],
    );
    for (const line of tableOf(['ID', 'HEAD', 'INPUT', 'CLASSES', 'BYTES', ''], rows)) this.log(line);
    if (answer.installed.length === 0) this.log('No models installed.');
    const missing = answer.registry.filter((model) => answer.installed.every(({ id }) => id !== model.id));
    for (const { id, name } of missing) this.log(`offered by the list: ${id}, ${name ?? id}`);
    if (answer.registry_error !== null) this.warn(`The list of models: ${answer.registry_error}`);
    const { used_mb: used, max_mb: most } = answer.cache;
    this.log(`${used.toFixed(1)} of ${most.toFixed(0)} MB are used.`);
    return answer;
  }
}

class VisionDetectorCommand extends NodeCommand {
  static override summary = 'Choose the model that looks at the pictures, or none.';
  static override examples = [
    '<%= config.bin %> vision detector marker',
    '<%= config.bin %> vision detector --off',
  ];
  static override args = { id: Args.string({ description: 'of `svc vision models`' }) };
  static override flags = {
    off: Flags.boolean({ summary: 'nothing looks at the pictures any more', default: false }),
  };

  async run(): Promise<Answer<'vision.detector.put'>> {
    const { args, flags } = await this.parse(VisionDetectorCommand);
    if ((args.id === undefined) !== flags.off)
      this.error('Name a model of `svc vision models`, or --off.', { exit: EXIT.usage });
    const chosen =
      args.id === undefined
        ? await this.call('DELETE /api/vision/detector')
        : await this.call('PUT /api/vision/detector', { body: { model_id: args.id } });
    if (chosen.model_id === null) this.log('Detection is off.');
    else if (chosen.enabled) this.log(`${chosen.model_id} is now the detector.`);
    else this.log(`${chosen.model_id} is chosen, but does not run: there is no video.`);
    return chosen;
  }
}

export default {
  'vision:status': requestCommand('GET /api/vision/status', {
    summary: 'Show what the detector does.',
    examples: ['vision status'],
    *lines({ model_id: model, state, designated, last_error: error, ...measured }) {
      yield `${model ?? 'no detector'}: ${state}`;
      if (state !== 'off') {
        yield `pictures a second  ${known(measured.fps, '')}`;
        yield `latency            ${known(measured.latency_ms, ' ms')}`;
        yield `skipped pictures   ${known(measured.dropped, '')}`;
        yield `memory             ${known(measured.memory_mb, ' MB')}`;
      }
      if (designated !== null) yield `follows            #${designated.track_id}, ${designated.lock_state}`;
      if (error !== null) yield `last error         ${error}`;
    },
  }),
  'vision:models': VisionModelsCommand,
  'vision:detector': VisionDetectorCommand,
  'vision:upload': requestCommand('POST /api/vision/models', {
    summary: 'Give the node a model; it is tried there before it is kept.',
    description:
      'The metadata is JSON: {"id": "yolov8n", "head": "yolov8", "input_w": 640, "input_h": 640, "classes": ["person", …]}. head: yolov5, yolov8 (also YOLO11), ssd.',
    usage: 'vision upload FILE --meta FILE',
    examples: ['vision upload yolov8n.onnx --meta yolov8n.json'],
    args: { file: Args.string({ required: true, description: 'an ONNX file' }) },
    flags: { meta: Flags.string({ required: true, summary: 'file with its metadata', helpValue: 'FILE' }) },
    isLong: true,
    ask: async ({ args: { file }, flags: { meta } }) => {
      const found = await stat(file).catch(() => null); // said below
      if (found?.isFile() !== true) throw usageError(`There is no file ${file}.`);
      const metadata = await readFile(meta, 'utf8').catch((error: unknown) => {
        throw usageError(`The metadata cannot be read: ${messageOf(error)}.`);
      });
      const form = { path: file, name: 'model.onnx', type: 'application/octet-stream' };
      return { upload: await formUpload(form, { metadata }) };
    },
    lines: ({ id }) => [`${id} is stored. Use it: svc vision detector ${id}`],
  }),
  'vision:delete': requestCommand('DELETE /api/vision/models/{id}', {
    summary: 'Delete a model from the node.',
    examples: ['vision delete yolov8n'],
    args: { id: Args.string({ required: true, description: 'of `svc vision models`' }) },
    ask: ({ args: { id } }) => ({ params: { id } }),
    lines: (_, { args: { id } }) => [`${id} deleted.`],
  }),
};

function known(value: number | null, unit: string): string {
  return value === null ? 'not known' : `${Math.round(value * 10) / 10}${unit}`;
}
