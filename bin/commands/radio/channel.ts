import { Args } from '@oclif/core';
import { forceFlag } from '../../node-command.ts';
import { requestCommand, usageError } from '../../request-command.ts';

export default requestCommand('POST /api/wfb/channel', {
  summary: 'Put the radio on another channel.',
  examples: ['radio channel 149'],
  args: { channel: Args.string({ description: 'Wi-Fi channel', required: true }) },
  flags: forceFlag,
  ask: ({ args, flags: { force } }) => {
    const channel = Number(args.channel);
    if (!Number.isInteger(channel)) throw usageError(`${args.channel} is not a channel`);
    return { body: { channel, force } };
  },
  *lines({ channel, frequency_mhz: mhz, proved, reverted, reason }) {
    const frequency = mhz === null ? '' : ` (${mhz} MHz)`;
    const confirmed = proved ? ', and the other end has confirmed it' : '';
    yield `${reverted ? 'Went back: the' : 'The'} radio is on channel ${channel}${frequency}${confirmed}.`;
    if (reason !== null) yield reason;
  },
});
