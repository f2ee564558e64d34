import { Args } from '@oclif/core';
import { requestCommand } from '../../request-command.ts';

export default requestCommand('DELETE /api/vision/models/{id}', {
  summary: 'Delete a model from the node.',
  examples: ['vision delete yolov8n'],
  args: { id: Args.string({ required: true, description: 'of `svc vision models`' }) },
  ask: ({ args: { id } }) => ({ params: { id } }),
  lines: (_, { args: { id } }) => [`${id} deleted.`],
});
