import { chmod, unlink } from 'node:fs/promises';
import type { Server } from 'node:net';
import { messageOf } from '../errors.ts';
import { probeSocket } from './probe.ts';

const PROBE_TIMEOUT_MS = 1000;

/**
 * Makes `path` free for a listening Unix socket. A socket without a listener is left over from a killed process and is removed.
 * A live peer, or anything that is not a socket (a file, a symbolic link, a FIFO), is an error: it is neither replaced nor
 * followed.
 */
async function clear(path: string): Promise<void> {
  const state = await probeSocket(path, PROBE_TIMEOUT_MS);
  switch (state) {
    case 'absent':
      return;
    case 'other':
      throw new Error(`${path} exists and is not a socket. Remove it, then start again.`);
    case 'live':
    case 'silent':
      throw new Error(`${path} is in use by a running process. Stop that one first.`);
    case 'dead':
    case 'closed': // no process of this user's listens there
      await unlink(path);
  }
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
