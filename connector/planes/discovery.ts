import { randomUUID } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { homedir, networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { within } from '../../shared/async/within.ts';
import { isDeviceId } from '../../shared/device-id.ts';
import { messageOf } from '../../shared/errors.ts';
import { writeAtomic } from '../../shared/files/atomic-write.ts';
import { takePidLock } from '../../shared/files/pid-lock.ts';
import { type Bounds, LinkSocket } from '../../shared/mdns/link-socket.ts';
import { type Link, linksOf } from '../../shared/mdns/links.ts';
import { plainText } from '../../shared/plain-text.ts';
import type { Logger } from '../../shared/process/logger.ts';
import type { Service } from '../../shared/process/services.ts';
import { STDIO } from '../principal.ts';
import { type Settings, UsageError } from '../settings.ts';
import { type AnnouncedNode, announcedIn, Candidates, isOnLink, SERVICE } from './announcement.ts';
import { askOf } from './ask.ts';
import { addToFleet, fleetEntry, type LocalFleet, readFleet } from './fleet-file.ts';
import { HttpNode, type HttpTarget } from './http-node.ts';
import { baseUrlOf } from './node-client.ts';
import type { LanPlane } from './plane.ts';
import { sideBySide } from './side-by-side.ts';

/**
 * Finds nodes of the LAN by mDNS (`_svc._tcp`), claims unpaired ones for which a person has said yes, and stores their keys. Yes is:
 * the fleet file has no node yet, and the person who sets it up gives --discover, or the node's id stands in --adopt. An unpaired node
 * has no secret by which it could be told from a false one, and its first fingerprint is the one that it announces. From then on it
 * is known by that (docs/https.md).
 */

const BROWSE_MS = 3000;
const ASK_AGAIN_MS = 1200;
/** All that may be read while it listens: `Candidates` bounds what is kept of it. */
const BOUNDS: Bounds = { each: { perSecond: 2000, burst: 2000 }, all: { perSecond: 4000, burst: 4000 } };
/** Nodes that do not answer are not waited for one after the other. */
const AT_A_TIME = 8;
const ASK_MS = 3000;
/** A person who sets up a fleet sees a few; who sees more says which. */
const MAX_UNNAMED = 16;
/** So long a call waits for the first node of an empty fleet. */
const SEARCH_MS = 8000;
const MAX_SAID = 400;

type Says = Readonly<Record<'info' | 'warn' | 'error', (sentence: string) => unknown>>;

interface BrowseOptions {
  /** Ids that are looked at, however many others there are. */
  readonly wanted?: ReadonlySet<string>;
  readonly log?: Pick<Says, 'warn'>;
  /** UDP; 5353 unless told. */
  readonly port?: number;
  /** Aborted when nobody wants to know any more. */
  readonly signal?: AbortSignal;
}

/** Listens for some seconds; where it cannot, that is said once, and nothing is found. */
export async function browse({
  wanted,
  log,
  port = 5353,
  signal,
}: BrowseOptions = {}): Promise<readonly AnnouncedNode[]> {
  const found = new Candidates(wanted);
  const links = linksOf(networkInterfaces()).filter(({ v4 }) => v4.length > 0);
  const failed = new Set<Link>();
  const sockets: LinkSocket[] = [];
  const ask = (socket: LinkSocket): void =>
    socket.send({ type: 'query', questions: [{ name: SERVICE, type: 'PTR' }] });
  const timers: NodeJS.Timeout[] = [];
  try {
    await new Promise<void>((resolve, reject) => {
      for (const link of links) {
        const socket = new LinkSocket(
          {
            link,
            bounds: BOUNDS,
            port,
            now: () => performance.now(),
            onPacket: (packet, { address: from }) => {
              if (packet.type !== 'response' || !isOnLink(from, links)) return;
              for (const node of announcedIn(packet, from)) found.add(node);
            },
            onError: (error) => {
              failed.add(link);
              if (failed.size === links.length) reject(error);
            },
          },
          () => ask(socket),
        );
        sockets.push(socket);
      }
      // Nodes say what they are once a second at most: the first answer may have come before.
      timers.push(
        setTimeout(() => sockets.forEach(ask), ASK_AGAIN_MS),
        setTimeout(resolve, BROWSE_MS),
      );
      signal?.addEventListener('abort', () => resolve(), { once: true });
    });
  } catch (error) {
    log?.warn(`--discover: no node can be found by mDNS (${messageOf(error)})`);
  } finally {
    for (const timer of timers) clearTimeout(timer);
    for (const socket of sockets) socket.close();
  }
  for (const id of found.contested)
    log?.warn(`--discover: two machines say that they are ${id}: neither was adopted`);
  return found.all;
}

interface AdoptOptions {
  /** Ids for which a person has said yes. */
  readonly named?: ReadonlySet<string>;
  /** Ids of nodes that are served already. */
  readonly served?: ReadonlySet<string>;
  /** Aborted when no more is to be claimed. */
  readonly signal?: AbortSignal;
  readonly onAdopted?: (node: HttpNode) => Promise<void>;
}

/**
 * Claims unpaired, unknown nodes one after the other; each key is on disk before the next claim, because a node whose key is
 * lost can only be reset by hand. Nothing is claimed while the file cannot be written, or another connector adopts nodes; a
 * claim whose key cannot be kept is given back. Before, all are asked side by side who they are.
 * @throws UsageError
 */
export async function adopt(
  found: readonly AnnouncedNode[],
  fleetFile: string,
  owner: string,
  log: Says,
  { named = new Set(), served = new Set(), signal, onAdopted }: AdoptOptions = {},
): Promise<void> {
  const known = new Set([...readFleetFor(fleetFile).nodes.map(({ id }) => id), ...served]);
  const strangers = found.filter(({ deviceId }) => isDeviceId(deviceId) && !known.has(deviceId));
  for (const { deviceId, host } of strangers.filter(({ paired }) => paired))
    log.info(`${deviceId} at ${host} is paired with another owner`);
  const free = wantedOf(
    strangers.filter(({ paired }) => !paired),
    named,
    known.size === 0,
    log,
  );
  if (free.length === 0) return;
  const release = await reserve(fleetFile);
  try {
    const proved = await sideBySide(free, async (node) => prove(node, log, signal), AT_A_TIME);
    for (const target of proved.filter((each) => each !== null)) {
      if (signal?.aborted === true) return;
      const adopted = await adoptOne(target, fleetFile, owner, log);
      if (adopted === 'full') return;
      if (adopted !== null) await onAdopted?.(adopted);
    }
  } finally {
    release();
  }
}

/** @throws UsageError */
function readFleetFor(fleetFile: string): LocalFleet {
  try {
    return readFleet(fleetFile);
  } catch (error) {
    throw nothingClaimed(fleetFile, error);
  }
}

/** Those for which a person has said yes; the others are named, so that one can. */
function wantedOf(
  free: readonly AnnouncedNode[],
  named: ReadonlySet<string>,
  setsUp: boolean,
  log: Says,
): readonly AnnouncedNode[] {
  if (setsUp && free.length <= MAX_UNNAMED) return free;
  const unasked = free.filter(({ deviceId }) => !named.has(deviceId));
  for (const { deviceId, host, name, tls } of unasked.slice(0, MAX_UNNAMED)) {
    const called = name === null ? '' : `, which calls itself "${name}",`;
    const shown = tls == null ? 'without HTTPS' : `with the fingerprint ${tls.fingerprint}`;
    log.info(`${deviceId} at ${host}${called} ${shown}, is unpaired: --adopt ${deviceId} adopts it`);
  }
  if (unasked.length > MAX_UNNAMED)
    log.warn(`${unasked.length} nodes say that they are unpaired: name yours by --adopt`);
  return free.filter(({ deviceId }) => named.has(deviceId));
}

/** The node, if it is reached in time and says that it is the one that was announced; nothing is changed there. */
async function prove(found: AnnouncedNode, log: Says, signal?: AbortSignal): Promise<HttpTarget | null> {
  const { deviceId, name, host: plain, tls } = found;
  const secure = tls ?? null;
  // Without a scheme: a node that serves HTTPS, and whose announcement hides it, is not claimed in the clear.
  const host = secure?.host ?? plain;
  try {
    if (signal?.aborted === true) return null;
    const target: HttpTarget = {
      id: deviceId,
      name,
      baseUrl: baseUrlOf(host),
      host,
      key: null,
      expectedId: deviceId,
      fingerprint: secure?.fingerprint ?? null,
    };
    await within(
      new HttpNode(target).prove(signal),
      ASK_MS,
      () => new Error(`no answer within ${ASK_MS} ms`),
    );
    return target;
  } catch (error) {
    log.warn(notAdopted(deviceId, host, error));
    return null;
  }
}

/** A part of it may be a stranger's words. */
function notAdopted(id: string, host: string, error: unknown): string {
  return `${id} at ${host} was not adopted: ${plainText(messageOf(error)).slice(0, MAX_SAID)}`;
}

function nothingClaimed(fleetFile: string, error: unknown): UsageError {
  return new UsageError(`--discover: nothing was claimed, since ${fleetFile}: ${messageOf(error)}`);
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
    throw nothingClaimed(fleetFile, error);
  }
}

