import { lookup } from 'node:dns/promises';
import { isIPv6 } from 'node:net';
import { within } from '../../../shared/async/within.ts';
import { classifyAddress } from '../../../shared/auth/address.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { authorityOf, isPort } from '../../../shared/http/known-nodes.ts';
import { type NodeAnswer, type NodePlace, requestNode } from '../../../shared/http/node-request.ts';
import { memberOf, parseJson } from '../../../shared/member.ts';
import { parseHostPort } from '../../../shared/schemas/addresses.ts';

const LOOKUP_MS = 3000;
/** A drone answers when it has stored its half. */
const ASK_MS = 10_000;
const API_PORT = 8080;

type Place = Extract<NodePlace, { readonly baseUrl: string }>;

interface GroundHalf {
  readonly ground_id: string;
  readonly ground_name: string;
  readonly public_key: string;
  readonly slot: number;
}

interface DroneHalf {
  readonly device_id: string;
  readonly public_key: string;
  readonly fingerprint: string;
}

/** A drone on LAN, hotspot or USB, as its ground station sees it before their radios are bound. */
interface DroneAt {
  about(): Promise<{ readonly device_id: string; readonly name: string }>;
  /** @returns its new pairing key */
  claim(code: string, groundId: string): Promise<string>;
  /** Takes the claim back. */
  unclaim(key: string): Promise<void>;
  pair(key: string, half: GroundHalf): Promise<DroneHalf>;
}

export interface DroneApi {
  /** @throws ApiError E_INVALID_VALUE for no host, E_REMOTE for an address outside private networks */
  at(host: string): Promise<DroneAt>;
}

/**
 * By HTTPS where the drone serves it: who only listens gets no key. Nobody has met the drone before, so somebody in between could
 * still pass for it, or say that it has no HTTPS; therefore only on networks of the operator's own.
 */
export const DRONE_NEARBY: DroneApi = {
  async at(host) {
    const place = parseHostPort(host) ?? parseHostPort(`${isIPv6(host) ? `[${host}]` : host}:${API_PORT}`);
    if (place === null) {
      const message = 'must be a host or host:port';
      throw new ApiError('E_INVALID_VALUE', `/host ${message}.`, { errors: [{ path: '/host', message }] });
    }
    const address = await within(lookup(place.host), LOOKUP_MS, () => new Error('no answer'))
      .then((found) => found.address)
      .catch((error: unknown) => {
        throw new ApiError('E_UPSTREAM', `The address of ${place.host} is not known: ${messageOf(error)}.`);
      });
    // The pairing key must not cross a network of strangers.
    if (classifyAddress(address, { local: undefined, isRoutable: () => false }) === 'remote')
      throw new ApiError(
        'E_REMOTE',
        `${address} is no address of a LAN, a hotspot or USB. Bind radios there.`,
      );
    const drone = await securely(isIPv6(address) ? `[${address}]` : address, place.port);
    return {
      async about() {
        const info = await ask('GET', drone, '/api/pairing/info', {});
        const name = memberOf(info, 'name');
        return {
          device_id: textOf(info, 'device_id'),
          name: typeof name === 'string' ? name.slice(0, 64) : '',
        };
      },
      async unclaim(key) {
        await ask('POST', drone, '/api/pairing/unpair', { 'x-svc-key': key }, {});
      },
      async claim(code, groundId) {
        const body = await ask(
          'POST',
          drone,
          '/api/pairing/claim',
          {},
          { user_id: `ground station ${groundId}`, code },
        );
        return textOf(body, 'api_key');
      },
      async pair(key, half) {
        const headers = { 'x-svc-key': key };
        const body = await ask('POST', drone, '/api/wfb/pair', headers, half);
        return {
          device_id: textOf(body, 'device_id'),
          public_key: textOf(body, 'public_key'),
          fingerprint: textOf(body, 'fingerprint'),
        };
      },
    };
  },
};

/** Where to ask a drone that answers by plain HTTP at this port: by HTTPS if it serves that, judged by the authority that it shows. */
async function securely(host: string, port: number): Promise<Place> {
  const plain = { baseUrl: `http://${host}:${port}` };
  const told = await send('GET', plain, '/api/tls', {});
  const said = parsed(told.bytes);
  const tlsPort = memberOf(said, told.status === 200 ? 'port' : 'tls_port');
  if (!isPort(tlsPort)) return plain; // an older drone, or one without HTTPS
  const baseUrl = `https://${host}:${tlsPort}`;
  const shown = await send('GET', { baseUrl, tls: { rejectUnauthorized: false } }, '/ca.crt', {});
  if (shown.status !== 200) return plain; // a certificate of its operator's
  try {
    const { authority } = authorityOf(shown.bytes.toString('utf8'));
    return { baseUrl, tls: { ca: authority }, keep: true };
  } catch (error) {
    throw new ApiError(
      'E_UPSTREAM',
      `The drone at ${baseUrl} shows no certificate authority: ${messageOf(error)}.`,
    );
  }
}

async function send(
  method: 'GET' | 'POST',
  place: Place,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: unknown,
): Promise<NodeAnswer> {
  return requestNode(place, { method, path, headers, body, timeoutMs: ASK_MS }).catch((error: unknown) => {
    if (error instanceof ApiError) throw error;
    throw new ApiError('E_UPSTREAM', `The drone at ${place.baseUrl} does not answer: ${messageOf(error)}.`);
  });
}

async function ask(
  method: 'GET' | 'POST',
  place: Place,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: unknown,
): Promise<unknown> {
  const answer = await send(method, place, path, headers, body);
  const said = parsed(answer.bytes);
  if (answer.status === 200) return said;
  const detail = memberOf(said, 'detail');
  throw new ApiError(
    'E_UPSTREAM',
    `The drone at ${place.baseUrl} refuses (${answer.status}): ${typeof detail === 'string' ? detail : 'without a reason'}`,
    { drone: { status: answer.status, code: memberOf(said, 'code') ?? null } },
  );
}

function parsed(bytes: Buffer): unknown {
  try {
    return parseJson(bytes.toString('utf8'));
  } catch {
    return null; // not a node of ours; its status says the rest
  }
}

function textOf(body: unknown, member: string): string {
  const value = memberOf(body, member);
  if (typeof value === 'string' && value.length > 0 && value.length <= 256) return value;
  throw new ApiError('E_UPSTREAM', `The drone's answer lacks its ${member}.`);
}
