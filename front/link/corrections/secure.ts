import { isIP } from 'node:net';
import { connect, createSecureContext, getCACertificates } from 'node:tls';
import type { Connect } from './stream.ts';

/**
 * Connects by TLS to whoever has a certificate for the name that is asked for.
 * @param trusted authorities, PEM; by default those of this machine
 */
export function secureConnect(trusted: readonly string[] = getCACertificates('system')): Connect {
  const ca = trusted.length > 0 ? [...new Set(trusted)] : getCACertificates('bundled'); // a machine without any
  const secureContext = createSecureContext({ ca, minVersion: 'TLSv1.2' });
  return (address) =>
    connect({ ...address, secureContext, ...(isIP(address.host) === 0 ? { servername: address.host } : {}) });
}
