import { Flags } from '@oclif/core';
import { NodeCommand } from '../node-command.ts';

export default class UnpairCommand extends NodeCommand {
  static override summary = 'Forget the pairing of the node on this machine; its key ends at once.';
  static override examples = ['<%= config.bin %> unpair', '<%= config.bin %> unpair --force'];
  static override flags = {
    force: Flags.boolean({
      summary: 'also while the vehicle is armed, or its state unknown',
      default: false,
    }),
  };

  async run(): Promise<unknown> {
    const { flags } = await this.parse(UnpairCommand);
    const answer = await this.api('POST', '/api/pairing/unpair', { force: flags.force });
    this.log('The node is unpaired.');
    return answer;
  }
}
