import type { Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { classifyAddress, peerKey, plainAddress } from '../../../shared/auth/address.ts';
import { ConnectionCaps } from '../../../shared/http/edge/connections.ts';
import type { FleetCredential, Peer } from './decision.ts';
import { hasRoutable } from './interfaces.ts';
import type { OnBoxRule } from './on-box.ts';

/** Where a connection comes from; the same for each of its requests. */
export interface Origin {
  readonly kind: Peer['kind'];
  /** The peer's address, `unix` for control.sock. */
  readonly ip: string;
  /** The key for budgets, locks and counts. */
  readonly peer: string;
  readonly address: Peer['address'];
  readonly trusted: () => boolean;
  /** By TLS. */
  readonly secure: boolean;
  /** A reverse proxy of `api.trusted_proxies`. */
  readonly proxy: boolean;
  /** The ground station at the other end of the relay; null on every other listener. */
  readonly ground: string | null;
  /** What a signed call of the fleet proves; null on every other listener. */
  readonly fleet: FleetCredential | null;
}

// Kept on the socket: classified once per connection, without a WeakMap, which would cost time in garbage collection.
const ORIGIN = Symbol('origin');
function tagsOf(socket: object): { [ORIGIN]?: Origin } {
  return socket;
}

/** Checks each new connection once: where it comes from, and whether its peer has too many already. */
export class Origins {
  readonly #onBox: OnBoxRule;
  readonly #caps: ConnectionCaps;
  readonly #proxies: ReadonlySet<string>;

  /** @param maxConnections of one listener @param proxies addresses of reverse proxies */
  constructor(onBox: OnBoxRule, maxConnections: number, proxies: readonly string[] = []) {
    this.#proxies = new Set(proxies.map(plainAddress));
    this.#onBox = onBox;
    this.#caps = new ConnectionCaps(maxConnections);
  }

  /** Called before any byte is read. A connection beyond the limits is closed. */
  admit(socket: Socket, listener: 'tcp' | 'tls' | 'unix'): void {
    const kind = listener === 'unix' ? 'unix' : 'tcp';
    const ip = kind === 'unix' ? 'unix' : plainAddress(socket.remoteAddress ?? '');
    const origin: Origin = {
      kind,
      ip,
      peer: peerKey(ip),
      secure: listener === 'tls',
      proxy: this.#proxies.has(ip),
      ground: null,
      fleet: null,
      address:
        kind === 'unix'
          ? 'loopback'
          : classifyAddress(socket.remoteAddress, {
              local: socket.localAddress,
              isRoutable: (local) => hasRoutable(networkInterfaces(), local),
            }),
      trusted: () => kind === 'unix' || this.#onBox.trusts(socket),
    };
    tagsOf(socket)[ORIGIN] = origin;
    if (kind === 'unix') return;
    if (!this.#caps.open(origin.peer, origin.address === 'loopback')) {
      socket.destroy();
      return;
    }
    socket.once('close', () => this.#caps.close(origin.peer));
  }

  /** A connection of the bound ground station, which has proved itself. Its users share one budget. */
  admitRelay(socket: Socket, ground: string): void {
    const ip = plainAddress(socket.remoteAddress ?? '');
    tagsOf(socket)[ORIGIN] = {
      kind: 'relay',
      ip,
      peer: `relay:${ground}`,
      secure: true,
      proxy: false,
      ground,
      fleet: null,
      address: 'remote',
      trusted: () => false,
    };
  }

  /** One call of the fleet, inside this process. @param caller who sent it, as the broker says; its calls share one budget */
  admitFleet(socket: object, caller: string, fleet: FleetCredential): void {
    tagsOf(socket)[ORIGIN] = {
      kind: 'fleet',
      ip: 'fleet',
      peer: `fleet:${caller}`,
      secure: true,
      proxy: false,
      ground: null,
      fleet,
      address: 'remote',
      trusted: () => false,
    };
  }

  /** @throws Error for a socket that was never admitted */
  of(socket: object): Origin {
    const origin = tagsOf(socket)[ORIGIN];
    if (origin === undefined) throw new Error('a request on a connection that was not admitted');
    return origin;
  }

  /** This peer has sent a valid credential, and may have more connections. */
  know({ peer }: Origin): void {
    this.#caps.know(peer);
  }
}
