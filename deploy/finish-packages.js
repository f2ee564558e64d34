/**
 * What npm leaves undone in node_modules: removes what packages bring for other machines, and what only a build needs, and links
 * the Node of this one (older npm remove that link with the package for the other processor). Plain JavaScript, for whatever Node
 * runs npm. With `npm ci --os … --cpu …` the named machine counts.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const modules = fileURLToPath(new URL('../node_modules', import.meta.url));
const os = process.env['npm_config_os'] || process.platform;
const cpu = process.env['npm_config_cpu'] || process.arch;

if (cpu !== 'x64' && cpu !== 'arm64') {
  console.error(`svc needs a 64-bit system (amd64 or arm64); the programs of this one are for ${cpu}.`);
  process.exit(1);
}

/** @returns the names in a folder; none if it is not there */
function namesIn(folder) {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

/** Keeps one name in a folder. */
function keep(folder, name) {
  for (const other of namesIn(folder)) if (other !== name) rmSync(join(folder, other), { recursive: true });
}

for (const name of namesIn(modules).filter((each) => each.startsWith('node-linux-')))
  for (const part of ['include', 'share'])
    rmSync(join(modules, name, part), { recursive: true, force: true });

const onnxruntime = join(modules, 'onnxruntime-node/bin');
for (const abi of namesIn(onnxruntime)) {
  keep(join(onnxruntime, abi), os);
  keep(join(onnxruntime, abi, os), cpu);
}

const node = `node-linux-${cpu}/bin/node`;
const link = join(modules, '.bin/node');
if (existsSync(join(modules, node)) && !existsSync(link)) {
  mkdirSync(join(modules, '.bin'), { recursive: true });
  rmSync(link, { force: true }); // one that leads nowhere
  symlinkSync(`../${node}`, link);
}
