import { once } from 'node:events';
import { connect } from 'node:net';
import { ApiError } from '../shared/errors.ts';
import { RpcClient } from '../shared/rpc/rpc.ts';
import type { Restarted } from './supervisor/child.ts';

const CONNECT_MS = 2000;
/** The supervisor itself gives up after 20 s. */
const RESTART_MS = 25_000;

/**
 * Restarts one process of the node whose supervisor listens at `socketPath`; null where no node is running.
 * @throws ApiError the supervisor's own, E_UPSTREAM_DOWN when its socket is not ours to use
 */
export async function restartService(socketPath: string, name: string): Promise<Restarted | null> {
  if (!(await isListening(socketPath))) return null;
  const { promise: connected, resolve } = Promise.withResolvers<void>();
  const client = new RpcClient({
    path: socketPath,
    peer: 'svc-supervisor',
    onConnection: (up) => {
      if (up) resolve();
    },
  });
  client.start();
  const late = setTimeout(resolve, CONNECT_MS); // the call then says that nobody answers
  try {
    await connected;
    return (await client.call('restart', { name }, RESTART_MS)) as Restarted;
  } finally {
    clearTimeout(late);
    client.stop();
  }
}

async function isListening(socketPath: string): Promise<boolean> {
  const socket = connect(socketPath);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return false;
    throw new ApiError(
      'E_UPSTREAM_DOWN',
      `The supervisor cannot be reached at ${socketPath} (${code ?? 'unknown'}).`,
    );
  } finally {
    socket.destroy();
  }
}
