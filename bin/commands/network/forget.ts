import { Args } from '@oclif/core';
import { NodeCommand } from '../../node-command.ts';

export default class NetworkForgetCommand extends NodeCommand {
  static override summary = 'Forget a saved Wi-Fi network and its passphrase.';
  static override examples = ['<%= config.bin %> network forget HomeNet'];
  static override args = { name: Args.string({ description: 'its saved name', required: true }) };

  async run(): Promise<unknown> {
    const { args } = await this.parse(NetworkForgetCommand);
    const path = `/api/v1/network/client/configured/${encodeURIComponent(args.name)}`;
    const answer = await this.work({ method: 'DELETE', path });
    this.log(`${args.name} is forgotten.`);
    return answer;
  }
}
