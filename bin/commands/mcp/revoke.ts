import { Args, Flags } from '@oclif/core';
import type { FromSchema } from 'json-schema-to-ts';
import type { revokeAnswer } from '../../../shared/schemas/mcp.ts';
import { EXIT } from '../../exit-codes.ts';
import { NodeCommand } from '../../node-command.ts';

type Revoked = FromSchema<typeof revokeAnswer>;

export default class McpRevokeCommand extends NodeCommand {
  static override summary = 'End one scoped token of the node on this machine, or all of them, at once.';
  static override examples = [
    '<%= config.bin %> mcp revoke mct_0123456789abcdef01234567',
    '<%= config.bin %> mcp revoke --all',
  ];
  static override args = {
    token_id: Args.string({ description: 'the id, as svc mcp status lists it', required: false }),
  };
  static override flags = {
    all: Flags.boolean({ summary: 'every token that was ever minted', default: false }),
  };

  async run(): Promise<Revoked> {
    const { args, flags } = await this.parse(McpRevokeCommand);
    if ((args.token_id === undefined) !== flags.all)
      this.error('Name one token id, or --all; not both.', { exit: EXIT.usage });
    const body = flags.all ? { all: true } : { token_id: args.token_id };
    const answer = (await this.api('POST', '/api/mcp/revoke', body)) as Revoked;
    this.log(flags.all ? 'Every token is revoked: all tokens minted until now are void.' : 'Revoked.');
    return answer;
  }
}
