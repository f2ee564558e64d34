import type { networkInterfaces } from 'node:os';
import { plainAddress } from '../../../shared/auth/address.ts';

const LINK_LOCAL = /^(?:169\.254\.|fe[89ab][0-9a-f]:)/i;

/** Whether the interface with the address `local` also has an address that is not link-local. */
export function hasRoutable(interfaces: ReturnType<typeof networkInterfaces>, local: string): boolean {
  for (const list of Object.values(interfaces)) {
    const addresses = (list ?? []).map(({ address }) => plainAddress(address));
    if (addresses.includes(local)) return addresses.some((address) => !LINK_LOCAL.test(address));
  }
  return true; // the address has gone, so it gets no first-boot access
}
