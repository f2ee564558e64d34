import { readFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { plainAddress } from '../../../shared/auth/address.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';

/**
 * Finds the user of the process at the other end of a loopback connection in the kernel's socket table (proc(5),
 * /proc/net/tcp): the only fact about a local caller that the caller cannot choose (docs/contract/edge.md#credential).
 */

export interface Connection {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
}

export interface OnBoxRule {
  /** Whether the process at the other end runs as root, as this service's user, or as a member of its group. */
  trusts(connection: Connection): boolean;
}

interface OnBoxOptions {
  readonly ownUid: number;
  readonly group: string;
  readonly log: Logger;
  /** Reads a file of the system; replaced in tests. */
  readonly read?: (path: string) => string;
}

const ESTABLISHED = '01';
/**
 * How often the tables are read at most. The kernel hands them out page by page: while others come and go, a row between two
 * pages may be left out, or come twice.
 */
const READS = 3;

/** The tables of the two families. */
interface SocketTables {
  readonly tcp: string;
  readonly tcp6: string;
}

/** One end of a connection as the kernel prints it: the address in groups of four bytes, each in the machine's byte order. */
function kernelEnd(ip: string, port: number): { readonly v4: string | null; readonly v6: string } | null {
  const at = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  if (ip === '::1') return { v4: null, v6: `00000000000000000000000001000000${at}` };
  if (!isIPv4(ip)) return null;
  const little = ip
    .split('.')
    .toReversed()
    .map((part) => Number(part).toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase();
  // An IPv6 socket lists an IPv4 end as a mapped address.
  return { v4: `${little}${at}`, v6: `0000000000000000FFFF0000${little}${at}` };
}

/**
 * The user id of the socket at the far end: the one row that is ESTABLISHED and has both addresses and both ports of the
 * connection, seen from there, in the form of its table. Another user's socket may share three of the four.
 * @returns null if there is no such row, or more than one
 */
export function uidOfPeer(connection: Connection, { tcp, tcp6 }: SocketTables): number | null {
  const { remoteAddress, remotePort, localAddress, localPort } = connection;
  if (remoteAddress === undefined || remotePort === undefined) return null;
  if (localAddress === undefined || localPort === undefined) return null;
  const far = kernelEnd(plainAddress(remoteAddress), remotePort);
  const near = kernelEnd(plainAddress(localAddress), localPort);
  if (far === null || near === null) return null;
  const uids = [
    ...(far.v4 === null || near.v4 === null ? [] : uidsOf(tcp, far.v4, near.v4)),
    ...uidsOf(tcp6, far.v6, near.v6),
  ];
  const [uid = null] = uids;
  return uids.length === 1 && Number.isInteger(uid) ? uid : null;
}

/** The users of the established sockets between these ends. */
function uidsOf(table: string, from: string, to: string): readonly number[] {
  return table.split('\n').flatMap((line) => {
    // sl local_address rem_address st tx:rx tr:when retrnsmt uid …
    const [, local, remote, state, , , , uid] = line.trim().split(/\s+/);
    return state === ESTABLISHED && local === from && remote === to ? [Number(uid)] : [];
  });
}

/** Members of `group` by name or as their first group, from the texts of /etc/group and /etc/passwd. */
export function groupMembers(group: string, groups: string, passwd: string): ReadonlySet<number> {
  const entry = groups
    .split('\n')
    .find((line) => line.startsWith(`${group}:`))
    ?.split(':');
  if (entry === undefined) return new Set();
  const [, , gid, names = ''] = entry;
  const named = new Set(names.split(','));
  const uids = passwd
    .split('\n')
    .map((line) => line.split(':'))
    .filter(([name = '', , , first]) => first === gid || named.has(name))
    .map(([, , uid]) => Number(uid));
  return new Set(uids.filter((uid) => Number.isInteger(uid)));
}

export function createOnBoxRule({ ownUid, group, log, read }: OnBoxOptions): OnBoxRule {
  const readText = read ?? ((path: string) => readFileSync(path, 'utf8'));
  const textOrNone = (path: string): string => {
    try {
      return readText(path);
    } catch (error) {
      log.warn(`on-box: ${messageOf(error)}`); // without the table no user is trusted
      return '';
    }
  };
  return {
    trusts(connection) {
      let uid: number | null = null;
      for (let reads = 0; uid === null && reads < READS; reads++)
        uid = uidOfPeer(connection, { tcp: textOrNone('/proc/net/tcp'), tcp6: textOrNone('/proc/net/tcp6') });
      if (uid === null) return false;
      return (
        uid === 0 ||
        uid === ownUid ||
        groupMembers(group, textOrNone('/etc/group'), textOrNone('/etc/passwd')).has(uid)
      );
    },
  };
}
