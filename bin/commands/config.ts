import { Args } from '@oclif/core';
import { valueAt } from '../../shared/config/keys.ts';
import { memberOf } from '../../shared/member.ts';
import { EXIT } from '../cli/exit-codes.ts';
import { forceFlag, NodeCommand } from '../cli/node-command.ts';
import { requestCommand } from '../cli/request-command.ts';

class ConfigGetCommand extends NodeCommand {
  static override summary = 'Show the configuration, or one key of it; secrets are masked.';
  static override examples = ['<%= config.bin %> config get', '<%= config.bin %> config get mavlink.source'];
  static override args = { key: Args.string({ description: 'for example mavlink.source' }) };

  async run(): Promise<unknown> {
    const { args } = await this.parse(ConfigGetCommand);
    const config = await this.call('GET /api/config');
    const { key } = args;
    const value = key === undefined ? config : valueAt(config, key);
    if (value === undefined)
      this.error(`There is no config key ${key ?? ''}. See config schema.`, { exit: EXIT.refused });
    if (typeof value === 'string') this.log(value);
    else this.logPretty(value);
    return value;
  }
}

interface Difference {
  readonly key: string;
  readonly value: unknown;
  /** Null where the key has none. */
  readonly default: unknown;
}

class ConfigDiffCommand extends NodeCommand {
  static override summary = 'Show which config keys differ from their defaults; secrets are masked.';
  static override examples = ['<%= config.bin %> config diff', '<%= config.bin %> config diff --json'];

  async run(): Promise<{ readonly differences: readonly Difference[] }> {
    await this.parse(ConfigDiffCommand);
    const { parseConfig } = await import('../../shared/config/parse.ts'); // which the others do not need: it takes its time
    const differences = compare(await this.call('GET /api/config'), parseConfig('', 'defaults'), '');
    for (const { key, value, default: usual } of differences)
      this.log(`${key}: ${JSON.stringify(value)}  (default ${JSON.stringify(usual)})`);
    if (differences.length === 0) this.log('Every key has its default.');
    return { differences };
  }
}

export default {
  'config:get': ConfigGetCommand,
  'config:set': requestCommand('PUT /api/config', {
    summary: 'Change one key of the configuration.',
    examples: [
      'config set mavlink.source serial:/dev/ttyACM0:115200',
      'config set mavlink.endpoints udp:0.0.0.0:14550,tcp:127.0.0.1:5790',
    ],
    args: {
      key: Args.string({ description: 'for example mavlink.source', required: true }),
      value: Args.string({ description: 'as text; the schema says what it becomes', required: true }),
    },
    flags: forceFlag,
    ask: ({ args: { key, value }, flags: { force } }) => ({ body: { key, value, force } }),
    *lines({ key, value, restart_required: restart, note }) {
      yield `${key}: ${JSON.stringify(value)}`;
      if (note !== null) yield note;
      else if (restart.length > 0) yield `in force after: svc services restart ${restart.join(' and ')}`;
    },
  }),
  'config:diff': ConfigDiffCommand,
  'config:schema': requestCommand('GET /api/config/schema', {
    summary: 'Print the JSON Schema of the configuration: every key, its default, its bounds.',
    examples: ['config schema'],
    lines: (schema) => JSON.stringify(schema, null, 2).split('\n'),
  }),
};

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
