import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isDeviceId } from '../../../shared/device-id.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { putAside } from '../../../shared/files/put-aside.ts';

/**
 * The node's own id: 12 hexadecimal digits, the same for as long as the file lives. Made once from the machine id, if there is
 * one, hashed so that the machine id stays secret: a damaged file is put aside, and the same id made again.
 * @param onProblem told what is wrong with the file
 */
export async function deviceId(
  file: string,
  onProblem: (sentence: string) => void = () => undefined,
): Promise<string> {
  const stored = await readOrNull(file);
  if (isDeviceId(stored?.trim())) return stored.trim();
  if (stored !== null) onProblem(await putAside(file, new Error('it holds no id of a node')));
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
