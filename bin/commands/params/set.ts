import { Args, Flags } from '@oclif/core';
import { shownFloat } from '../../../shared/flight/shown-float.ts';
import { EXIT } from '../../exit-codes.ts';
import { NodeCommand } from '../../node-command.ts';

export default class ParamsSetCommand extends NodeCommand {
  static override summary = 'Write one parameter; done when the vehicle has reported the new value.';
  static override examples = ['<%= config.bin %> params set RTL_ALT 3000'];
  static override args = {
    name: Args.string({ description: 'as the vehicle spells it', required: true }),
    value: Args.string({ description: 'a number', required: true }),
  };
  static override flags = {
    force: Flags.boolean({ summary: 'also while the vehicle is armed', default: false }),
  };

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(ParamsSetCommand);
    const value = Number(args.value);
    if (args.value.trim() === '' || !Number.isFinite(value))
      this.error(`${args.value} is not a number`, { exit: EXIT.usage });
    const body = flags.force ? { value, force: true } : { value };
    const answer = (await this.api('PUT', `/api/params/${encodeURIComponent(args.name)}`, body)) as {
      readonly cached_value: number;
    };
    this.log(`${args.name} is ${shownFloat(answer.cached_value)}`);
    return answer;
  }
}
