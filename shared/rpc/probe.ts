import { lstat } from 'node:fs/promises';
import { connect } from 'node:net';

/**
 * The state of a Unix socket's path. `dead`: no process listens, the file is left over; `silent`: a process listens but does
 * not accept in time; `closed`: no permission; `other`: a file, a link, a pipe.
 */
export type SocketState = 'absent' | 'live' | 'dead' | 'silent' | 'closed' | 'other';

/** @throws Error the system's own, if it does not concern the socket (no descriptor left, no permission for the folder) */
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
