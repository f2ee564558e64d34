import { Args } from '@oclif/core';
import { requestCommand } from '../cli/request-command.ts';
import VisionDetectorCommand from './vision/detector.ts';
import VisionModelsCommand from './vision/models.ts';
import VisionUploadCommand from './vision/upload.ts';

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
  'vision:upload': VisionUploadCommand,
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
