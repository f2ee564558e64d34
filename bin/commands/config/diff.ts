import { parseConfig } from '../../../shared/config/parse.ts';
import { memberOf } from '../../../shared/member.ts';
import { NodeCommand } from '../../cli/node-command.ts';

interface Difference {
  readonly key: string;
  readonly value: unknown;
  /** Null where the key has none. */
  readonly default: unknown;
}

export default class ConfigDiffCommand extends NodeCommand {
  static override summary = 'Show which config keys differ from their defaults; secrets are masked.';
  static override examples = ['<%= config.bin %> config diff', '<%= config.bin %> config diff --json'];

  async run(): Promise<{ readonly differences: readonly Difference[] }> {
    await this.parse(ConfigDiffCommand);
    const differences = compare(await this.call('GET /api/config'), parseConfig('', 'defaults'), '');
    for (const { key, value, default: usual } of differences)
      this.log(`${key}: ${JSON.stringify(value)}  (default ${JSON.stringify(usual)})`);
    if (differences.length === 0) this.log('Every key has its default.');
    return { differences };
  }
}

function compare(value: unknown, usual: unknown, path: string): readonly Difference[] {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return Object.entries(value).flatMap(([name, member]) =>
      compare(member, memberOf(usual, name), path === '' ? name : `${path}.${name}`),
    );
  }
  return JSON.stringify(value) === JSON.stringify(usual)
    ? []
    : [{ key: path, value, default: usual ?? null }];
}
