import { randomUUID } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Bonjour, type Service } from 'bonjour-service';
import { writeAtomic } from '../../shared/files/atomic-write.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { STDIO } from '../principal.ts';
import { asRecord } from '../tools/tool.ts';
import { addToFleet, readFleet } from './fleet-file.ts';
import { NodeClient, type NodeTarget } from './node-client.ts';

/** Finds nodes of the LAN by mDNS (`_svc._tcp`), claims unpaired ones, and stores their keys. */

const BROWSE_MS = 3000;

export interface Found {
  readonly deviceId: string;
  readonly name: string | null;
  readonly paired: boolean;
  /** `host:port`: the address, never the name that the node announces. */
  readonly host: string;
}

export async function browse(): Promise<readonly Found[]> {
  const bonjour = new Bonjour();
  const found = new Map<string, Found>();
  const browser = bonjour.find({ type: 'svc', protocol: 'tcp' }, (service) => {
    const node = readService(service);
    if (node !== null) found.set(node.deviceId, node);
  });
  await new Promise((resolve) => setTimeout(resolve, BROWSE_MS));
  browser.stop();
  bonjour.destroy();
  return [...found.values()];
}

function readService({ txt, addresses, port }: Service): Found | null {
  const { device_id: id, name, paired } = asRecord(txt);
  const address = (addresses ?? []).find((each) => /^\d{1,3}(?:\.\d{1,3}){3}$/.test(each));
  if (typeof id !== 'string' || address === undefined) return null;
  return {
    deviceId: id,
    name: typeof name === 'string' ? name : null,
    paired: paired === 'true' || paired === '1',
    host: `${address}:${port}`,
  };
}

/**
 * Claims unpaired, unknown nodes one after the other; each key is on disk before the next claim, because a node whose key is
 * lost can only be reset by hand.
 */
export async function adopt(
  found: readonly Found[],
  fleetFile: string,
  owner: string,
  log: Logger,
): Promise<readonly NodeTarget[]> {
  const known = new Set(readFleet(fleetFile).map(({ id }) => id));
  const adopted: NodeTarget[] = [];
  for (const { deviceId, name, paired, host } of found) {
    if (known.has(deviceId)) continue;
    if (paired) {
      log.info(`${deviceId} at ${host} is paired with another owner`);
      continue;
    }
    const client = new NodeClient({ id: deviceId, name, baseUrl: `http://${host}`, key: null });
    try {
      const answer = asRecord(
        await client.json({ method: 'POST', path: '/api/pairing/claim', body: { user_id: owner } }, STDIO),
      );
      const { api_key: key } = answer;
      if (typeof key !== 'string') throw new Error('the answer has no key');
      const target: NodeTarget = { ...client.target, key };
      await addToFleet(fleetFile, [target]);
      adopted.push(target);
      log.info(`${deviceId} at ${host} was adopted; its key is in ${fleetFile}`);
    } catch (error) {
      log.warn(
        `${deviceId} at ${host} was not adopted: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
  return adopted;
}

/** The same owner at every start. @param given SVC_MCP_OWNER */
export async function ownerId(given: string | null): Promise<string> {
  if (given !== null) return given;
  const path = join(homedir(), '.svc', 'mcp', 'owner-id');
  const stored = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  if (stored.trim() !== '') return stored.trim();
  const made = `svc-mcp-${randomUUID()}`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeAtomic(path, `${made}\n`, 0o600);
  return made;
}
