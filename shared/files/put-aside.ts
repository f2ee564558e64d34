import { rename } from 'node:fs/promises';
import { messageOf } from '../errors.ts';
import { isTransient } from './transient.ts';

/**
 * Keeps a file of state that cannot be used as `<file>.broken`, so that the next write does not take its place.
 * @param error why it cannot be used; one that may pass (no descriptor is left) moves nothing
 * @returns what is wrong, in a sentence that names the file
 */
export async function putAside(file: string, error: unknown): Promise<string> {
  const problem = `${file} cannot be used: ${messageOf(error)}`;
  if (isTransient(error)) return `${problem}.`;
  return rename(file, `${file}.broken`).then(
    () => `${problem}. It is kept as ${file}.broken.`,
    (failure: unknown) => `${problem}, and cannot be put aside: ${messageOf(failure)}.`,
  );
}
