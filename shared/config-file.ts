import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Document, parseDocument } from 'yaml';
import { ConfigError, loadConfig, parseConfig } from './config.ts';
import { ApiError, messageOf } from './errors.ts';
import { writeAtomic } from './files/atomic-write.ts';
import { withLock } from './files/lock.ts';
import type { Paths } from './paths.ts';

/**
 * Sets one key of the config file, and of its last good copy; comments and order survive. Safe against other processes
 * that do the same. The caller has checked who may write the key.
 * @param value a JSON value of the key's type
 * @throws ApiError E_INVALID_VALUE, E_STORE; nothing is written then
 */
export async function setConfigKey(
  paths: Pick<Paths, 'config' | 'configLastGood'>,
  key: string,
  value: unknown,
): Promise<void> {
  try {
    await mkdir(dirname(paths.config), { recursive: true });
    await withLock(`${paths.config}.lock`, async () => replace(paths, key, value));
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError('E_STORE', `The config could not be written: ${messageOf(error)}.`);
  }
}

/** A refusal of `key` for the reason `message`. */
export function invalidKey(key: string, message: string): ApiError {
  return new ApiError('E_INVALID_VALUE', `${key}: ${message}`, {
    errors: [{ path: `/${key.replaceAll('.', '/')}`, message }],
  });
}

async function replace(
  paths: Pick<Paths, 'config' | 'configLastGood'>,
  key: string,
  value: unknown,
): Promise<void> {
  const { config: file, configLastGood } = paths;
  const { text, problem } = await loadConfig(paths);
  if (text === null) {
    throw new ApiError(
      'E_STORE',
      `The config file is broken and is not written over: ${problem ?? file}. Mend it first.`,
    );
  }
  const document = text.trim() === '' ? new Document({}) : parseDocument(text);
  document.setIn(key.split('.'), value);
  const next = document.toString();
  try {
    parseConfig(next, 'the config'); // the whole must stand, not the one key alone
  } catch (error) {
    if (error instanceof ConfigError) throw invalidKey(key, error.message);
    throw error;
  }
  await writeOwned(file, next);
  // From here on the key is changed, and no answer may say that it is not; the copy is made again at the next start.
  try {
    await mkdir(dirname(configLastGood), { recursive: true });
    await writeOwned(configLastGood, next);
  } catch (error) {
    process.emitWarning(`the last good copy of the config could not be written: ${messageOf(error)}`);
  }
}

/** What root writes stays readable for the service's user: it goes to the old file's owner, or the directory's. */
async function writeOwned(file: string, text: string): Promise<void> {
  if (process.getuid?.() !== 0) return writeAtomic(file, text, 0o600);
  const owner = await stat(file).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return stat(dirname(file));
    throw error;
  });
  await writeAtomic(file, text, 0o600, owner);
}
