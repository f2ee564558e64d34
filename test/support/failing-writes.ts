/**
 * Imported by a process whose writes shall fail: counts the file system calls that change a store, and at call number `at` does
 * what `how` says: an error's code (EIO, ENOSPC, EROFS), or KILL, which is kill -9 before the call. No product code knows of it.
 */
import fs, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

let [failAt, how] = [0, ''];
let names: string[] = [];

/** From now on. @param at 0: none fails */
export function failAtStep(at: number, as: string): void {
  [failAt, how, names] = [at, as, []];
}

/** The names of the calls since. */
export function stepsDone(): readonly string[] {
  return names;
}

function step(name: string): void {
  names.push(name);
  if (names.length !== failAt) return;
  if (how === 'KILL') process.kill(process.pid, 'SIGKILL');
  throw Object.assign(new Error(`${how}: injected in ${name}`), { code: how });
}

const METHODS = ['chmod', 'chown', 'writeFile', 'write', 'sync', 'datasync', 'truncate'] as const;

function wrap(handle: FileHandle): FileHandle {
  for (const method of METHODS) {
    const original = handle[method].bind(handle) as (...args: unknown[]) => Promise<unknown>;
    Object.defineProperty(handle, method, {
      value: async (...args: unknown[]) => {
        step(method);
        return original(...args);
      },
    });
  }
  return handle;
}

const { open, rename } = fs;
fs.open = async (path, flags, mode) => {
  const writes = flags !== undefined && flags !== 'r';
  if (writes) step('open');
  return wrap(await open(path, flags, mode));
};
fs.rename = async (from, to) => {
  step('rename');
  return rename(from, to);
};
syncBuiltinESMExports();
