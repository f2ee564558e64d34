import type { networkInterfaces } from 'node:os';
import { OWN_ADDRESS, setupUrl } from '../auth/address.ts';

const NETWORKS = ['hotspot', 'usb'] as const;

/**
 * Where the page of the set-up is: on the networks that the node itself provides and that are up, and by its name on others.
 * @param host `svc-xxxxxx.local`
 */
export function setupPages(
  interfaces: ReturnType<typeof networkInterfaces>,
  host: string,
  port: number,
): readonly string[] {
  const own = Object.values(interfaces).flatMap((list) => (list ?? []).map(({ address }) => address));
  const near = NETWORKS.filter((network) => own.includes(OWN_ADDRESS[network]));
  return [...near.map((network) => setupUrl(network, port)), `http://${host}:${port}/setup`];
}
