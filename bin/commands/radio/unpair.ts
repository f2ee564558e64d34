import { Args } from '@oclif/core';
import { requestCommand, switchFlag } from '../../request-command.ts';

export default requestCommand('DELETE /api/wfb/pair', {
  summary: 'Forget a bound radio; its key and the relay end at once.',
  description:
    'On a drone this cuts off a lost ground station; on a ground station it ends the way to a drone.',
  examples: ['radio unpair 3fa2b1c4d5e6'],
  args: { device: Args.string({ description: 'the other end, see radio pairs', required: true }) },
  flags: { force: switchFlag('also while the vehicle is armed, or its state unknown') },
  ask: ({ args: { device }, flags: { force } }) => ({ query: { device_id: device, force } }),
  lines: ({ device_id: id }) => [`${id} is no longer bound.`],
});
