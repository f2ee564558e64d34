import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf, messageOf } from '../../shared/errors.ts';
import { pathsFrom } from '../../shared/paths.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { Denial } from '../denial.ts';
import { asRecord } from '../rows.ts';
import type { Settings } from '../settings.ts';
import { UsageError } from '../settings.ts';
import { BrokenFleet, type LocalFleet, parseFleet, readFleet } from './fleet-file.ts';
import { baseUrlOf } from './node-client.ts';
import { LanPlane, LOCAL, type Plane } from './plane.ts';
import { sideBySide } from './side-by-side.ts';

/** So long the start waits for names; a node that is away says its own later. */
const NAMES_MS = 2000;

/** The nodes that the settings name. @throws UsageError */
export async function openPlane(
  settings: Settings,
  env: Readonly<Record<string, string | undefined>>,
  log: Logger,
): Promise<Plane> {
  switch (settings.target) {
    case 'fleet':
      // With the broker's client, signatures and certificates: half of the start, and nothing for a node on the LAN.
      return (await import('./open-fleet.ts')).openFleet(settings, env, log);
    case 'agent':
      return agentPlane(settings, env, log);
    case 'local-fleet': {
      const { nodes, problems, source } = localFleet(settings);
      for (const problem of problems) log.error(problem);
      if (nodes.length === 0 && !settings.discover)
        throw new UsageError(`there is no node in ${source}; write it, or start with --discover`);
      const plane = new LanPlane('local-fleet', nodes);
      const met = meet(plane, log).catch((error: unknown) => log.error(messageOf(error)));
      await Promise.race([met, delay(NAMES_MS, undefined, { ref: false })]);
      return plane;
    }
  }
}

/** Asks all at once who they are, and says what is wrong with those that answer. */
async function meet(plane: LanPlane, log: Logger): Promise<void> {
  await plane.learn();
  await sideBySide(plane.nodes, async (node) =>
    node.prove().catch((error: unknown) => {
      if (!(error instanceof Denial)) throw error;
      if (error.reason !== 'rest_down') log.error(`${node.target.id}: ${error.message}`);
    }),
  );
}

/** With --discover also a file that is broken is no end: it is named, and what it holds stays. @throws UsageError for a list that cannot be read, or is none; never with a key in it */
function localFleet({
  inlineFleet,
  place,
  fleetFile,
  discover,
}: Settings): LocalFleet & { readonly source: string } {
  const inline = place === null ? inlineFleet : null;
  const source = inline === null ? (place ?? fleetFile) : 'SVC_MCP_FLEET';
  try {
    return { ...(inline === null ? readFleet(source) : parseFleet(inline, source)), source };
  } catch (error) {
    if (discover && error instanceof BrokenFleet) return { nodes: [], problems: [error.message], source };
    throw new UsageError(messageOf(error));
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
    throw new UsageError(messageOf(error));
  }
  // On the node itself, its pairing file is the newest source of the key.
  const onBox = settings.place === null || /^https?:\/\/(?:localhost|127\.|\[::1\])/.test(baseUrl);
  const key = (onBox ? pairingKey(pathsFrom(env).pairing, log) : null) ?? settings.agentKey;
  const { nodeId } = settings;
  const { fingerprint } = settings;
  const target = { id: nodeId ?? LOCAL, name: null, baseUrl, host, key, expectedId: nodeId, fingerprint };
  const plane = new LanPlane('agent', [target]);
  await plane.learn();
  for (const node of plane.nodes)
    await node.prove().catch((error: unknown) => {
      if (!(error instanceof Denial)) throw error;
      // One that is away is asked again before each call.
      if (error.reason !== 'rest_down') throw new UsageError(error.message);
    });
  return plane;
}

function pairingKey(path: string, log: Logger): string | null {
  try {
    const { paired, api_key: key } = asRecord(JSON.parse(readFileSync(path, 'utf8')));
    return paired === true && typeof key === 'string' ? key : null;
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'ENOENT' && code !== 'EACCES') log.warn(`${path} cannot be read`);
    return null;
  }
}
