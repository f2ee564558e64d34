import { mkdir, writeFile } from 'node:fs/promises';
import type { ClientRequest } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { text } from 'node:stream/consumers';
import type { ConnectionOptions } from 'node:tls';
import type { StoredRadio } from '../../front/control/radio/pair-store.ts';
import type { Paths } from '../../shared/paths.ts';
import { agree, makeRadioKeys } from '../../shared/radio-keys.ts';

/** Ids of the two ends, of the form of a real node's. */
export const DRONE = '0000000000d1';
export const GROUND = '0000000000a1';

/** What both ends would hold after they were bound. */
export function boundPair(drone = DRONE, ground = GROUND, slot = 0) {
  const [ours, theirs] = [makeRadioKeys(), makeRadioKeys()];
  const { fingerprint, relaySecret } = agree(ours.secret, theirs.publicKey);
  const end = (device: string, own: typeof ours, peer: typeof ours, at: number): StoredRadio => ({
    slot: at,
    device_id: device,
    name: '',
    fingerprint,
    paired_at: '2026-01-01T00:00:00.000Z',
    proved: true,
    own_secret: own.secret.toString('hex'),
    peer_public: peer.publicKey.toString('hex'),
    relay_secret: relaySecret.toString('hex'),
    previous: null,
  });
  return {
    secret: relaySecret,
    atDrone: end(ground, ours, theirs, 0),
    atGround: end(drone, theirs, ours, slot),
  };
}

/** For `prepare` of a TestNode: its id, and the radios that are bound to its own. */
export function bindTo(id: string, ...radios: readonly StoredRadio[]): (paths: Paths) => Promise<void> {
  return async (paths) => {
    await mkdir(paths.etc, { recursive: true });
    await writeFile(paths.deviceId, id);
    await writeFile(paths.radioPairs, JSON.stringify({ version: 1, pairs: radios }), { mode: 0o600 });
  };
}

export interface RelayOptions {
  readonly host?: string;
  readonly port: number;
  readonly identity?: string;
  readonly secret: Buffer;
}

/** A request on a connection of its own, without a header of the relay. */
export function relayRequest(
  { host = '127.0.0.2', port, identity = GROUND, secret }: RelayOptions,
  options: RequestOptions,
): ClientRequest {
  const secure: RequestOptions & Pick<ConnectionOptions, 'pskCallback'> = {
    ...options,
    host,
    port,
    agent: false,
    minVersion: 'TLSv1.3',
    ciphers: 'TLS_AES_128_GCM_SHA256',
    checkServerIdentity: () => undefined,
    pskCallback: () => ({ psk: secret, identity }),
  };
  return httpsRequest(secure);
}

/** Asks a drone's relay listener as a ground station does, with whatever headers. */
export async function throughRelay(
  to: RelayOptions,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body: string | null = null,
): Promise<{ status: number; body: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const req = relayRequest(to, {
      method,
      path,
      headers: {
        host: 'drone',
        ...(body === null ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    });
    const answered = (status: number, stream: NodeJS.ReadableStream): void => {
      text(stream).then(
        (words) => resolve({ status, body: words.startsWith('{') ? JSON.parse(words) : { words } }),
        reject,
      );
    };
    req.on('response', (res) => answered(res.statusCode ?? 0, res));
    req.on('upgrade', (res, socket) => {
      socket.destroy();
      resolve({ status: res.statusCode ?? 0, body: {} });
    });
    req.on('error', reject);
    req.end(body ?? undefined);
  });
}
