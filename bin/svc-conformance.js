#!/usr/bin/env node
// The entry of svc-conformance. Plain JavaScript, as bin/svc.js: it also has to start on a machine's own older Node, and hands over to
// the one that `npm ci` brought.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const WANTED_MAJOR = 24;

if (Number(process.versions.node.split('.')[0]) >= WANTED_MAJOR) {
  await import(
    existsSync(here('./conformance/main.ts')) ? './conformance/main.ts' : '../dist/bin/conformance/main.js'
  );
} else {
  const node = here(`../node_modules/node-linux-${process.arch}/bin/node`);
  if (!existsSync(node)) {
    process.stderr.write(
      `svc-conformance needs Node ${WANTED_MAJOR}; this is ${process.version}. Run \`npm ci\` first.\n`,
    );
    process.exit(2);
  }
  const { status } = spawnSync(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  process.exit(status ?? 2);
}
