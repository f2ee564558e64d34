import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../errors.ts';

const MAX_BYTES = 64 * 1024;
// NONBLOCK: if the path is a pipe, opening it must not wait for a writer.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The file is trusted, and longer than whoever reads it takes. */
export class TooLarge extends Error {}

/**
 * Why a file with these facts is not trusted: not a plain file, a second name, another owner, open to others. A user who can
 * write a secret can choose it, so only the service's user and root may own it.
 * @param forbidden the mode bits that nobody but the owner may have
 */
export function distrust(file: string, stat: Stats, forbidden = 0o077): string | null {
  if (!stat.isFile()) return 'is not a plain file';
  if (stat.nlink > 1) return 'has a second name (a hard link)';
  const own = serviceUser(file);
  if (own !== null && stat.uid !== own && stat.uid !== 0)
    return `belongs to user ${stat.uid}, not to the service's user (${own}) or root`;
  if ((stat.mode & forbidden) !== 0)
    return `is open to others than its owner; ${forbidden === 0o077 ? 'chmod 600' : 'chmod go-w'} it`;
  return null;
}

/** The service's user: that of this process; for root, the owner of the folder. Null if unknown. */
function serviceUser(file: string): number | null {
  const own = process.getuid?.() ?? null;
  return own === 0 ? statSync(dirname(file)).uid : own;
}

/**
 * The text of a file that only this service may read, null if there is none. @throws Error naming the problem: a link, not a
 * plain file, a second name, more than 64 KiB, another owner, readable by others, or the file system's own error
 */
export async function readPrivate(file: string, maxBytes = MAX_BYTES): Promise<string | null> {
  return readOwn(file, 0o077, maxBytes);
}

/**
 * The text of a file that only this service's user and root can write, null if there is none.
 * @param forbidden the mode bits that it must not have; without 0o044 others may read it
 * @throws Error as `readPrivate`
 */
export async function readOwn(file: string, forbidden: number, maxBytes = MAX_BYTES): Promise<string | null> {
  const handle = await open(file, FLAGS).catch((error: unknown) => absent(file, error));
  if (handle === null) return null;
  try {
    check(file, await handle.stat(), maxBytes, forbidden);
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

/** As `readPrivate`, but synchronous. */
export function readPrivateSync(file: string, maxBytes = MAX_BYTES): string | null {
  let fd: number;
  try {
    fd = openSync(file, FLAGS);
  } catch (error) {
    return absent(file, error);
  }
  try {
    const stat = fstatSync(fd);
    check(file, stat, maxBytes);
    const bytes = Buffer.alloc(stat.size);
    let at = 0;
    // Reads at most the size from `stat`, even if the file grows.
    for (let got = -1; at < bytes.length && got !== 0; at += got)
      got = readSync(fd, bytes, at, bytes.length - at, at);
    return bytes.toString('utf8', 0, at);
  } finally {
    closeSync(fd);
  }
}

function absent(file: string, error: unknown): null {
  const code = codeOf(error);
  if (code === 'ENOENT') return null;
  if (code === 'ELOOP') throw new Error(`${file} is a symbolic link`, { cause: error });
  throw error;
}

function check(file: string, stat: Stats, maxBytes: number, forbidden = 0o077): void {
  const why = distrust(file, stat, forbidden);
  if (why !== null) throw new Error(`${file} ${why}`);
  if (stat.size > maxBytes) throw new TooLarge(`${file} is larger than ${maxBytes} bytes`);
}
