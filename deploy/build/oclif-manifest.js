// Writes oclif.manifest.json into a built `dist`: what every command takes, so that `svc` loads only the one that it runs.
//   node deploy/build/oclif-manifest.js [DIST]
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Plugin } from '@oclif/core';

const root = resolve(process.argv[2] ?? join(import.meta.dirname, '../../dist'));
const plugin = new Plugin({
  root,
  isRoot: true,
  ignoreManifest: true,
  errorOnManifestCreate: true,
  respectNoCacheDefault: true,
});
await plugin.load();
// oclif loads them at the same time: without an order each build would be another.
const commands = Object.entries(plugin.manifest.commands).sort(([a], [b]) => (a < b ? -1 : 1));
writeFileSync(
  join(root, 'oclif.manifest.json'),
  JSON.stringify({ ...plugin.manifest, commands: Object.fromEntries(commands) }),
);
