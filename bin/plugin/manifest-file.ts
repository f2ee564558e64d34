import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Manifest, parseManifest } from '../../shared/plugins/manifest.ts';
import { PluginRefusal } from '../../shared/plugins/refusal.ts';

/** The manifest of a folder. @throws PluginRefusal manifest_invalid */
export async function readManifestOf(folder: string): Promise<Manifest> {
  const file = resolve(join(folder, 'manifest.yaml'));
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new PluginRefusal('manifest_invalid', `${file} cannot be read.`, {}, { cause: error });
  });
  const { manifest, violations } = parseManifest(text);
  if (manifest === null) throw new PluginRefusal('manifest_invalid', `${file} is invalid.`, { violations });
  return manifest;
}
