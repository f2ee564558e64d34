import type { AddressClass } from '../../../shared/auth/address.ts';
import { LOCAL_SOCKET, type Principal } from '../../../shared/auth/principal.ts';
import type { Peer } from './decision.ts';
import { extensionCaller } from './extension.ts';
import type { EdgeHeaders } from './headers.ts';

/** Where the sender is. A proxied or relayed request does not come from its TCP peer; headers can only reduce trust. */
export function standing(peer: Peer, headers: EdgeHeaders): AddressClass {
  if (isRelayed(peer, headers)) return 'remote';
  const isProxied = headers.forwarded || peer.proxy === true;
  return isProxied && peer.address === 'loopback' ? 'remote' : peer.address;
}

/** The listener decides, whatever the headers say; elsewhere the mark only takes rights away. */
export function isRelayed(peer: Peer, headers: EdgeHeaders): boolean {
  return peer.kind === 'relay' || headers.relayed;
}

/** Whoever opens control.sock; an extension that svc-residual names has its own rights instead, which are fewer. */
export function localCaller({ extension }: EdgeHeaders): Principal | null {
  return extension === null ? LOCAL_SOCKET : extensionCaller(extension);
}

export function isOnBox(peer: Peer, headers: EdgeHeaders): boolean {
  return standing(peer, headers) === 'loopback';
}
