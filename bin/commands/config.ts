import { Args } from '@oclif/core';
import { type ConfigNode, valueAt } from '../../shared/config/keys.ts';
import { configSchema } from '../../shared/config/schema.ts';
import { choicesOf, isFound, settingsOf, topicsOf } from '../../shared/config/settings.ts';
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
      this.error(`There is no config key ${key ?? ''}. See config list.`, { exit: EXIT.refused });
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

interface Listed extends Difference {
  readonly topic: string;
  readonly title: string;
  readonly description: string;
  readonly unit: string | null;
  /** What it can be; null: whatever its type allows. */
  readonly choices: readonly string[] | null;
  readonly restarts: readonly string[];
  readonly guarded: boolean;
}

class ConfigListCommand extends NodeCommand {
  static override summary = 'List the settings by topic; one that is found alone is explained.';
  static override examples = [
    '<%= config.bin %> config list',
    '<%= config.bin %> config list log level',
    '<%= config.bin %> config list radio.channel',
  ];
  static override args = {
    search: Args.string({ description: 'words of the name, the key or the explanation' }),
  };
  /** Several words need no quotation marks. */
  static override strict = false;

  async run(): Promise<{ readonly settings: readonly Listed[] }> {
    const search = this.typed(await this.parse(ConfigListCommand)).join(' ');
    const config = await this.call('GET /api/config');
    const topics = topicsOf(configSchema, settingsOf<ConfigNode>(configSchema));
    const found = topics.flatMap(({ title, settings }) =>
      settings.flatMap((setting): readonly Listed[] => {
        if (!isFound(setting, title, search)) return [];
        const { key, leaf, sections } = setting;
        const choices = choicesOf(leaf).map(([choice]) => String(choice));
        return [
          {
            topic: title,
            title: [...sections.slice(1), leaf].map((each) => each.title).join(': '),
            key,
            value: valueAt(config, key) ?? null,
            default: leaf['default'] ?? null,
            description: leaf.description ?? '',
            unit: leaf['x-unit'] ?? null,
            choices: choices.length === 0 ? null : choices,
            restarts: leaf['x-restart'] ?? [],
            guarded: leaf['x-armed'] === 'guard',
          },
        ];
      }),
    );
    const exact = found.filter(({ key }) => key === search);
    const settings = exact.length > 0 ? exact : found;
    const [only] = settings;
    if (only === undefined) this.error(`No setting has ${search}. See config list.`, { exit: EXIT.refused });
    if (settings.length === 1) this.#explain(only);
    else for (const [topic, own] of Map.groupBy(settings, (each) => each.topic)) this.#list(topic, own);
    return { settings };
  }

  #list(topic: string, settings: readonly Listed[]): void {
    const width = Math.max(...settings.map(({ title }) => title.length));
    this.log(`${topic}:`);
    for (const { title, key, value, default: usual, unit } of settings) {
      const mark = isSame(value, usual) || usual === null ? '' : `  (default ${JSON.stringify(usual)})`;
      this.log(
        `  ${title.padEnd(width)}  ${key}: ${JSON.stringify(value)}${unit === null ? '' : ` ${unit}`}${mark}`,
      );
    }
  }

  #explain(setting: Listed): void {
    const { topic, title, key, value, default: usual, description, unit, choices, restarts } = setting;
    this.log(`${title} (${topic})`);
    this.log(`${key}: ${JSON.stringify(value)}${unit === null ? '' : ` ${unit}`}`);
    this.log(`What it is: ${description}`);
    if (choices !== null) this.log(`Choices: ${choices.join(', ')}`);
    this.log(`Default: ${JSON.stringify(usual)}`);
    this.log(`In force after: svc services restart ${restarts.join(' and ')}`);
    if (setting.guarded)
      this.log('Refused while the vehicle is armed or its state is unknown, without --force.');
  }
}

export default {
  'config:list': ConfigListCommand,
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
  return isSame(value, usual) ? [] : [{ key: path, value, default: usual ?? null }];
}

function isSame(value: unknown, usual: unknown): boolean {
  return JSON.stringify(value) === JSON.stringify(usual);
}
