import { Args, Flags } from '@oclif/core';
import { PluginNodeCommand } from '../../plugin-node-command.ts';

export default class PluginDisable extends PluginNodeCommand {
  static override summary = 'Stop an extension, until it is enabled.';
  static override examples = ['<%= config.bin %> plugin disable org.example.thermal'];
  static override args = { id: Args.string({ required: true, description: 'its id' }) };
  static override flags = { force: Flags.boolean({ summary: 'even while the vehicle is armed' }) };

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(PluginDisable);
    const body = flags.force ? { force: true } : {};
    const answer = await this.api('POST', `/api/plugins/${encodeURIComponent(args.id)}/disable`, body);
    this.log(`${args.id} is stopped`);
    return answer;
  }
}
