#!/usr/bin/env node
// The entry of the `svc` command. Plain JavaScript, because it also has to start on a machine's own older Node: the code
// needs the Node 24 that `npm ci` brought, and hands over to that one.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const WANTED_MAJOR = 24;

if (Number(process.versions.node.split('.')[0]) >= WANTED_MAJOR) {
  // A checkout runs its TypeScript as it stands; a deployed node has only the compiled files.
  const isCheckout = existsSync(here('./cli/cli.ts'));
  // An error that a program or a log takes is not broken into lines; help keeps its width.
  const [word = 'help'] = process.argv.slice(2);
  const isHelp = word === 'help' || process.argv.includes('--help');
  if (!process.stderr.isTTY && !isHelp) process.env.OCLIF_COLUMNS ??= '10000';
  if (isCheckout) keepCompiled();
  const { main } = await import(isCheckout ? './cli/cli.ts' : '../dist/bin/cli/cli.js');
  await main();
} else {
  const node = here(`../node_modules/node-linux-${process.arch}/bin/node`);
  if (!existsSync(node)) {
    // `npm ci` has none for other machines.
    const fits = process.arch === 'x64' || process.arch === 'arm64';
    process.stderr.write(
      fits
        ? `svc needs Node ${WANTED_MAJOR}; this is ${process.version}. Run \`npm ci\` first.\n`
        : `svc needs a 64-bit system (amd64 or arm64); the programs of this one are for ${process.arch}.\n`,
    );
    process.exit(1);
  }
  const { status } = spawnSync(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  process.exit(status ?? 1);
}

/**
 * Keeps the compiled code for the next command: half of its CPU time. Beside the code that it comes from, and for the owner of
 * that alone: nobody runs what another user has put there, and root leaves nothing that `npm ci` cannot remove.
 */
function keepCompiled() {
  const { uid } = statSync(here('../node_modules/'));
  if (uid === process.getuid()) module.enableCompileCache(here('../node_modules/.cache/svc'));
}
