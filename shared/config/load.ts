import { messageOf } from '../errors.ts';
import { readOwn } from '../files/private-file.ts';
import type { Paths } from '../paths.ts';
import { readChecked } from './checked-copy.ts';
import type { Config } from './schema.ts';

const OTHERS_WRITE = 0o002;
const MAX_BYTES = 1024 * 1024;

export interface LoadedConfig {
  readonly config: Config;
  /** The file's text if the file is in force, else null. */
  readonly text: string | null;
  /** The errors in the file, in a sentence with their lines and keys; null if the file is in force or absent. */
  readonly problem: string | null;
}

/** The config decides who may fly, so only the service's user or root may own it, and links are not followed. */
async function readIfThere(path: string): Promise<string | null> {
  return readOwn(path, OTHERS_WRITE, MAX_BYTES);
}

/**
 * The config in force: the file; if it is broken or unreadable, the last good copy; if there is none, the defaults, which allow
 * the least (tokens off, no extra origins).
 */
export async function loadConfig(
  paths: Pick<Paths, 'config' | 'configLastGood' | 'configChecked'>,
): Promise<LoadedConfig> {
  let problem: string;
  try {
    const found = await readIfThere(paths.config);
    const text = found ?? '';
    if (found !== null && isEmptied(text) && (await isThere(paths.configLastGood)))
      throw new Error(
        `${paths.config} is empty, as a power cut leaves it; put {} into it if the defaults are wanted`,
      );
    const known = await readChecked(paths.configChecked, text);
    return { config: known ?? (await parseConfig(text, paths.config)), text, problem: null };
  } catch (error) {
    problem = messageOf(error);
  }
  try {
    const good = await readIfThere(paths.configLastGood);
    if (good !== null) return { config: await parseConfig(good, paths.configLastGood), text: null, problem };
  } catch (error) {
    problem += `; and the last good copy: ${messageOf(error)}`;
  }
  return { config: await parseConfig('', 'defaults'), text: null, problem };
}

/** Nobody writes a configuration of nothing, or of zeros: a comment or `{}` says that the defaults are wanted. */
function isEmptied(text: string): boolean {
  return text.replaceAll('\0', '').trim() === '';
}

/** Also a copy that cannot be read: nothing says that the defaults were in force. */
async function isThere(path: string): Promise<boolean> {
  return readIfThere(path).then(
    (text) => text !== null && !isEmptied(text),
    () => true,
  );
}

/** Loaded when it is needed: YAML and Ajv take 100 ms and 15 MiB in each process. */
async function parseConfig(text: string, file: string): Promise<Config> {
  return (await import('./parse.ts')).parseConfig(text, file);
}
