/**
 * Preloaded (`--import`) into a process whose writes shall fail: counts the file system calls that change a store, and at
 * call number FAIL_AT does what FAIL_HOW says: an error's code (EIO, ENOSPC, EROFS), or KILL, which is kill -9 before the
 * call. At the end the process prints how many calls it made. No product code knows of it.
 */
import fs, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

const failAt = Number(process.env['FAIL_AT'] ?? 0);
const how = process.env['FAIL_HOW'] ?? '';
const names: string[] = [];

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

process.on('exit', () => {
  process.stdout.write(`\nsteps ${names.join(' ')}\n`);
});
