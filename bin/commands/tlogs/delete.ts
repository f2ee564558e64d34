import { Args } from '@oclif/core';
import { requestCommand } from '../../request-command.ts';

export default requestCommand('DELETE /api/tlogs/{name}', {
  summary: 'Delete one telemetry log of the node.',
  examples: ['tlogs delete 20261127T063000.000Z.tlog'],
  args: { name: Args.string({ description: 'its name in the list', required: true }) },
  ask: ({ args: { name } }) => ({ params: { name } }),
  lines: ({ name }) => [`${name} was deleted`],
});
