import { createHash, type KeyObject } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { messageOf } from '../../../../shared/errors.ts';
import { writeAtomic } from '../../../../shared/files/atomic-write.ts';
import { recordOf } from '../../../../shared/member.ts';
import { PluginRefusal } from '../../../../shared/plugins/refusal.ts';
import {
  digestOf,
  type FileDigest,
  parseSignature,
  type Trust,
  verifySignature,
} from '../../../../shared/plugins/signature.ts';

/** Beside the files of an extension: what they were when they were installed. */
export const ATTESTATION = '.attestation.json';

interface Attestation {
  /** The text of SIGNATURE. */
  readonly signature: string | null;
  /** By path. */
  readonly files: readonly FileDigest[];
}

export async function writeAttestation(folder: string, attestation: Attestation): Promise<void> {
  await writeAtomic(join(folder, ATTESTATION), `${JSON.stringify(attestation)}\n`, 0o644);
}

/** @throws Error if there is none, or it is not one */
export async function readAttestation(folder: string): Promise<Attestation> {
  const value: unknown = JSON.parse(await readFile(join(folder, ATTESTATION), 'utf8'));
  if (!isAttestation(value)) throw new Error('it is no attestation');
  return value;
}

function isAttestation(value: unknown): value is Attestation {
  const { signature, files } = recordOf(value);
  return (
    (signature === null || typeof signature === 'string') &&
    Array.isArray(files) &&
    files.every(
      (file: unknown) =>
        typeof file === 'object' &&
        file !== null &&
        'path' in file &&
        typeof file.path === 'string' &&
        'sha256' in file &&
        typeof file.sha256 === 'string',
    )
  );
}

/**
 * Compares the files of an installed extension with their attestation, and the attestation with its signature, so that neither
 * can be changed alone. @param signer of the record; null: it was installed unsigned
 * @returns why it may not run, such as `tampered: agent/main.mjs`; null if it may
 */
export async function integrityProblem(
  folder: string,
  signer: string | null,
  trust: Trust,
): Promise<string | null> {
  const attestation = await readAttestation(folder).catch(() => null); // any reason: it does not vouch for anything
  if (attestation === null) return `tampered: ${ATTESTATION}`;
  if (signer !== null) {
    if (trust.revoked.has(signer)) return 'signer_revoked';
    const key = trust.keys.get(signer);
    if (key === undefined) return `signer_unknown: ${signer}`;
    if (!isSignedBy(attestation, signer, key)) return `tampered: ${ATTESTATION}`;
  }
  const expected = new Map(attestation.files.map(({ path, sha256 }) => [path, sha256]));
  const found = await filesIn(folder);
  for (const path of found) if (!expected.has(path)) return `tampered: ${path}`;
  for (const [path, sha256] of expected) {
    // One after the other: this runs beside video and link, and has time.
    if ((await sha256Of(join(folder, path))) !== sha256) return `tampered: ${path}`;
  }
  return null;
}

function isSignedBy({ signature, files }: Attestation, signer: string, key: KeyObject): boolean {
  try {
    const found = parseSignature(signature ?? '');
    return found.signer === signer && verifySignature(digestOf(files), found.signature, key);
  } catch (error) {
    if (error instanceof PluginRefusal) return false;
    throw error;
  }
}

/** The paths of all files below a folder, without the node's own. Anything but files and folders counts as a file. */
async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []); // then all are missing
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => path !== ATTESTATION);
}

/** Null if it cannot be read: it is not what it was, for whatever reason. */
async function sha256Of(path: string): Promise<string | null> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const hash = createHash('sha256');
    await pipeline(file.createReadStream(), hash);
    return hash.digest('hex');
  } catch (error) {
    process.emitWarning(`extension file: ${messageOf(error)}`);
    return null;
  }
}
