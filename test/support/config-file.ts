/** `npm run docs`: every key of the config as `docs/configuration.md`, for people; a contract test holds the two equal. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConfigNode, configLeaves } from '../../shared/config/keys.ts';
import { configSchema } from '../../shared/config/schema.ts';
import { type Setting, settingsOf, topicsOf } from '../../shared/config/settings.ts';
import { ROOT } from './node.ts';

export const CONFIG_FILE = join(ROOT, 'docs/configuration.md');

const HEAD = `# Configuration

For operators: every setting, by topic as on the page. Made from the schema in \`shared/config/\` by \`npm run docs\`; do not edit it. The file is
\`/etc/svc/config.yaml\`, in a checkout \`.svc/etc/config.yaml\`; what it leaves out has its default. Change it on the page (Node, Settings), by
\`svc config set KEY VALUE\`, \`PUT /api/config\`, or by hand. \`svc config list\` shows them as here, \`svc config get\` what is set, \`svc config diff\` what differs from the
defaults; for programs: \`GET /api/config/schema\`.

| Column | |
|---|---|
| In force after | the processes that must restart: \`svc services restart NAME\`, or the button on the page. \`svc-supervisor\` is the whole node |
| Who | the least right needed to write it: a token with \`admin\` and any scope named beside it, the pairing \`key\`, or \`root\` on the node; \`disarmed\`: refused while the vehicle is armed or its state is unknown, without \`--force\` |
`;

/** @returns the whole text of the file */
export function configDocument(): string {
  const topics = topicsOf(configSchema, settingsOf<ConfigNode>(configSchema)).map(({ title, settings }) =>
    [
      `\n## ${title}\n`,
      '| Setting | Key | Type | Default | What it is | In force after | Who |',
      '|---|---|---|---|---|---|---|',
      ...settings.map((setting) => `| ${cells(setting).join(' | ')} |`),
      '',
    ].join('\n'),
  );
  return HEAD + topics.join('');
}

function cells({ key, leaf, sections }: Setting<ConfigNode>): readonly string[] {
  const who = leaf['x-class'];
  const unit = leaf['x-unit'];
  return [
    // Of a section within a section its name alone would say too little.
    [...sections.slice(1), leaf].map(({ title }) => title).join(': '),
    `\`${key}\``,
    `${typeOf(leaf)}${unit === undefined ? '' : `, ${unit}`}`,
    `\`${JSON.stringify(leaf['default'])}\``,
    `${String(leaf['description'])}${leaf['x-secret'] === true ? '; a secret, never shown' : ''}`,
    (leaf['x-restart'] ?? []).map((name) => `\`${name}\``).join(', '),
    `${who === undefined ? 'admin' : who === 'keyonly' ? 'key' : who === 'root' ? 'root' : `admin, ${who}`}${leaf['x-armed'] === 'guard' ? ', disarmed' : ''}`,
  ].map((cell) => cell.replaceAll('|', '\\|'));
}

interface Items {
  readonly items?: ConfigNode;
}

/** What may stand there, in words. */
function typeOf(leaf: ConfigNode): string {
  const { type, enum: options, minimum, maximum, maxItems, items } = leaf as ConfigNode & Items;
  if (Array.isArray(options)) return options.map((option) => `\`${String(option)}\``).join(', ');
  if (type === 'array')
    return `list of ${items === undefined ? 'texts' : typeOf(items).replace(/^text$/, 'texts')}, at most ${String(maxItems)}`;
  if (type === 'boolean') return 'true or false';
  if (type === 'string') return 'text';
  if (type === 'object') return 'objects';
  const range = `${String(minimum)} to ${String(maximum)}`;
  if (!Array.isArray(type)) return `${String(type)}, ${range}`;
  return type.includes('null') ? `${String(type[0])}, ${range}, or null` : `text, or integer, ${range}`;
}

if (import.meta.main) {
  writeFileSync(CONFIG_FILE, configDocument());
  process.stdout.write(`${CONFIG_FILE}: ${configLeaves().length} keys\n`);
}
