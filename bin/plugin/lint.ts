import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openArchive } from '../../shared/plugins/archive.ts';
import {
  type Manifest,
  type RequestedPermission,
  requestedPermissions,
  svcVersionFits,
} from '../../shared/plugins/manifest.ts';
import { packFolder } from '../../shared/plugins/pack.ts';
import { parseSignature } from '../../shared/plugins/signature.ts';
import { VERSION } from '../../shared/version.ts';

export interface Linted {
  readonly id: string;
  readonly version: string;
  readonly files: number;
  /** Bytes, unpacked. */
  readonly size: number;
  /** Who says to have signed it; nobody has verified that. */
  readonly declared_signer: string | null;
  readonly permissions: readonly RequestedPermission[];
  readonly warnings: readonly string[];
}

/**
 * Checks an archive, or a folder as if it were packed.
 * @throws PluginRefusal as a node would
 */
export async function lint(path: string): Promise<Linted> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) return lintArchive(path);
  const temporary = await mkdtemp(join(tmpdir(), 'svc-lint-'));
  try {
    const file = join(temporary, 'packed.svcplug');
    await packFolder(path, {}, file);
    return await lintArchive(file);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function lintArchive(file: string): Promise<Linted> {
  const archive = await openArchive(file);
  try {
    const { manifest, signatureText } = archive;
    await archive.digest(); // reads everything once
    return {
      id: manifest.id,
      version: manifest.version,
      files: archive.entries.length,
      size: archive.unpackedSize,
      declared_signer: signatureText === null ? null : parseSignature(signatureText).signer,
      permissions: requestedPermissions(manifest),
      warnings: [...archive.warnings, ...advice(manifest)],
    };
  } finally {
    await archive.close();
  }
}

/** What a node takes, and what its users would miss. */
function advice(manifest: Manifest): string[] {
  const out: string[] = [];
  if (!svcVersionFits(manifest, VERSION))
    out.push(`compatibility.svc_version is ${manifest.compatibility.svc_version}; this svc is ${VERSION}.`);
  for (const name of ['description', 'author', 'license'] as const)
    if (manifest[name] === '') out.push(`${name} is empty; people see it before they install.`);
  for (const half of [manifest.agent, manifest.gcs])
    for (const permission of half?.permissions ?? [])
      if (!permission.required && permission.degraded_behavior === null)
        out.push(`${permission.id} is not required; say in degraded_behavior what happens without it.`);
  for (const tool of manifest.agent?.contributes.tools ?? [])
    if (tool.safety_class === undefined)
      out.push(`the tool ${tool.name} has no safety_class and counts as admin.`);
  return out;
}
