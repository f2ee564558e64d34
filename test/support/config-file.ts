/** `npm run docs`: every key of the config as `docs/configuration.md`, for people; a contract test holds the two equal. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConfigNode, configLeaves } from '../../shared/config/keys.ts';
import { ROOT } from './node.ts';

export const CONFIG_FILE = join(ROOT, 'docs/configuration.md');

const HEAD = `# Configuration

For operators: every setting. Made from the schema in \`shared/config/\` by \`npm run docs\`; do not edit it. The file is
\`/etc/svc/config.yaml\`, in a checkout \`.svc/etc/config.yaml\`; what it leaves out has its default. Change it on the page (Node, Config), by
\`svc config set KEY VALUE\`, \`PUT /api/config\`, or by hand. \`svc config get\` shows what is set, \`svc config diff\` what differs from the
defaults; for programs: \`GET /api/config/schema\`.

| Column | |
|---|---|
| In force after | the processes that must restart: \`svc services restart NAME\`, or the button on the page. \`svc-supervisor\` is the whole node |
| Who | the least right needed to write it: a token with \`admin\` and any scope named beside it, the pairing \`key\`, or \`root\` on the node; \`disarmed\`: refused while the vehicle is armed or its state is unknown, without \`--force\` |
`;

/** By the last word of the key: what the number counts. */
const UNITS: Readonly<Record<string, string>> = {
  days: 'days',
  dbm: 'dBm',
  fps: '1/s',
  height: 'pixels',
  hz: '1/s',
  kbps: 'kbit/s',
  m: 'm',
  mb: 'MB',
  mhz: 'MHz',
  s: 's',
  width: 'pixels',
};

/** @returns the whole text of the file */
export function configDocument(leaves = configLeaves()): string {
  const sections = [...Map.groupBy(leaves, ([key]) => key.split('.')[0] ?? '')].map(([name, own]) =>
    [
      `\n## ${name}\n`,
      '| Key | Type | Default | What it is | In force after | Who |',
      '|---|---|---|---|---|---|',
      ...own.map(([key, leaf]) => `| ${cells(key, leaf).join(' | ')} |`),
      '',
    ].join('\n'),
  );
  return HEAD + sections.join('');
}

function cells(key: string, leaf: ConfigNode): readonly string[] {
  const who = leaf['x-class'];
  return [
    `\`${key}\``,
    [typeOf(leaf), UNITS[key.split(/[._]/).at(-1) ?? ''] ?? ''].filter((word) => word !== '').join(', '),
    leaf['default'] === undefined ? 'of the profile' : `\`${JSON.stringify(leaf['default'])}\``,
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
  const [name, orNull] = Array.isArray(type) ? [String(type[0]), ', or null'] : [String(type), ''];
  return `${name}, ${String(minimum)} to ${String(maximum)}${orNull}`;
}

if (import.meta.main) {
  writeFileSync(CONFIG_FILE, configDocument());
  process.stdout.write(`${CONFIG_FILE}: ${configLeaves().length} keys\n`);
}
