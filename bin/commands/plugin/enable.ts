import { Args, Flags } from '@oclif/core';
import { PluginNodeCommand } from '../../plugin-node-command.ts';

export default class PluginEnable extends PluginNodeCommand {
  static override summary = 'Start an extension, now and with the node.';
  static override examples = ['<%= config.bin %> plugin enable org.example.thermal'];
  static override args = { id: Args.string({ required: true, description: 'its id' }) };
  static override flags = { force: Flags.boolean({ summary: 'even while the vehicle is armed' }) };

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(PluginEnable);
    const body = flags.force ? { force: true } : {};
    const answer = await this.api('POST', `/api/plugins/${encodeURIComponent(args.id)}/enable`, body);
    this.log(`${args.id} runs`);
    return answer;
  }
}
