import { deferred } from '../async/deferred.ts';
import { within } from '../async/within.ts';
import { clientOf } from './contract.ts';
import { LINK } from './link.ts';
import type { LinkState } from './link-state.ts';

const LINK_MS = 1000;

/**
 * The state that svc-link tells whoever connects.
 * @param path of its socket
 * @throws Error when it does not answer within a second
 */
export async function askLinkState(path: string): Promise<LinkState> {
  const { promise, resolve } = deferred<LinkState>();
  const client = clientOf(LINK, { path, listeners: { state: resolve } });
  client.start();
  try {
    return await within(promise, LINK_MS, () => new Error('svc-link does not answer'));
  } finally {
    client.stop();
  }
}
