import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';

const VALID = /^[0-9a-f]{12}$/;

/**
 * The node's own id: 12 hexadecimal digits, the same for as long as the file lives. Made once from the machine id, if there is
 * one, hashed so that the machine id stays secret.
 */
export async function deviceId(file: string): Promise<string> {
  const stored = await readOrNull(file);
  if (stored !== null && VALID.test(stored.trim())) return stored.trim();
  const machine = (await readOrNull('/etc/machine-id'))?.trim() ?? '';
  const seed = machine === '' ? randomBytes(16).toString('hex') : `${machine} ${file}`;
  const id = createHash('sha256').update(`svc device ${seed}`).digest('hex').slice(0, 12);
  await mkdir(dirname(file), { recursive: true, mode: 0o755 });
  await writeAtomic(file, `${id}\n`, 0o644);
  return id;
}

async function readOrNull(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'EACCES') return null;
    throw error;
  });
}
