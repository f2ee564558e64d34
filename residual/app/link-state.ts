import { deferred } from '../../shared/async/deferred.ts';
import { within } from '../../shared/async/within.ts';
import { clientOf } from '../../shared/rpc/contract.ts';
import { LINK } from '../../shared/rpc/link.ts';
import type { LinkState } from '../../shared/rpc/link-state.ts';

const LINK_MS = 1000;

/**
 * The state that svc-link tells whoever connects.
 * @param path of its socket
 * @throws Error when it does not answer within a second
 */
export async function linkState(path: string): Promise<LinkState> {
  const { promise, resolve } = deferred<LinkState>();
  const client = clientOf(LINK, { path, listeners: { state: resolve } });
  client.start();
  try {
    return await within(promise, LINK_MS, () => new Error('svc-link does not answer'));
  } finally {
    client.stop();
  }
}
