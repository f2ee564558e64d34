import { requestCommand } from '../../request-command.ts';

export default requestCommand('GET /api/mcp/status', {
  summary: 'Show whether the node accepts scoped tokens, and which it has minted.',
  examples: ['mcp status', 'mcp status --json'],
  *lines({ accept_enabled: accepts, problem, tokens }) {
    yield `token acceptance: ${accepts ? 'enabled' : 'disabled'}`;
    if (problem !== null) yield `PROBLEM: ${problem}`;
    else if (tokens.length === 0) yield 'no tokens minted';
    for (const { token_id: id, label, scopes, revoked, expired } of tokens) {
      const marks = [...(revoked ? ['revoked'] : []), ...(expired ? ['expired'] : [])].join(', ');
      const parts = [id, label === '' ? '(no label)' : printable(label), `scopes=${scopes.join(',')}`];
      yield [...parts, ...(marks === '' ? [] : [`[${marks}]`])].join('  ');
    }
  },
});

/** A label must not control the terminal. */
function printable(text: string): string {
  return text.replace(/\p{C}/gu, '?');
}
