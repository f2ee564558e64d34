import { chmod, lstat, unlink } from 'node:fs/promises';
import { connect, type Server } from 'node:net';
import { messageOf } from '../errors.ts';

const PROBE_TIMEOUT_MS = 1000;

/** True when something accepts connections at the Unix socket `path`. */
async function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const done = (live: boolean): void => {
      socket.destroy();
      resolve(live);
    };
    socket.setTimeout(PROBE_TIMEOUT_MS, () => done(true)); // accepted but silent, or a full backlog: somebody is there
    socket.once('connect', () => done(true));
    socket.once('error', () => done(false));
  });
}

/**
 * Makes `path` free for a listening Unix socket.
 * A socket that nobody answers on is left over from a killed process and is removed. A live peer, or anything that is
 * not a socket (a file, a symbolic link, a FIFO), is an error: we neither steal nor follow it.
 */
async function clear(path: string): Promise<void> {
  const stat = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (stat === null) return;
  if (!stat.isSocket()) throw new Error(`${path} exists and is not a socket. Remove it, then start again.`);
  if (await answers(path)) throw new Error(`${path} is in use by a running process. Stop that one first.`);
  await unlink(path);
}

/**
 * Listens on the Unix socket `path` with `mode` (default 0660), replacing a dead socket file.
 * @throws Error with a sentence that names the path: live peer, not a socket, missing directory, no permission
 */
export async function listenUnix(server: Server, path: string, mode = 0o660): Promise<void> {
  await clear(path);
  await new Promise<void>((resolve, reject) => {
    const onError = (error: Error): void =>
      reject(new Error(`cannot listen on ${path}: ${messageOf(error)}`));
    server.once('error', onError);
    server.listen(path, () => {
      server.off('error', onError);
      resolve();
    });
  });
  await chmod(path, mode);
}
