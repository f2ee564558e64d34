import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';

/**
 * Datagrams that the kernel threw away at a UDP socket of this process, since its receive buffer was full: `drops`, the last column
 * of /proc/net/udp (net/ipv4/udp.c, `udp4_format_sock`). Null where the table does not say: IPv6, or no such socket.
 */
export async function kernelDrops({ address, family, port }: AddressInfo): Promise<number | null> {
  if (family !== 'IPv4') return null;
  const table = await readFile('/proc/net/udp', 'latin1');
  const local = `${hexOf(address)}:${hex(port, 4)}`;
  const row = table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .find((columns) => columns[1] === local);
  const drops = Number(row?.at(-1) ?? Number.NaN);
  return Number.isInteger(drops) ? drops : null;
}

/** An IPv4 address as the table has it: a word of the machine, which is little-endian on every board that we run on. */
function hexOf(address: string): string {
  return address
    .split('.')
    .toReversed()
    .map((byte) => hex(Number(byte), 2))
    .join('');
}

const hex = (value: number, digits: number): string => value.toString(16).toUpperCase().padStart(digits, '0');
