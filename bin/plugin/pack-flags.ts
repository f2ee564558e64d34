import type { KeyObject } from 'node:crypto';
import { basename } from 'node:path';
import { Flags } from '@oclif/core';
import type { Packed } from '../../shared/plugins/pack.ts';

/** What `pack` and `sign` print with --json. */
export interface PackResult extends Packed {
  readonly file: string;
}

/** What `pack` and `sign` have in common. */
export const KEY_FLAGS = {
  key: Flags.string({ summary: 'your private key, from svc plugin keygen', env: 'SVC_PLUGIN_KEY' }),
  'signer-id': Flags.string({ summary: 'your id as a signer; by default the name of the key file' }),
};

/** Who signs; null without a key. */
export async function signWith(
  key: string | undefined,
  signer: string | undefined,
): Promise<{ readonly key: KeyObject; readonly signer: string } | null> {
  if (key === undefined) return null;
  const { readPrivateKey, requireSigner } = await import('./keys.ts');
  const id = signer ?? basename(key).replace(/(?:\.key)?\.pem$/, '');
  requireSigner(id);
  return { key: await readPrivateKey(key), signer: id };
}

/** `<id>-<version>.svcplug` in the current folder. @throws PluginRefusal manifest_invalid */
export async function defaultOutput(folder: string): Promise<string> {
  const { readManifestOf } = await import('./manifest-file.ts');
  const { id, version } = await readManifestOf(folder);
  return `${id}-${version}.svcplug`;
}
