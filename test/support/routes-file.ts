/** `npm run docs`: the route table as `docs/routes.md`, for people; a contract test holds the two equal. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Row } from '../../shared/routes/row.ts';
import { ROWS } from '../../shared/routes/table.ts';
import { ROOT } from './node.ts';

export const ROUTES_FILE = join(ROOT, 'docs/routes.md');

const HEAD = `# Routes

For authors of clients: every route, and who may call it. Made from the route table in \`shared/routes/\` by \`npm run docs\`; do not edit it. A
section is a feature: \`features.<name>: false\` turns its routes off (501). Bodies, answers and examples: \`GET /openapi.json\`, \`svc explain
<route>\`. Rules: [contract](contract.md).

| Column | Words |
|---|---|
| Route | \`WS\` is a WebSocket upgrade, \`ANY\` is GET, POST, PUT, PATCH and DELETE; \`D\` of a drone alone, \`G\` of a ground station alone |
| Access | \`public\`: no credential needed. \`key\`: pairing key, dashboard session, or a token with the scope. \`keyonly\`: pairing key only. \`ws\`: as \`key\`, or a WebSocket ticket. \`+on-box\`: a trusted process on this machine needs no key. \`near\`: only from the operator's networks. \`tls\`: only by HTTPS, or on the node itself |
| Scope | the one scope that a token needs. \`none\`: tokens are refused. \`inner\`: the scope of the route inside the path. \`+\`: items that the request names may need a higher one |
| Refused | \`forbid\`: through a ground station's relay. While the vehicle is armed: \`guard\` always, \`guard-if-link\` for a unit that carries the link, \`guard-if-profile\` for a config key with \`x-armed: guard\`, \`inner\` as the route inside the path |
`;

/** @returns the whole text of the file */
export function routesDocument(rows: readonly Row[] = ROWS): string {
  const tables = [...Map.groupBy(rows, ({ feature }) => feature)].map(([feature, own]) =>
    [
      `\n## ${feature}\n`,
      '| Route | Access | Scope | Refused | What it does |',
      '|---|---|---|---|---|',
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
    [`\`${row.method} ${row.path}\``, ...(row.profiles.length === 1 ? [row.profiles] : [])].join(' '),
    access.join(' '),
    row.names.length > 0 ? `${row.scope} +` : row.scope,
    [row.relay, row.armed].filter((word) => word !== 'ok' && word !== '-').join(', '),
    `${row.summary.replaceAll('|', '\\|')}${row.built ? '' : ' (not built yet: 501)'}`,
  ];
}

if (import.meta.main) {
  writeFileSync(ROUTES_FILE, routesDocument());
  process.stdout.write(`${ROUTES_FILE}: ${ROWS.length} routes\n`);
}
