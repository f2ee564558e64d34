#!/usr/bin/env node
// The entry of the `svc` command. Plain JavaScript, because it also has to start on a machine's own older Node: the code
// needs the Node 24 that `npm ci` brought, and hands over to that one.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const WANTED_MAJOR = 24;

if (Number(process.versions.node.split('.')[0]) >= WANTED_MAJOR) {
  // A checkout runs its TypeScript as it stands; a deployed node has only the compiled files.
  const { main } = await import(existsSync(here('./cli.ts')) ? './cli.ts' : '../dist/bin/cli.js');
  await main();
} else {
  const node = here('../node_modules/.bin/node');
  if (!existsSync(node)) {
    process.stderr.write(
      `svc needs Node ${WANTED_MAJOR}; this is ${process.version}. Run \`npm ci\` first.\n`,
    );
    process.exit(1);
  }
  const { status } = spawnSync(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  process.exit(status ?? 1);
}
