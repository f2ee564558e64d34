/** `npm run docs`: the route table as `docs/routes.md`, for people; a contract test holds the two equal. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Row } from '../../shared/routes/row.ts';
import { ROWS } from '../../shared/routes/table.ts';
import { ROOT } from './node.ts';

export const ROUTES_FILE = join(ROOT, 'docs/routes.md');

const HEAD = `# Routes

Made from the route table in \`shared/routes/\` by \`npm run docs\`; do not edit it. A section is a feature: \`features.<name>: false\`
in the config turns its routes off, and they answer 501. Bodies, answers and an example of each are in \`GET /openapi.json\`, and \`svc explain <route>\` prints them. The rules behind them are in [contract.md](contract.md).

| Column | Words |
|---|---|
| Method | \`WS\` is a WebSocket upgrade, \`ANY\` is GET, POST, PUT, PATCH and DELETE |
| Profiles | \`D\` drone, \`G\` ground station |
| Access | \`public\`: no credential needed. \`key\`: pairing key, dashboard session, or a token with the scope. \`keyonly\`: pairing key only. \`ws\`: as \`key\`, or a WebSocket ticket. \`+on-box\`: a trusted process on this machine needs no key. \`near\`: only from the operator's networks. \`tls\`: only by HTTPS, or on the node itself |
| Scope | the one scope that a token needs. \`none\`: tokens are refused. \`inner\`: the scope of the route inside the path. \`+\`: items that the request names may need a higher one |
| Relay | \`forbid\`: refused when the request comes through a ground station's relay |
| Guard | when the armed guard refuses while the vehicle is armed: \`guard\` always, \`guard-if-link\` for a unit that carries the link, \`guard-if-profile\` for a config key with \`x-armed: guard\`, \`inner\` always |
| Built | \`later\`: not built yet, answers 501 |
`;

/** @returns the whole text of the file */
export function routesDocument(rows: readonly Row[] = ROWS): string {
  const tables = [...Map.groupBy(rows, ({ feature }) => feature)].map(([feature, own]) =>
    [
      `\n## ${feature}\n`,
      '| Method | Path | Profiles | Access | Scope | Relay | Guard | Built | What it does |',
      '|---|---|---|---|---|---|---|---|---|',
      ...own.map((row) => `| ${cells(row).join(' | ')} |`),
      '',
    ].join('\n'),
  );
  return HEAD + tables.join('');
}

function cells(row: Row): readonly string[] {
  const access = [
    row.access,
    ...(row.onBox ? ['+on-box'] : []),
    ...(row.nearOnly ? ['near'] : []),
    ...(row.tlsOnly ? ['tls'] : []),
  ];
  return [
    row.method,
    `\`${row.path}\``,
    row.profiles,
    access.join(' '),
    row.names.length > 0 ? `${row.scope} +` : row.scope,
    row.relay,
    row.armed,
    row.built ? 'yes' : 'later',
    row.summary.replaceAll('|', '\\|'),
  ];
}

if (import.meta.main) {
  writeFileSync(ROUTES_FILE, routesDocument());
  process.stdout.write(`${ROUTES_FILE}: ${ROWS.length} routes\n`);
}
