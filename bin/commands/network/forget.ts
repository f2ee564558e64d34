import { Args } from '@oclif/core';
import { requestCommand } from '../../request-command.ts';

export default requestCommand('DELETE /api/v1/network/client/configured/{name}', {
  summary: 'Forget a saved Wi-Fi network and its passphrase.',
  examples: ['network forget HomeNet'],
  args: { name: Args.string({ description: 'its saved name', required: true }) },
  isLong: true,
  ask: ({ args: { name } }) => ({ params: { name } }),
  lines: (_, { args: { name } }) => [`${name} is forgotten.`],
});
