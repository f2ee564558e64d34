import { Args } from '@oclif/core';
import { shownFloat } from '../../../shared/flight/shown-float.ts';
import { requestCommand } from '../../request-command.ts';

export default requestCommand('GET /api/params/{name}', {
  summary: 'Show one parameter of the vehicle.',
  examples: ['params get RTL_ALT'],
  args: { name: Args.string({ description: 'as the vehicle spells it', required: true }) },
  ask: ({ args: { name } }) => ({ params: { name } }),
  lines: ({ value }) => [shownFloat(value)],
});
