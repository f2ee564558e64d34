import { lstat } from 'node:fs/promises';
import { connect } from 'node:net';

/**
 * The state of a Unix socket's path. `dead`: no process listens, the file is left over; `silent`: a process listens but does
 * not accept in time; `closed`: no permission; `other`: a file, a link, a pipe.
 */
export type SocketState = 'absent' | 'live' | 'dead' | 'silent' | 'closed' | 'other';

/** How long a peer that was reached may take to hang up. */
const GOODBYE_MS = 250;

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
    let reached = false;
    const end = (state: SocketState): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(reached ? 'live' : state);
    };
    let timer = setTimeout(() => end('silent'), timeoutMs);
    socket.once('connect', () => {
      reached = true;
      // A server that greets would take a socket that is closed at once for a fault: we wait until it has hung up.
      clearTimeout(timer);
      timer = setTimeout(() => end('live'), GOODBYE_MS);
      socket.once('close', () => end('live'));
      socket.resume().end();
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (reached) {
        end('live');
        return;
      }
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
          clearTimeout(timer);
          reject(error);
      }
    });
  });
}
