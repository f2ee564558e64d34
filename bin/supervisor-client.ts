import { ApiError } from '../shared/errors.ts';
import { RpcClient } from '../shared/rpc/rpc.ts';
import type { Restarted } from './supervisor/child.ts';

/** The supervisor itself gives up after 20 s. */
const RESTART_MS = 25_000;

/**
 * Restarts one process of the node whose supervisor listens at `socketPath`; null if no node is running.
 * @throws ApiError the supervisor's own, E_UPSTREAM_DOWN without permission for its socket
 */
export async function restartService(socketPath: string, name: string): Promise<Restarted | null> {
  const client = new RpcClient({ path: socketPath, peer: 'svc-supervisor' });
  try {
    await client.connectOnce();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return null;
    throw new ApiError(
      'E_UPSTREAM_DOWN',
      `The supervisor cannot be reached at ${socketPath} (${code ?? 'unknown'}).`,
    );
  }
  try {
    return (await client.call('restart', { name }, RESTART_MS)) as Restarted;
  } finally {
    client.stop();
  }
}
