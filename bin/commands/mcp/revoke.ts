import { Args } from '@oclif/core';
import { requestCommand, switchFlag, usageError } from '../../request-command.ts';

export default requestCommand('POST /api/mcp/revoke', {
  summary: 'End one scoped token of the node on this machine, or all of them, at once.',
  examples: ['mcp revoke mct_0123456789abcdef01234567', 'mcp revoke --all'],
  args: { token_id: Args.string({ description: 'the id, as svc mcp status lists it', required: false }) },
  flags: { all: switchFlag('every token that was ever minted') },
  ask: ({ args: { token_id: id }, flags: { all } }) => {
    if ((id === undefined) !== all) throw usageError('Name one token id, or --all; not both.');
    return { body: all ? { all } : { token_id: id } };
  },
  lines: (_, { flags: { all } }) => [
    all ? 'Every token is revoked: all tokens minted until now are void.' : 'Revoked.',
  ],
});
