import { Agent } from 'node:https';
import type { Duplex } from 'node:stream';
import { connect, type PSKCallbackNegotation, type TLSSocket, type TlsOptions } from 'node:tls';

/**
 * TLS of the relay between a ground station and its drones: TLS 1.3 with a pre-shared key and no certificates (RFC 8446 2.2).
 * The identity is the ground station's id, the key the relay secret of their radio binding.
 */

/** OpenSSL's callbacks for TLS 1.3 keys are for SHA-256 only. */
const TLS = { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3', ciphers: 'TLS_AES_128_GCM_SHA256' } as const;
const HANDSHAKE_MS = 10_000;

const GROUND = Symbol('ground station');
function tagsOf(socket: object): { [GROUND]?: string } {
  return socket;
}

/** @param secretOf the key of a ground station, null for one that is not bound */
export function relayServerOptions(secretOf: (ground: string) => Buffer | null): TlsOptions {
  return {
    ...TLS,
    handshakeTimeout: HANDSHAKE_MS,
    pskCallback(socket: TLSSocket, identity: string) {
      const secret = secretOf(identity);
      tagsOf(socket)[GROUND] = identity;
      return secret;
    },
  };
}

/**
 * The ground station that has proved itself on this connection; null if none has: a resumed session skips the key, and with it
 * the question whether the radio is still bound.
 */
export function groundOn(socket: TLSSocket): string | null {
  return tagsOf(socket)[GROUND] ?? null;
}

/** Where a drone's relay is, and with which key. */
export interface RelayPeer {
  readonly host: string;
  readonly port: number;
  readonly secret: Buffer;
}

interface RelayAgentOptions {
  readonly ownId: string;
  readonly peerOf: (deviceId: string) => RelayPeer | null;
  readonly onSocket: (deviceId: string, socket: TLSSocket) => void;
}

/** Connections to drones; the host of a request is the id of the drone. */
export class RelayAgent extends Agent {
  readonly #relay: RelayAgentOptions;

  constructor(relay: RelayAgentOptions) {
    super({ keepAlive: true, maxSockets: 32, maxFreeSockets: 4, maxCachedSessions: 0 });
    this.#relay = relay;
  }

  override createConnection(options: { readonly host?: string | null | undefined }): Duplex {
    const id = options.host ?? '';
    const { ownId, peerOf, onSocket } = this.#relay;
    const peer = peerOf(id);
    if (peer === null) throw new Error(`no radio of ${id} is bound`);
    const { host, port, secret } = peer;
    const socket = connect({
      ...TLS,
      host,
      port,
      // The drone has no certificate. Whoever shows one that this machine trusts would pass for it otherwise, and answer in its name.
      ca: [],
      checkServerIdentity: () => new Error('the other end has shown a certificate'),
      pskCallback: (): PSKCallbackNegotation => ({ psk: secret, identity: ownId }),
    });
    socket.setNoDelay(true);
    // First of all listeners: nothing is sent to an end that has not proved itself by the key.
    socket.once('secureConnect', () => {
      if (!socket.isSessionReused()) socket.destroy(new Error('the other end does not have the key'));
    });
    onSocket(id, socket);
    return socket;
  }
}
