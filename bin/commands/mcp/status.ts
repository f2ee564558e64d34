import type { FromSchema } from 'json-schema-to-ts';
import type { mcpStatus } from '../../../shared/schemas/mcp.ts';
import { NodeCommand } from '../../node-command.ts';

type Status = FromSchema<typeof mcpStatus>;

export default class McpStatusCommand extends NodeCommand {
  static override summary = 'Show whether the node accepts scoped tokens, and which it has minted.';
  static override examples = ['<%= config.bin %> mcp status', '<%= config.bin %> mcp status --json'];

  async run(): Promise<Status> {
    await this.parse(McpStatusCommand);
    const status = (await this.api('GET', '/api/mcp/status')) as Status;
    this.log(`token acceptance: ${status.accept_enabled ? 'enabled' : 'disabled'}`);
    if (status.problem !== null) this.log(`PROBLEM: ${status.problem}`);
    else if (status.tokens.length === 0) this.log('no tokens minted');
    for (const { token_id: id, label, scopes, revoked, expired } of status.tokens) {
      const marks = [...(revoked ? ['revoked'] : []), ...(expired ? ['expired'] : [])].join(', ');
      const parts = [id, label === '' ? '(no label)' : printable(label), `scopes=${scopes.join(',')}`];
      this.log([...parts, ...(marks === '' ? [] : [`[${marks}]`])].join('  '));
    }
    return status;
  }
}

/** A label must not control the terminal. */
function printable(text: string): string {
  return text.replace(/\p{C}/gu, '?');
}
