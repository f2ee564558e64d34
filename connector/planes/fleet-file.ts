import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writeAtomic } from '../../shared/files/atomic-write.ts';
import { readPrivateSync } from '../../shared/files/private-file.ts';
import type { HttpTarget } from './http-node.ts';
import { baseUrlOf } from './node-client.ts';

/**
 * The nodes of a local fleet: `{"nodes":[{"id","host","key"?,"name"?}]}`, or the list alone. It holds keys, so it is 0600.
 */

/** @throws Error naming the problem, never with a key in it */
export function parseFleet(text: string, source: string): readonly HttpTarget[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`${source} is not JSON`); // the parser's message would quote the file
  }
  const list: unknown = Array.isArray(value) ? value : asRecord(value)['nodes'];
  if (!Array.isArray(list)) throw new Error(`${source}: it is {"nodes":[…]}`);
  return list.map((each, index) => {
    const { id, deviceId, host, key, name } = asRecord(each);
    const named = id ?? deviceId;
    const at = `${source}: node ${index}`;
    if (typeof named !== 'string' || !/^[A-Za-z0-9._-]{1,128}$/.test(named))
      throw new Error(`${at} has no id`);
    if (typeof host !== 'string') throw new Error(`${at} (${named}) has no host`);
    if (key !== undefined && typeof key !== 'string') throw new Error(`${at} (${named}): its key is no text`);
    return {
      id: named,
      name: typeof name === 'string' ? name : null,
      baseUrl: baseUrlOf(host),
      key: typeof key === 'string' ? key : null,
    };
  });
}

const MAX_BYTES = 1024 * 1024;

/** @returns no nodes if the file does not exist. @throws Error if others can read or write it, or it is broken */
export function readFleet(path: string): readonly HttpTarget[] {
  const text = readPrivateSync(path, MAX_BYTES);
  return text === null ? [] : parseFleet(text, path);
}

/**
 * Adds nodes, all or none; existing ones stay unchanged. Without nodes it only shows that the file can be written. @throws the
 * file system's error
 */
export async function addToFleet(path: string, added: readonly HttpTarget[]): Promise<void> {
  const nodes = [...readFleet(path), ...added].map(({ id, name, baseUrl, key }) => ({
    id,
    ...(name === null ? {} : { name }),
    host: baseUrl,
    ...(key === null ? {} : { key }),
  }));
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeAtomic(path, `${JSON.stringify({ nodes }, null, 2)}\n`, 0o600);
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
