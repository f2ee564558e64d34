import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PluginRefusal } from '../../shared/plugins/refusal.ts';
import { PACKAGE_ROOT } from '../places.ts';

export const KINDS = ['node', 'binary', 'python', 'gcs'] as const;
export type Kind = (typeof KINDS)[number];

const SOURCES = join(PACKAGE_ROOT, 'deploy/extensions');
const MSGPACK = join(PACKAGE_ROOT, 'node_modules/@msgpack/msgpack');

/** Where the client of each runtime goes, and what it consists of. */
const SDK: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  node: {
    'agent/sdk/svc-extension.mjs': join(SOURCES, 'sdk/svc-extension.mjs'),
    'agent/sdk/svc-extension.d.mts': join(SOURCES, 'sdk/svc-extension.d.mts'),
    'agent/sdk/msgpack.cjs': join(MSGPACK, 'dist.umd/msgpack.min.js'),
    'agent/sdk/msgpack.LICENSE.txt': join(MSGPACK, 'LICENSE'),
  },
  python: { 'agent/svc_extension.py': join(SOURCES, 'sdk/svc_extension.py') },
};

/** Writes the client for this runtime into a project, or renews it. @returns the paths, none where there is no client */
export async function writeSdk(folder: string, runtime: string): Promise<string[]> {
  const files = Object.entries(SDK[runtime] ?? {});
  for (const [path, source] of files) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await cp(source, join(folder, path));
  }
  return files.map(([path]) => path);
}

/**
 * Writes a working project.
 * @param folder must not be there, or be empty
 * @returns the paths of its files
 */
export async function writeProject(folder: string, kind: Kind, id: string, name: string): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  if ((await readdir(folder)).length > 0)
    throw new PluginRefusal('usage_error', `${folder} is not empty. Name a new folder.`);
  const template = join(SOURCES, 'templates', kind);
  if (!existsSync(template))
    throw new PluginRefusal(
      'host_io_error',
      `${template} is missing: this installation of svc is incomplete.`,
    );
  await cp(template, folder, { recursive: true });
  await writeFile(join(folder, '.gitignore'), '*.svcplug\n*.pem\n__pycache__/\nnode_modules/\n');
  for (const path of await readdir(folder, { recursive: true })) {
    if (!/\.(?:ya?ml|md|json)$/.test(path)) continue;
    const file = join(folder, path);
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replaceAll('__ID__', id).replaceAll('__NAME__', name));
  }
  await writeSdk(folder, kind);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}
