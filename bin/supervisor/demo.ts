import { existsSync } from 'node:fs';
import { lstat, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { valueAt } from '../../shared/config/keys.ts';
import { loadConfig } from '../../shared/config/load.ts';
import { parseConfig } from '../../shared/config/parse.ts';
import { setConfigKey } from '../../shared/config/write.ts';
import { messageOf } from '../../shared/errors.ts';
import type { Paths } from '../../shared/paths.ts';

/** What a demo node (`npm start`) does before it starts. */

const HEAD = '# Written by `npm start`. Change it with PUT /api/config, or by hand and restart.\n';
const DRONE = `mavlink:
  source: sim
video:
  source: landscape
`;
/** Ports of its own: it runs beside the drone. */
const GROUND_STATION = `agent:
  profile: ground-station
api:
  port: 8081
  tls_port: 8444
mavlink:
  source: sim
  endpoints:
    - udp:127.0.0.1:14551
    - tcp:127.0.0.1:5791
`;
/** Folders in `.svc/etc`, `.svc/ground/state` and so on: the node makes each of them at its start. */
const DEPTH = 3;

/**
 * The first config of a demo node; later changes belong to the operator. A ground station's that names no profile or port gets
 * them, since the defaults are a drone's and it runs beside one.
 * @throws ApiError E_STORE, E_INVALID_VALUE
 */
export async function seedDemoConfig(paths: Paths, ground: boolean): Promise<void> {
  if (!existsSync(paths.config)) {
    await writeFile(paths.config, HEAD + (ground ? GROUND_STATION : DRONE), { mode: 0o600 });
    return;
  }
  if (!ground) return;
  const { text } = await loadConfig(paths);
  if (text === null) return; // broken: the node says so itself
  const own = parseDocument(text);
  const seed = parseConfig(GROUND_STATION, 'the seed');
  for (const key of ['agent.profile', 'api.port', 'api.tls_port', 'mavlink.endpoints'])
    if (!own.hasIn(key.split('.'))) await setConfigKey(paths, key, valueAt(seed, key));
}

/** The map of what that camera shows, at the first start. The node runs without it as well. */
export async function seedDemoMap(paths: Paths): Promise<void> {
  if (existsSync(paths.maps)) return;
  try {
    const { makeDemoMap } = await import('./demo-map.ts');
    await makeDemoMap(paths.maps);
  } catch (error) {
    process.stderr.write(`svc: the demo's map could not be made: ${messageOf(error)}\n`);
  }
}

/**
 * After `sudo npm start`, files in the folder are root's, and everything that the node does with them would fail one by one.
 * @param own the user who starts the node
 * @throws Error with what to do
 */
export async function checkOwner(folder: string, own: number): Promise<void> {
  const found = own === 0 ? null : await foreign(folder, own, DEPTH);
  if (found === null) return;
  throw new Error(
    `${found.path} belongs to ${found.uid === 0 ? 'root, as after `sudo npm start`' : `user ${found.uid}`}. ` +
      `Give it back: sudo chown -R ${own} ${folder}`,
  );
}

async function foreign(
  path: string,
  own: number,
  depth: number,
): Promise<{ path: string; uid: number } | null> {
  const stat = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null; // none yet, or removed meanwhile
    throw error;
  });
  if (stat === null) return null;
  if (stat.uid !== own) return { path, uid: stat.uid };
  if (depth === 0 || !stat.isDirectory()) return null;
  for (const name of await readdir(path)) {
    const found = await foreign(join(path, name), own, depth - 1);
    if (found !== null) return found;
  }
  return null;
}

export async function portFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, () => probe.close(() => resolve(true)));
  });
}
