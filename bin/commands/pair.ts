import { Flags } from '@oclif/core';
import type { FromSchema } from 'json-schema-to-ts';
import type { claimAnswer, pairingCode } from '../../shared/schemas/pairing.ts';
import { NodeCommand } from '../node-command.ts';

type Claim = FromSchema<typeof claimAnswer>;

export default class PairCommand extends NodeCommand {
  static override summary = 'Claim the node on this machine, and print the pairing key once.';
  static override description =
    'From then on a caller from elsewhere needs the key in the header X-SVC-Key. The key is not shown again.';
  static override examples = ['<%= config.bin %> pair', '<%= config.bin %> pair --user alice'];
  static override flags = {
    user: Flags.string({ summary: 'who pairs', default: process.env['USER'] ?? 'operator' }),
  };

  async run(): Promise<Claim> {
    const { flags } = await this.parse(PairCommand);
    const { code } = (await this.api('GET', '/api/pairing/code')) as FromSchema<typeof pairingCode>;
    const claim = (await this.api('POST', '/api/pairing/claim', { user_id: flags.user, code })) as Claim;
    this.log(`${claim.name} (${claim.device_id}) is paired. Keep this key; it is not shown again:`);
    this.log(claim.api_key);
    return claim;
  }
}
