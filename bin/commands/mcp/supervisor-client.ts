import { ApiError, codeOf } from '../../../shared/errors.ts';
import { clientOf } from '../../../shared/rpc/contract.ts';
import { type Restarted, SUPERVISOR } from '../../../shared/rpc/supervisor.ts';

/**
 * Restarts one process of the node whose supervisor listens at `socketPath`; null if no node is running.
 * @throws ApiError the supervisor's own, E_UPSTREAM_DOWN without permission for its socket
 */
export async function restartService(socketPath: string, name: string): Promise<Restarted | null> {
  const client = clientOf(SUPERVISOR, { path: socketPath });
  try {
    await client.connectOnce();
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return null;
    throw new ApiError(
      'E_UPSTREAM_DOWN',
      `The supervisor cannot be reached at ${socketPath} (${code ?? 'unknown'}).`,
    );
  }
  try {
    return await client.calls.restart({ name });
  } finally {
    client.stop();
  }
}
