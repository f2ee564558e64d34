import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf } from '../../shared/errors.ts';
import { writeAtomic } from '../../shared/files/atomic-write.ts';
import { readPrivateSync, TooLarge } from '../../shared/files/private-file.ts';
import { parseJson, recordOf } from '../../shared/member.ts';
import type { HttpTarget } from './http-node.ts';
import { baseUrlOf } from './node-client.ts';

/**
 * The nodes of a local fleet: `{"nodes":[{"id","host","key"?,"name"?}]}`, or the list alone. It holds keys, so it is 0600.
 */

export interface LocalFleet {
  readonly nodes: readonly HttpTarget[];
  /** What was left out, and why, without a key; a bad entry ends nothing but itself. */
  readonly problems: readonly string[];
}

/** What it holds is no list of nodes, whoever wrote it. */
export class BrokenFleet extends Error {}

/** A header can carry it. */
const KEY = /^[\x21-\x7e]{1,512}$/;

/** One node of the list, to be read or to be written. @throws Error naming the problem, never with a key in it */
export function fleetEntry(value: unknown): HttpTarget {
  const { id, deviceId, host, key, name } = recordOf(value);
  const named = id ?? deviceId;
  if (typeof named !== 'string' || !/^[A-Za-z0-9._-]{1,128}$/.test(named)) throw new Error('it has no id');
  if (typeof host !== 'string') throw new Error(`${named} has no host`);
  if (key !== undefined && (typeof key !== 'string' || !KEY.test(key)))
    throw new Error(`the key of ${named} is no key`);
  const baseUrl = baseUrlOf(host);
  return { id: named, name: typeof name === 'string' ? name : null, baseUrl, host, key: key ?? null };
}

/** @throws BrokenFleet naming the problem, never with a key in it, where it is no list at all */
export function parseFleet(text: string, source: string): LocalFleet {
  const nodes = new Map<string, HttpTarget>();
  const problems: string[] = [];
  for (const [index, each] of entriesOf(text, source).entries()) {
    try {
      const node = fleetEntry(each);
      if (nodes.has(node.id)) throw new Error(`another node is called ${node.id}`);
      nodes.set(node.id, node);
    } catch (error) {
      problems.push(`${source}: node ${index} is left out: ${messageOf(error)}`);
    }
  }
  return { nodes: [...nodes.values()], problems };
}

function entriesOf(text: string, source: string): readonly unknown[] {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    throw new BrokenFleet(`${source} is not JSON`); // the parser's message would quote the file
  }
  const list: unknown = Array.isArray(value) ? value : recordOf(value)['nodes'];
  if (!Array.isArray(list)) throw new BrokenFleet(`${source}: it is {"nodes":[…]}`);
  return list;
}

const MAX_BYTES = 1024 * 1024;

/** @returns no nodes if the file does not exist. @throws Error if others can read or write it; BrokenFleet */
export function readFleet(path: string): LocalFleet {
  const text = textOf(path);
  return text === null ? { nodes: [], problems: [] } : parseFleet(text, path);
}

function textOf(path: string): string | null {
  try {
    return readPrivateSync(path, MAX_BYTES);
  } catch (error) {
    throw error instanceof TooLarge ? new BrokenFleet(error.message) : error;
  }
}

/**
 * Adds nodes, all or none; existing entries stay unchanged, also those that are left out. Without nodes it only shows that the file
 * can be written. @throws the file system's error; Error for a node, or a length, that would not be read again
 */
export async function addToFleet(path: string, added: readonly HttpTarget[]): Promise<void> {
  const text = textOf(path);
  const entries = added.map(({ id, name, baseUrl, key }) => {
    const entry = { id, ...(name === null ? {} : { name }), host: baseUrl, ...(key === null ? {} : { key }) };
    fleetEntry(entry);
    return entry;
  });
  const nodes = [...(text === null ? [] : entriesOf(text, path)), ...entries];
  const written = `${JSON.stringify({ nodes }, null, 2)}\n`;
  if (Buffer.byteLength(written) > MAX_BYTES)
    throw new Error(`${path} would be larger than ${MAX_BYTES} bytes: take nodes out of it`);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeAtomic(path, written, 0o600);
}
