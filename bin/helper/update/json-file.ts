import { readFile } from 'node:fs/promises';

/** A small JSON file of ours; null where there is none, or a power cut left no content. @throws the file system's error */
export async function readJson<T>(file: string): Promise<T | null> {
  const text = await readText(file);
  if (text === null || text === '') return null;
  return JSON.parse(text) as T;
}

/** A small text without its line end; null where there is none. */
export async function readText(file: string): Promise<string | null> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  return text === null ? null : text.trim();
}
