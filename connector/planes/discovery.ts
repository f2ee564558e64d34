import { randomUUID } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Bonjour, type Service } from 'bonjour-service';
import { messageOf } from '../../shared/errors.ts';
import { writeAtomic } from '../../shared/files/atomic-write.ts';
import { takePidLock } from '../../shared/files/pid-lock.ts';
import { isPort } from '../../shared/http/known-nodes.ts';
import { plainText } from '../../shared/plain-text.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { STDIO } from '../principal.ts';
import { asRecord } from '../rows.ts';
import { UsageError } from '../settings.ts';
import { addToFleet, fleetEntry, readFleet } from './fleet-file.ts';
import { HttpNode, type HttpTarget } from './http-node.ts';
import { baseUrlOf } from './node-client.ts';
import { LOCAL } from './plane.ts';

/**
 * Finds nodes of the LAN by mDNS (`_svc._tcp`), claims unpaired ones, and stores their keys. Whoever starts it so trusts this LAN at
 * this moment: an unpaired node has no secret by which it could be told from a false one, and its first fingerprint is the one that
 * it announces. From then on it is known by that (docs/https.md).
 */

const BROWSE_MS = 3000;

export interface Found {
  readonly deviceId: string;
  readonly name: string | null;
  readonly paired: boolean;
  /** `host:port`: the address, never the name that the node announces. */
  readonly host: string;
  /** Of HTTPS: the address with its port, and how the SHA-256 of the authority begins; null where it announces none. */
  readonly tls?: { readonly host: string; readonly fingerprint: string } | null;
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
  const { device_id: id, name, paired, tls, tlsfp } = asRecord(txt);
  const address = (addresses ?? []).find((each) => /^\d{1,3}(?:\.\d{1,3}){3}$/.test(each));
  if (typeof id !== 'string' || address === undefined) return null;
  return {
    deviceId: id,
    name: typeof name === 'string' ? plainText(name) : null,
    paired: paired === 'true' || paired === '1',
    host: `${address}:${port}`,
    tls:
      typeof tls === 'string' && isPort(Number(tls)) && typeof tlsfp === 'string'
        ? { host: `https://${address}:${tls}`, fingerprint: tlsfp }
        : null,
  };
}

/**
 * Claims unpaired, unknown nodes one after the other; each key is on disk before the next claim, because a node whose key is
 * lost can only be reset by hand. Nothing is claimed while the file cannot be written, or another connector adopts nodes; a
 * claim whose key cannot be kept is given back.
 * @throws UsageError
 */
export async function adopt(
  found: readonly Found[],
  fleetFile: string,
  owner: string,
  log: Logger,
): Promise<void> {
  const known = new Set(readFleet(fleetFile).nodes.map(({ id }) => id));
  const strangers = found.filter((node) => !known.has(node.deviceId) && mayBeAdopted(node, log));
  for (const { deviceId, host } of strangers.filter(({ paired }) => paired))
    log.info(`${deviceId} at ${host} is paired with another owner`);
  const free = strangers.filter(({ paired }) => !paired);
  if (free.length === 0) return;
  const release = await reserve(fleetFile);
  try {
    for (const node of free) if (!(await adoptOne(node, fleetFile, owner, log))) return;
  } finally {
    release();
  }
}

/** What the fleet's file would not take is neither claimed nor printed as it is: anybody on the LAN announces what they like. */
function mayBeAdopted({ deviceId, host }: Found, log: Logger): boolean {
  try {
    const { id } = fleetEntry({ id: deviceId, host });
    if (id === LOCAL) throw new Error(`${id} is no name of a node`);
    return true;
  } catch (error) {
    log.warn(`${plainText(deviceId)} at ${host} was not adopted: ${messageOf(error)}`);
    return false;
  }
}

/** @returns how to let others adopt again. @throws UsageError if the file cannot be written, or another one adopts */
async function reserve(fleetFile: string): Promise<() => void> {
  try {
    await mkdir(dirname(fleetFile), { recursive: true, mode: 0o700 });
    const release = takePidLock(`${fleetFile}.lock`);
    if (release === null) throw new Error('another connector is adopting nodes into it');
    await addToFleet(fleetFile, []).catch((error: unknown) => {
      release();
      throw error;
    });
    return release;
  } catch (error) {
    throw new UsageError(`--discover: nothing was claimed, since ${fleetFile}: ${messageOf(error)}`);
  }
}

/** @returns false if no more nodes may be claimed, because a key could not be kept */
async function adoptOne(
  { deviceId, name, host: plain, tls }: Found,
  fleetFile: string,
  owner: string,
  log: Logger,
): Promise<boolean> {
  const secure = tls ?? null;
  // Without a scheme: a node that serves HTTPS, and whose announcement hides it, is not claimed in the clear.
  const host = secure?.host ?? plain;
  const free: HttpTarget = {
    id: deviceId,
    name,
    baseUrl: baseUrlOf(host),
    host,
    key: null,
    expectedId: secure === null ? null : deviceId,
    fingerprint: secure?.fingerprint ?? null,
  };
  const claim = { method: 'POST', path: '/api/pairing/claim', body: { user_id: owner } };
  let key: unknown;
  try {
    ({ api_key: key } = asRecord(await new HttpNode(free).json(claim, STDIO)));
    if (typeof key !== 'string') throw new Error('the answer has no key');
    fleetEntry({ id: deviceId, host, key });
  } catch (error) {
    log.warn(`${deviceId} at ${host} was not adopted: ${messageOf(error)}`);
    return true;
  }
  const target = { ...free, key };
  try {
    await addToFleet(fleetFile, [target]);
    log.info(`${deviceId} at ${host} was adopted; its key is in ${fleetFile}`);
    return true;
  } catch (error) {
    log.error(`${deviceId} at ${host}: its key cannot be kept (${messageOf(error)})`);
    await giveBack(target, log);
    return false;
  }
}

/** Unpairs a node that was claimed a moment ago; it need not know whether its vehicle is armed. */
async function giveBack(target: HttpTarget, log: Logger): Promise<void> {
  try {
    const body = { force: true };
    await new HttpNode(target).json({ method: 'POST', path: '/api/pairing/unpair', body }, STDIO);
    log.info(`${target.id} was given back: it is unpaired again`);
  } catch (error) {
    log.error(
      `${target.id} could not be given back (${messageOf(error)}): run \`sudo svc unpair\` on it, then pair it again`,
    );
  }
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
