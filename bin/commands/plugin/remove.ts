import { Args, Flags } from '@oclif/core';
import { PluginNodeCommand } from '../../plugin-node-command.ts';

export default class PluginRemove extends PluginNodeCommand {
  static override summary = 'Stop an extension and remove it, with everything that it has stored.';
  static override examples = [
    '<%= config.bin %> plugin remove org.example.thermal',
    '<%= config.bin %> plugin remove org.example.thermal --keep-data',
  ];
  static override args = { id: Args.string({ required: true, description: 'its id' }) };
  static override flags = {
    'keep-data': Flags.boolean({ summary: 'keep its settings and what it has stored' }),
    force: Flags.boolean({ summary: 'even while the vehicle is armed' }),
  };

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(PluginRemove);
    const query = new URLSearchParams({
      ...(flags['keep-data'] ? { keep_data: '1' } : {}),
      ...(flags.force ? { force: '1' } : {}),
    });
    const path = `/api/plugins/${encodeURIComponent(args.id)}`;
    const answer = await this.api('DELETE', query.size === 0 ? path : `${path}?${query}`);
    this.log(`${args.id} is removed`);
    return answer;
  }
}
