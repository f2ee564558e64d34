import { Args, Errors, Flags } from '@oclif/core';
import { SCOPES, type Scope } from '../../shared/auth/scopes.ts';
import { EXIT } from '../cli/exit-codes.ts';
import { requestCommand, switchFlag, usageError } from '../cli/request-command.ts';
import { DemoCommand } from './mcp/demo.ts';
import { postureCommand } from './mcp/token-posture.ts';

/** The scopes that a use needs; flying needs to see what the vehicle does. */
const PRESETS = { fly: ['read', 'flight'] } as const satisfies Record<string, readonly Scope[]>;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Also a fraction: half a day is moved to one, as in the API. */
const days = Flags.custom<number>({
  parse: async (text) => {
    const value = Number(text);
    if (text.trim() === '' || !Number.isFinite(value))
      throw new Errors.CLIError(`Expected a number of days: ${text}`, { exit: EXIT.usage });
    return Promise.resolve(value);
  },
});

export default {
  'mcp:status': requestCommand('GET /api/mcp/status', {
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
  }),
  'mcp:mint': requestCommand('POST /api/mcp/tokens', {
    summary: 'Mint a scoped token on the node on this machine, and print it once.',
    description:
      'No scope implies another. The token is bound to this node, and accepted only while svc mcp enable is in force.',
    examples: ['mcp mint --label laptop --scope read', 'mcp mint --label pilot --preset fly --ttl-days 1'],
    flags: {
      label: Flags.string({ summary: 'what a person calls it, shown in svc mcp status', default: '' }),
      scope: Flags.option({
        options: SCOPES,
        summary: 'a scope class that it holds; repeat it for more',
        multiple: true as const,
        multipleNonGreedy: true,
      })(),
      preset: Flags.option({
        options: ['fly'] as const,
        summary: 'the scopes of one use: fly is read and flight',
      })(),
      'ttl-days': days({ summary: 'days that it is valid; moved into 1 to 365', default: 30 }),
      node: Flags.string({
        summary: 'device id of a node that the client should use it on; repeat it for more; advice only',
        multiple: true,
        multipleNonGreedy: true,
      }),
    },
    ask: ({ flags: { label, scope = [], preset, 'ttl-days': ttl, node = [] } }) => {
      const scopes = [...scope, ...(preset === undefined ? [] : PRESETS[preset])];
      if (scopes.length === 0) throw usageError('Say what it may do: --scope, or --preset fly.');
      const ttlMs = Math.round(Math.max(1, ttl) * DAY_MS);
      return { body: { label, scopes: [...new Set(scopes)], ttl_ms: ttlMs, allowed_nodes: node } };
    },
    *lines({ token_id: id, scopes, expires_at: until, token }) {
      const end = new Date(until).toISOString();
      yield `Token ${id} (${scopes.join(', ')}), until ${end}. Keep it; it is not shown again:`;
      yield token;
    },
  }),
  'mcp:revoke': requestCommand('POST /api/mcp/revoke', {
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
  }),
  'mcp:demo': DemoCommand,
  'mcp:enable': postureCommand(true),
  'mcp:disable': postureCommand(false),
};

/** A label must not control the terminal. */
function printable(text: string): string {
  return text.replace(/\p{C}/gu, '?');
}
