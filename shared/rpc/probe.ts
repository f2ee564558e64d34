import { lstat } from 'node:fs/promises';
import { connect } from 'node:net';

/**
 * What is at the path of a Unix socket. `dead`: nobody listens, it was left behind; `silent`: somebody does, but does not take the
 * connection in time; `closed`: not for this user; `other`: a file, a link, a pipe.
 */
export type SocketState = 'absent' | 'live' | 'dead' | 'silent' | 'closed' | 'other';

/** @throws Error the system's own, where it says nothing of the socket (no descriptor left, a folder that may not be searched) */
export async function probeSocket(path: string, timeoutMs: number): Promise<SocketState> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (found === null) return 'absent';
  if (!found.isSocket()) return 'other';
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    const end = (state: SocketState): void => {
      socket.destroy();
      resolve(state);
    };
    socket.setTimeout(timeoutMs, () => end('silent'));
    socket.once('connect', () => end('live'));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      switch (error.code) {
        case 'ECONNREFUSED':
        case 'ENOENT':
          end('dead');
          break;
        case 'EACCES':
          end('closed');
          break;
        case 'EAGAIN': // its backlog is full
          end('silent');
          break;
        default:
          reject(error);
      }
    });
  });
}
