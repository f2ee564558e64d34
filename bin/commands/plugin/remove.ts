import { Args } from '@oclif/core';
import { PluginNodeCommand } from '../../plugin-node-command.ts';
import { requestCommand, switchFlag } from '../../request-command.ts';

export default requestCommand('DELETE /api/plugins/{id}', {
  base: PluginNodeCommand,
  summary: 'Stop an extension and remove it, with everything that it has stored.',
  examples: ['plugin remove org.example.thermal', 'plugin remove org.example.thermal --keep-data'],
  args: { id: Args.string({ required: true, description: 'its id' }) },
  flags: {
    'keep-data': switchFlag('keep its settings and what it has stored'),
    force: switchFlag('even while the vehicle is armed'),
  },
  ask: ({ args: { id }, flags }) => ({
    params: { id },
    query: { keep_data: flags['keep-data'], force: flags.force },
  }),
  lines: (_, { args: { id } }) => [`${id} is removed`],
});
