import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { missing, runProgram } from '../../shared/process/run-program.ts';

/** Where programs are searched; the caller's PATH is ignored. Tests put programs of their own first. */
export const SEARCH_PATH = '/usr/sbin:/usr/bin:/sbin:/bin';

/** Runs a program with an argument list; returns what it has written. @throws ApiError as `runProgram` */
export type Run = (program: string, args: readonly string[], timeoutMs: number) => Promise<string>;

/** @param searchPath absolute folders, separated by colons; the caller's own PATH is ignored */
export function programRunner(
  searchPath: string,
  env: Readonly<Record<string, string | undefined>> = {},
): Run {
  return async (program, args, timeoutMs) => {
    const path = await findProgram(program, searchPath);
    return runProgram(path, args, timeoutMs, { env: { ...env, PATH: searchPath, LC_ALL: 'C' } });
  };
}

/** @throws ApiError E_NOT_IMPLEMENTED if it is in none of the folders */
export async function findProgram(program: string, searchPath: string): Promise<string> {
  for (const folder of searchPath.split(':').filter(isAbsolute)) {
    const path = join(folder, program);
    const found = await access(path, constants.X_OK).then(
      () => true,
      () => false, // not in this folder
    );
    if (found) return path;
  }
  throw missing(program);
}
