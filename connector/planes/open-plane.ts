import { readFileSync } from 'node:fs';
import { pathsFrom } from '../../shared/paths.ts';
import type { Logger } from '../../shared/process/logger.ts';
import type { Settings } from '../settings.ts';
import { UsageError } from '../settings.ts';
import { asRecord } from '../tools/tool.ts';
import { parseFleet, readFleet } from './fleet-file.ts';
import { baseUrlOf } from './node-client.ts';
import { LOCAL, Plane } from './plane.ts';

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
      return agentPlane(settings, env, log);
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

/** A node that does not answer at the start is called `local` until it does, and keeps that name as an alias. */
async function agentPlane(
  settings: Settings,
  env: Readonly<Record<string, string | undefined>>,
  log: Logger,
): Promise<Plane> {
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
  const plane = new Plane('agent', [{ id: settings.nodeId ?? LOCAL, name: null, baseUrl, key }]);
  await plane.learn();
  return plane;
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
