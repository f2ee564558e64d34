import { ApiError } from '../errors.ts';
import { type Calls, callsTo } from './contract.ts';
import { HELPER } from './helper.ts';
import { RpcClient } from './rpc.ts';

export type Helper = Calls<typeof HELPER>;

/**
 * The operations of svc-helper. Each opens a connection of its own: systemd runs the helper only while it is used. They throw
 * ApiError: E_NOT_IMPLEMENTED (extra `missing`) if nothing listens at `path`, E_BUSY while another one runs, E_TIMEOUT,
 * E_UPSTREAM with the program's last output.
 */
export function helperAt(path: string): Helper {
  return callsTo(HELPER, {
    async call(method, params, timeoutMs) {
      const client = new RpcClient({ path, peer: HELPER.server });
      try {
        await client.connectOnce().catch((error: NodeJS.ErrnoException) => {
          throw absent(error.code ?? error.message);
        });
        return await client.call(method, params, timeoutMs);
      } finally {
        client.stop();
      }
    },
  });
}

function absent(why: string): ApiError {
  return new ApiError(
    'E_NOT_IMPLEMENTED',
    `This node runs without svc-helper, which does this as root (${why}). Install the node from its package (apt install ./svc_….deb), or start it as root.`,
    { missing: HELPER.server },
  );
}
