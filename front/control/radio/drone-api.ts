import { lookup } from 'node:dns/promises';
import { isIPv6 } from 'node:net';
import { within } from '../../../shared/async/within.ts';
import { classifyAddress } from '../../../shared/auth/address.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { requestNode } from '../../../shared/http/node-request.ts';
import { memberOf } from '../../../shared/member.ts';
import { parseHostPort } from '../../../shared/schemas/addresses.ts';

const LOOKUP_MS = 3000;
/** A drone answers when it has stored its half. */
const ASK_MS = 10_000;
const API_PORT = 8080;

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

/** Over plain HTTP, so only on networks of the operator's own. */
export const DRONE_OVER_HTTP: DroneApi = {
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
    const baseUrl = `http://${isIPv6(address) ? `[${address}]` : address}:${place.port}`;
    return {
      async about() {
        const info = await ask('GET', baseUrl, '/api/pairing/info', {});
        const name = memberOf(info, 'name');
        return {
          device_id: textOf(info, 'device_id'),
          name: typeof name === 'string' ? name.slice(0, 64) : '',
        };
      },
      async unclaim(key) {
        await ask('POST', baseUrl, '/api/pairing/unpair', { 'x-svc-key': key }, {});
      },
      async claim(code, groundId) {
        const body = await ask(
          'POST',
          baseUrl,
          '/api/pairing/claim',
          {},
          { user_id: `ground station ${groundId}`, code },
        );
        return textOf(body, 'api_key');
      },
      async pair(key, half) {
        const headers = { 'x-svc-key': key };
        const body = await ask('POST', baseUrl, '/api/wfb/pair', headers, half);
        return {
          device_id: textOf(body, 'device_id'),
          public_key: textOf(body, 'public_key'),
          fingerprint: textOf(body, 'fingerprint'),
        };
      },
    };
  },
};

async function ask(
  method: 'GET' | 'POST',
  baseUrl: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: unknown,
): Promise<unknown> {
  const answer = await requestNode({ baseUrl }, { method, path, headers, body, timeoutMs: ASK_MS }).catch(
    (error: unknown) => {
      if (error instanceof ApiError) throw error;
      throw new ApiError('E_UPSTREAM', `The drone at ${baseUrl} does not answer: ${messageOf(error)}.`);
    },
  );
  const said = parsed(answer.bytes);
  if (answer.status === 200) return said;
  const detail = memberOf(said, 'detail');
  throw new ApiError(
    'E_UPSTREAM',
    `The drone at ${baseUrl} refuses (${answer.status}): ${typeof detail === 'string' ? detail : 'without a reason'}`,
    { drone: { status: answer.status, code: memberOf(said, 'code') ?? null } },
  );
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return null; // not a node of ours; its status says the rest
  }
}

function textOf(body: unknown, member: string): string {
  const value = memberOf(body, member);
  if (typeof value === 'string' && value.length > 0 && value.length <= 256) return value;
  throw new ApiError('E_UPSTREAM', `The drone's answer lacks its ${member}.`);
}
