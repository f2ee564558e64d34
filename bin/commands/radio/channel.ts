import { Args, Flags } from '@oclif/core';
import type { FromSchema } from 'json-schema-to-ts';
import type { channelAnswer } from '../../../shared/schemas/radio.ts';
import { EXIT } from '../../exit-codes.ts';
import { NodeCommand } from '../../node-command.ts';

export default class RadioChannelCommand extends NodeCommand {
  static override summary = 'Put the radio on another channel.';
  static override examples = ['<%= config.bin %> radio channel 149'];
  static override args = { channel: Args.string({ description: 'Wi-Fi channel', required: true }) };
  static override flags = {
    force: Flags.boolean({ summary: 'also while the vehicle is armed', default: false }),
  };

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(RadioChannelCommand);
    const channel = Number(args.channel);
    if (!Number.isInteger(channel)) this.error(`${args.channel} is not a channel`, { exit: EXIT.usage });
    const body = flags.force ? { channel, force: true } : { channel };
    const answer = (await this.api('POST', '/api/wfb/channel', body)) as FromSchema<typeof channelAnswer>;
    const frequency = answer.frequency_mhz === null ? '' : ` (${answer.frequency_mhz} MHz)`;
    const confirmed = answer.proved ? ', and the other end has confirmed it' : '';
    this.log(
      `${answer.reverted ? 'Went back: the' : 'The'} radio is on channel ${answer.channel}${frequency}${confirmed}.`,
    );
    if (answer.reason !== null) this.log(answer.reason);
    return answer;
  }
}
