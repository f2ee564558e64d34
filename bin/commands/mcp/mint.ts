import { Errors, Flags } from '@oclif/core';
import type { FromSchema } from 'json-schema-to-ts';
import { SCOPES, type Scope } from '../../../shared/auth/scopes.ts';
import type { mintAnswer } from '../../../shared/schemas/mcp.ts';
import { EXIT } from '../../exit-codes.ts';
import { NodeCommand } from '../../node-command.ts';

type Minted = FromSchema<typeof mintAnswer>;

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

export default class McpMintCommand extends NodeCommand {
  static override summary = 'Mint a scoped token on the node on this machine, and print it once.';
  static override description =
    'No scope implies another. The token is bound to this node, and accepted only while svc mcp enable is in force.';
  static override examples = [
    '<%= config.bin %> mcp mint --label laptop --scope read',
    '<%= config.bin %> mcp mint --label pilot --preset fly --ttl-days 1',
  ];
  static override flags = {
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
  };

  async run(): Promise<Minted> {
    const { flags } = await this.parse(McpMintCommand);
    const scopes = [...(flags.scope ?? []), ...(flags.preset === undefined ? [] : PRESETS[flags.preset])];
    if (scopes.length === 0)
      this.error('Say what it may do: --scope, or --preset fly.', { exit: EXIT.usage });
    const minted = (await this.api('POST', '/api/mcp/tokens', {
      label: flags.label,
      scopes: [...new Set(scopes)],
      ttl_ms: Math.round(Math.max(1, flags['ttl-days']) * DAY_MS),
      allowed_nodes: flags.node ?? [],
    })) as Minted;
    const until = new Date(minted.expires_at).toISOString();
    this.log(
      `Token ${minted.token_id} (${minted.scopes.join(', ')}), until ${until}. Keep it; it is not shown again:`,
    );
    this.log(minted.token);
    return minted;
  }
}
