import { Flags } from '@oclif/core';
import type { Answer } from '../../shared/routes/typed-row.ts';
import { NodeCommand } from '../node-command.ts';

export default class PairCommand extends NodeCommand {
  static override summary = 'Claim the node on this machine, and print the pairing key once.';
  static override description =
    'From then on a caller from elsewhere needs the key in the header X-SVC-Key. The key is not shown again.';
  static override examples = ['<%= config.bin %> pair', '<%= config.bin %> pair --user alice'];
  static override flags = {
    user: Flags.string({ summary: 'who pairs', default: process.env['USER'] ?? 'operator' }),
  };

  async run(): Promise<Answer<'pairing.claim.post'>> {
    const { flags } = await this.parse(PairCommand);
    const { code } = await this.call('GET /api/pairing/code');
    const claim = await this.call('POST /api/pairing/claim', { body: { user_id: flags.user, code } });
    this.log(`${claim.name} (${claim.device_id}) is paired. Keep this key; it is not shown again:`);
    this.log(claim.api_key);
    return claim;
  }
}
