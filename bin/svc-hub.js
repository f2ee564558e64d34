#!/usr/bin/env node
// The entry of svc-hub. Plain JavaScript, because it also has to start on a machine's own older Node: the code needs the Node 24
// that `npm ci` brought, and hands over to that one.
import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const WANTED_MAJOR = 24;

// The one that started us (the last branch below) has gone, however it ended: nothing may stay behind on the ports.
if (process.connected) {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel.unref();
}

/** Small young generations: a hub keeps much for long, and little for a short time. A third of its memory otherwise. */
const FLAGS = ['--max-semi-space-size=4', '--disable-warning=ExperimentalWarning'];
const own = [...FLAGS, fileURLToPath(import.meta.url), ...process.argv.slice(2)];

if (Number(process.versions.node.split('.')[0]) >= WANTED_MAJOR) {
  // In place of this process: whoever has started us has its id.
  if (!process.execArgv.includes(FLAGS[0]))
    process.execve(process.execPath, [process.execPath, ...own], process.env);
  const isCheckout = existsSync(here('./hub/main.ts'));
  if (isCheckout) keepCompiled();
  await import(isCheckout ? './hub/main.ts' : '../dist/bin/hub/main.js');
} else {
  const node = here(`../node_modules/node-linux-${process.arch}/bin/node`);
  if (!existsSync(node)) {
    process.stderr.write(
      `svc-hub needs Node ${WANTED_MAJOR}; this is ${process.version}. Run \`npm ci\` first.\n`,
    );
    process.exit(1);
  }
  const child = spawn(node, own, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('close', (code) => process.exit(code ?? 1));
}

/** As bin/svc.js: kept beside the code, for its owner alone; the hub also starts without what removes the types. */
function keepCompiled() {
  const { uid } = statSync(here('../node_modules/'));
  if (uid === process.getuid()) module.enableCompileCache(here('../node_modules/.cache/svc'));
}
