import { readFile } from 'node:fs/promises';
import { checked } from '../../../shared/schemas/checked.ts';
import type { Validator } from '../../../shared/schemas/validator.ts';

/**
 * A small JSON file of ours; null where there is none, or a power cut left no content.
 * @param check of the schema of T
 * @throws Error with a sentence for another content; the file system's error
 */
export async function readJson<T>(file: string, check: Validator<T>): Promise<T | null> {
  const text = await readText(file);
  if (text === null || text === '') return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`${file} is damaged: it is no JSON.`, { cause: error });
  }
  return checked(check, value, (fault) => new Error(`${file} is damaged: ${fault}.`));
}

/** A small text without its line end; null where there is none. */
export async function readText(file: string): Promise<string | null> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  return text === null ? null : text.trim();
}
