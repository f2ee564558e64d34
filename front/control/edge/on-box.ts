import { readFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { plainAddress } from '../../../shared/auth/address.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';

/**
 * Finds the user of the process at the other end of a loopback connection in the kernel's socket table (proc(5),
 * /proc/net/tcp): the only fact about a local caller that the caller cannot choose (docs/contract.md 4.9).
 */

export interface Connection {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localPort?: number | undefined;
}

export interface OnBoxRule {
  /** Whether the process at the other end runs as root, as this service's user, or as a member of its group. */
  trusts(connection: Connection): boolean;
}

export interface OnBoxOptions {
  readonly ownUid: number;
  readonly group: string;
  readonly log: Logger;
  /** Reads a file of the system; replaced in tests. */
  readonly read?: (path: string) => string;
}

const ESTABLISHED = '01';

/** An address as the kernel prints it: groups of four bytes in the machine's byte order. */
function kernelAddress(ip: string): readonly string[] {
  if (isIPv4(ip)) {
    const little = ip
      .split('.')
      .toReversed()
      .map((part) => Number(part).toString(16).padStart(2, '0'))
      .join('')
      .toUpperCase();
    // A dual-stack socket lists an IPv4 peer as a mapped IPv6 address.
    return [little, `0000000000000000FFFF0000${little}`];
  }
  return ip === '::1' ? ['00000000000000000000000001000000'] : [];
}

function kernelPort(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
}

/** The user id of the socket with the local address `connection.remote…`, or null if the table does not list it. */
export function uidOfPeer(connection: Connection, tables: readonly string[]): number | null {
  const { remoteAddress, remotePort, localPort } = connection;
  if (remoteAddress === undefined || remotePort === undefined || localPort === undefined) return null;
  const ends = kernelAddress(plainAddress(remoteAddress)).map(
    (address) => `${address}:${kernelPort(remotePort)}`,
  );
  const farPort = `:${kernelPort(localPort)}`;
  for (const table of tables) {
    for (const line of table.split('\n')) {
      const fields = line.trim().split(/\s+/);
      // sl local_address rem_address st tx:rx tr:when retrnsmt uid …
      const [, local = '', remote = '', state, , , , uid] = fields;
      if (state === ESTABLISHED && ends.includes(local) && remote.endsWith(farPort)) return Number(uid);
    }
  }
  return null;
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
      const uid = uidOfPeer(connection, [textOrNone('/proc/net/tcp'), textOrNone('/proc/net/tcp6')]);
      if (uid === null || !Number.isInteger(uid)) return false;
      return (
        uid === 0 ||
        uid === ownUid ||
        groupMembers(group, textOrNone('/etc/group'), textOrNone('/etc/passwd')).has(uid)
      );
    },
  };
}
