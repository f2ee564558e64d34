#!/usr/bin/env node
// The entry of the connector. Compiled it runs on the machine's own Node from 20.12 on; a checkout runs its TypeScript with the
// Node 24 that `npm ci` brought.
import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const source = here('../connector/main.ts');
const compiled = here('../dist/connector/main.js');
const [major, minor] = process.versions.node.split('.').map(Number);
const runsTypeScript = major > 22 || (major === 22 && minor >= 18);

// The one that started us (the last branch below) has gone, however it ended: nothing may stay behind on the port.
if (process.connected) {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel.unref();
}

if (existsSync(source) && runsTypeScript) {
  keepCompiled();
  await import(source);
} else if (existsSync(compiled) && !existsSync(source)) {
  // The first with `hash` of node:crypto.
  if (major < 20 || (major === 20 && minor < 12)) {
    process.stderr.write(`svc-mcp needs Node 20.12 or newer; this is ${process.version}.\n`);
    process.exit(1);
  }
  await import(compiled);
} else {
  const node = here(`../node_modules/node-linux-${process.arch}/bin/node`);
  if (!existsSync(node)) {
    process.stderr.write('svc-mcp: run `npm ci` first, or `npm run build`.\n');
    process.exit(1);
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('close', (code) => process.exit(code ?? 1));
}

/** As bin/svc.js: kept beside the code, for its owner alone. */
function keepCompiled() {
  const modules = here('../node_modules/');
  if (existsSync(modules) && statSync(modules).uid === process.getuid?.())
    module.enableCompileCache(here('../node_modules/.cache/svc'));
}
