import { Args } from '@oclif/core';
import { requestCommand } from '../../request-command.ts';

export default requestCommand('DELETE /api/maps/{name}', {
  summary: 'Delete a map file, or stop the download that makes it.',
  examples: ['maps delete field.pmtiles'],
  args: { name: Args.string({ description: 'its name in the list', required: true }) },
  ask: ({ args: { name } }) => ({ params: { name } }),
  lines: ({ name }) => [`${name} was deleted`],
});
