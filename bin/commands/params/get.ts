import { Args } from '@oclif/core';
import { shownFloat } from '../../../shared/flight/shown-float.ts';
import { NodeCommand } from '../../node-command.ts';

export default class ParamsGetCommand extends NodeCommand {
  static override summary = 'Show one parameter of the vehicle.';
  static override examples = ['<%= config.bin %> params get RTL_ALT'];
  static override args = { name: Args.string({ description: 'as the vehicle spells it', required: true }) };

  async run(): Promise<unknown> {
    const { args } = await this.parse(ParamsGetCommand);
    const answer = (await this.api('GET', `/api/params/${encodeURIComponent(args.name)}`)) as {
      readonly value: number;
    };
    this.log(shownFloat(answer.value));
    return answer;
  }
}
