import { isIP } from 'node:net';

/** Whether a name in an address is this machine's own: there alone something goes in the clear. @param host as `URL.hostname` has it */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'));
}
