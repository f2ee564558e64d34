import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ApiError, messageOf } from '../errors.ts';
import { writeAtomic } from '../files/atomic-write.ts';
import { withLock } from '../files/lock.ts';
import type { Paths } from '../paths.ts';
import {
  destination,
  parseMavlinkEndpoint,
  parseMavlinkSource,
  parseRtkSource,
  started,
} from '../schemas/addresses.ts';
import { keepChecked } from './checked-copy.ts';
import { conflictsIn } from './conflicts.ts';
import { letGoOfKey } from './in-force.ts';
import { configLeaf, valueAt } from './keys.ts';
import { loadConfig } from './load.ts';
import { endpointName, ownEndpointOf, ownHosts } from './own-endpoint.ts';
import type { Config } from './schema.ts';

/**
 * Sets one key of the config file, and of its last good copy; comments and order survive. Safe against concurrent writes of
 * other processes. The caller has checked who may write the key, and for a guarded one that it may be written now: while the
 * vehicle is armed that is an override, which holds from the next start of a process.
 * @param value a JSON value of the key's type
 * @returns the secrets that were cleared, because they would be sent to a new host
 * @throws ApiError E_INVALID_VALUE, E_STORE; nothing is written then
 */
export async function setConfigKey(
  paths: Pick<Paths, 'config' | 'configLastGood' | 'configChecked' | 'heldConfig'>,
  key: string,
  value: unknown,
): Promise<readonly string[]> {
  try {
    await mkdir(dirname(paths.config), { recursive: true });
    return await withLock(`${paths.config}.lock`, async () => replace(paths, key, value));
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError('E_STORE', `The config could not be written: ${messageOf(error)}.`);
  }
}

/** A refusal of `key` for the reason `message`. */
export function invalidKey(key: string, message: string): ApiError {
  return new ApiError('E_INVALID_VALUE', `${key}: ${message}`, {
    errors: [{ path: `/${key.replaceAll('.', '/')}`, message }],
  });
}

async function replace(
  paths: Pick<Paths, 'config' | 'configLastGood' | 'configChecked' | 'heldConfig'>,
  key: string,
  value: unknown,
): Promise<readonly string[]> {
  const { config: file, configLastGood, configChecked } = paths;
  // Loaded by whoever writes a key: YAML is the largest part of a process that only knows how.
  const { Document, isScalar, parseDocument } = await import('yaml');
  const { ConfigError, parseConfig } = await import('./parse.ts');
  const { config, text, problem } = await loadConfig(paths);
  if (text === null) {
    throw new ApiError(
      'E_STORE',
      `The config file is broken and is not overwritten: ${problem ?? file}. Repair it first.`,
    );
  }
  const document = text.trim() === '' ? new Document({}) : parseDocument(text);
  const path = key.split('.');
  // A section of which everything is a comment becomes one that keeps it.
  for (const [depth] of path.entries()) {
    const section = document.getIn(path.slice(0, depth), true);
    if (depth === 0 || !isScalar(section) || section.value !== null) continue;
    const { comment: commentBefore } = section;
    document.setIn(path.slice(0, depth), Object.assign(document.createNode({}), { commentBefore }));
  }
  document.setIn(path, value);
  const cleared = misdirected(config, key, value);
  for (const secret of cleared) document.setIn(secret.split('.'), '');
  const next = document.toString();
  let checked: Config;
  try {
    checked = parseConfig(next, 'the config'); // the whole config must be valid, not only the one key
    checkTogether(key, checked);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw invalidKey(key, error.faults.find((fault) => fault.key === key)?.reason ?? error.message);
  }
  if (configLeaf(key)?.['x-armed'] === 'guard') await letGoOfKey(paths, key);
  await writeOwned(file, next);
  // From here on the key is changed, and the answer must not deny that; the copy is made again at the next start.
  try {
    await mkdir(dirname(configLastGood), { recursive: true });
    await writeOwned(configLastGood, next);
    await keepChecked(configChecked, next, checked, writeOwned);
  } catch (error) {
    process.emitWarning(`the last good copy of the config could not be written: ${messageOf(error)}`);
  }
  return cleared;
}

/** Checks that involve several keys. @throws ApiError E_INVALID_VALUE */
function checkTogether(key: string, config: Config): void {
  const conflict = conflictsIn(config).find(({ keys }) => keys.includes(key));
  if (conflict !== undefined) throw invalidKey(key, conflict.reason);
  const { mavlink, rtk } = config;
  if (!key.startsWith('mavlink.') && key !== 'rtk.source') return;
  const source = started('mavlink.source', mavlink.source, parseMavlinkSource);
  const corrections = started('rtk.source', rtk.source, parseRtkSource);
  if (source.kind === 'serial' && corrections.kind === 'serial' && source.path === corrections.path)
    throw invalidKey(key, `the flight controller and the corrections would both be on ${source.path}`);
  const endpoints = mavlink.endpoints.map((text) => started('mavlink.endpoints', text, parseMavlinkEndpoint));
  const own = ownEndpointOf(source, endpoints, ownHosts());
  if (own !== null)
    throw invalidKey(
      key,
      `the source ${mavlink.source} would lead to this node's own endpoint ${endpointName(own)}`,
    );
}

/** The secrets that are sent to the host in `key`, if the new value has another host. */
function misdirected(config: Config, key: string, value: unknown): readonly string[] {
  const leaf = configLeaf(key);
  const secrets = leaf?.['x-sends'] ?? [];
  const before = destination(leaf?.['format'], valueAt(config, key));
  if (before === destination(leaf?.['format'], value)) return [];
  return secrets.filter((secret) => valueAt(config, secret) !== '');
}

/**
 * A file written by root must stay readable for the service's user, also one that root has made: its owner is that of the old
 * file, or of the directory.
 */
async function writeOwned(file: string, text: string): Promise<void> {
  if (process.getuid?.() !== 0) return writeAtomic(file, text, 0o600);
  const old = await stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  const owner = old === null || old.uid === 0 ? await stat(dirname(file)) : old;
  await writeAtomic(file, text, 0o600, owner);
}
