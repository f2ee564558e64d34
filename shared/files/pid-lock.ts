import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { bootTime } from '../boot-clock.ts';
import { codeOf } from '../errors.ts';
import { isObject, type JsonObject } from '../member.ts';

/**
 * A lock that one process holds as long as it lives. For the connector, which also runs on Node 20, without the SQLite of
 * lock.ts. A lock of a process that is gone is taken over by one taker at a time.
 */

const TAKING_MS = 10_000;
/** Of `/proc/PID/stat`, the fields after the name, from the state on: when the process began, in ticks since the boot (proc(5)). */
const START_AT = 22 - 3;

/** @returns how to release it; null while another living process holds it. @throws the file system's error */
export function takePidLock(path: string): (() => void) | null {
  const id = randomUUID();
  const draft = `${path}.${id}`;
  const { pid } = process;
  const owner = { id, pid, host: hostname(), boot: bootTime().boot_id, began: beganAt(pid) };
  const text = JSON.stringify(owner);
  writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
  try {
    return placeOrReplace(draft, path) ? () => release(path, id) : null;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Whether a living process holds it. */
export function isPidLocked(path: string): boolean {
  return ownerOf(path) !== 'gone' && isHeld(path);
}

function placeOrReplace(draft: string, path: string): boolean {
  if (taken(() => linkSync(draft, path))) return true; // it appears with its content, or not at all
  if (isHeld(path)) return false;
  const taking = `${path}.taking`;
  if (!taken(() => mkdirSync(taking, { mode: 0o700 }))) {
    // Left over if its maker was killed in between; the next try finds it gone.
    const made = statSync(taking, { throwIfNoEntry: false })?.mtimeMs;
    if (made !== undefined && Date.now() - made > TAKING_MS) rmSync(taking, { recursive: true, force: true });
    return false;
  }
  try {
    if (isHeld(path)) return false; // another one was faster
    renameSync(draft, path);
    return true;
  } finally {
    rmSync(taking, { recursive: true, force: true });
  }
}

/** @returns false if the name exists already */
function taken(make: () => void): boolean {
  try {
    make();
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Whether a process holds it; of a process on another machine nobody here can say. */
function isHeld(path: string): boolean {
  const owner = ownerOf(path);
  if (owner === 'gone') return true; // released this moment; the next try gets it
  if (owner === null) return false;
  const { pid, host, boot, began } = owner;
  if (host !== hostname()) return true;
  if (typeof pid !== 'number') return false;
  // In a container, two processes may be shown two boot ids; when a process began is the same for both.
  const now = typeof began === 'string' ? beganAt(pid) : null;
  if (now !== null) return now === began;
  if (boot !== bootTime().boot_id) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
}

/** Null where that is not known: no such process, or no Linux. */
function beganAt(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[START_AT] ?? null;
  } catch (error) {
    const code = codeOf(error) ?? '';
    if (['ENOENT', 'ESRCH', 'EACCES'].includes(code)) return null;
    throw error;
  }
}

/** Null for a file without an owner, which only a power cut leaves. */
function ownerOf(path: string): JsonObject | 'gone' | null {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isObject(value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'gone';
    throw error;
  }
}

function release(path: string, id: string): void {
  const owner = ownerOf(path);
  if (owner !== null && owner !== 'gone' && owner['id'] === id) rmSync(path, { force: true });
}