/** @returns the node; null if it was not adopted; `full` if no more nodes may be claimed, because a key could not be kept */
async function adoptOne(
  free: HttpTarget,
  fleetFile: string,
  owner: string,
  log: Says,
): Promise<HttpNode | 'full' | null> {
  const { id, host = free.baseUrl } = free;
  let target: HttpTarget;
  try {
    const claim = { body: { user_id: owner } };
    const { api_key: key } = await askOf(new HttpNode(free), STDIO)('pairing.claim.post', claim);
    if (typeof key !== 'string') throw new Error('the answer has no key');
    fleetEntry({ id, host, key });
    target = { ...free, key };
  } catch (error) {
    log.warn(notAdopted(id, String(host), error));
    return null;
  }
  try {
    await addToFleet(fleetFile, [target]);
    log.info(`${id} at ${host} was adopted; its key is in ${fleetFile}`);
    return new HttpNode(target);
  } catch (error) {
    log.error(`${id} at ${host}: its key cannot be kept (${messageOf(error)})`);
    await giveBack(target, log);
    return 'full';
  }
}

/** Unpairs a node that was claimed a moment ago; it need not know whether its vehicle is armed. */
async function giveBack(target: HttpTarget, log: Says): Promise<void> {
  try {
    await askOf(new HttpNode(target), STDIO)('pairing.unpair.post', { body: { force: true } });
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

/**
 * Looks for nodes beside all else: clients are served meanwhile, and nothing that it meets ends the connector.
 * @param admits whether a node that was adopted may be served
 */
export function discoveryService(
  settings: Settings,
  plane: LanPlane,
  admits: (node: HttpNode) => Promise<boolean>,
  onNodes: () => void,
  log: Logger,
): Service {
  const ended = new AbortController();
  let search: Promise<void> | null = null;
  const run = async (first: () => void): Promise<void> => {
    const { adopt: named, place, fleetFile } = settings;
    const served = new Set(plane.nodes.map(({ target }) => target.id));
    const onAdopted = async (node: HttpNode): Promise<void> => {
      if (!(await admits(node))) return;
      plane.add(node);
      onNodes();
      first();
    };
    try {
      const owner = await ownerId(settings.owner);
      const found = await browse({ wanted: named, log, signal: ended.signal });
      if (ended.signal.aborted) return;
      const options = { named, served, signal: ended.signal, onAdopted };
      await adopt(found, place ?? fleetFile, owner, log, options);
    } catch (error) {
      log.error(messageOf(error));
    }
  };
  return {
    name: 'discovery',
    start() {
      const found = new Promise<void>((resolve) => {
        search = run(resolve);
        void search.then(resolve);
      });
      plane.searching = Promise.race([found, delay(SEARCH_MS, undefined, { ref: false })]);
    },
    async stop() {
      ended.abort();
      await search;
    },
  };
}
