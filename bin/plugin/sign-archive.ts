import type { KeyObject } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openArchive } from '../../shared/plugins/archive.ts';
import { type Packed, packFolder } from '../../shared/plugins/pack.ts';

/** Packs the files of an archive again, with a signature. @throws PluginRefusal for an archive that a node would refuse */
export async function signArchive(
  file: string,
  sign: { readonly key: KeyObject; readonly signer: string },
  output: string,
): Promise<Packed> {
  const temporary = await mkdtemp(join(tmpdir(), 'svc-sign-'));
  try {
    const folder = join(temporary, 'files');
    const archive = await openArchive(file);
    try {
      await archive.unpack(folder);
    } finally {
      await archive.close();
    }
    return await packFolder(folder, { sign, everything: true }, output);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
