import { Args } from '@oclif/core';
import { PluginNodeCommand } from '../../plugin-node-command.ts';
import { requestCommand, switchFlag } from '../../request-command.ts';

export default requestCommand('POST /api/plugins/{id}/enable', {
  base: PluginNodeCommand,
  summary: 'Start an extension, now and with the node.',
  examples: ['plugin enable org.example.thermal'],
  args: { id: Args.string({ required: true, description: 'its id' }) },
  flags: { force: switchFlag('even while the vehicle is armed') },
  ask: ({ args: { id }, flags: { force } }) => ({ params: { id }, body: { force } }),
  lines: (_, { args: { id } }) => [`${id} runs`],
});
