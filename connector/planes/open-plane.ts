import { readFileSync } from 'node:fs';
import { pathsFrom } from '../../shared/paths.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { STDIO } from '../principal.ts';
import type { Settings } from '../settings.ts';
import { UsageError } from '../settings.ts';
import { asRecord } from '../tools/tool.ts';
import { parseFleet, readFleet } from './fleet-file.ts';
import { baseUrlOf, NodeClient, type NodeTarget } from './node-client.ts';
import { LOCAL, Plane } from './plane.ts';

const IDENTITY_MS = 2000;

/** The nodes that the settings name. @throws UsageError, Error for a fleet file that is broken */
export async function openPlane(
  settings: Settings,
  env: Readonly<Record<string, string | undefined>>,
  log: Logger,
): Promise<Plane> {
  switch (settings.target) {
    case 'fleet':
      throw new UsageError(
        '--target fleet is not in this build: it needs the ground control backend. Use agent or local-fleet.',
      );
    case 'agent':
      return new Plane('agent', [await agentTarget(settings, env, log)]);
    case 'local-fleet': {
      const nodes =
        settings.inlineFleet !== null && settings.place === null
          ? parseFleet(settings.inlineFleet, 'SVC_MCP_FLEET')
          : readFleet(settings.place ?? settings.fleetFile);
      if (nodes.length === 0)
        throw new UsageError(
          `there is no node in ${settings.place ?? settings.fleetFile}; write it, or start with --discover`,
        );
      return new Plane('local-fleet', nodes);
    }
  }
}

async function agentTarget(
  settings: Settings,
  env: Readonly<Record<string, string | undefined>>,
  log: Logger,
): Promise<NodeTarget> {
  const host = settings.place ?? '127.0.0.1';
  let baseUrl: string;
  try {
    baseUrl = baseUrlOf(host);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
  // On the node itself, its pairing file is the newest source of the key.
  const onBox = settings.place === null || /^https?:\/\/(?:localhost|127\.|\[::1\])/.test(baseUrl);
  const key = (onBox ? pairingKey(pathsFrom(env).pairing, log) : null) ?? settings.agentKey;
  if (settings.nodeId !== null) return { id: settings.nodeId, name: null, baseUrl, key };
  // A node that does not answer at the start is called `local`, and keeps that name as an alias.
  const probe = new NodeClient({ id: LOCAL, name: null, baseUrl, key });
  const info = await probe
    .json({ method: 'GET', path: '/api/pairing/info', timeoutMs: IDENTITY_MS }, STDIO)
    .then(asRecord, () => null);
  const id = info?.['device_id'];
  const name = info?.['name'];
  return {
    id: typeof id === 'string' ? id : LOCAL,
    name: typeof name === 'string' ? name : null,
    baseUrl,
    key,
  };
}

function pairingKey(path: string, log: Logger): string | null {
  try {
    const { paired, api_key: key } = asRecord(JSON.parse(readFileSync(path, 'utf8')));
    return paired === true && typeof key === 'string' ? key : null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'EACCES') log.warn(`${path} cannot be read`);
    return null;
  }
}
