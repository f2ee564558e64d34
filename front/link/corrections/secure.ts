import { isIP } from 'node:net';
import { connect, createSecureContext, getCACertificates } from 'node:tls';
import type { Connect } from './stream.ts';

/** Connects by TLS to whoever has a certificate of an authority that this machine trusts, for the name that is asked for. */
export function secureConnect(): Connect {
  const system = [...new Set(getCACertificates('system'))];
  const ca = system.length > 0 ? system : getCACertificates('bundled'); // a machine without any of its own
  const secureContext = createSecureContext({ ca, minVersion: 'TLSv1.2' });
  return (address) =>
    connect({ ...address, secureContext, ...(isIP(address.host) === 0 ? { servername: address.host } : {}) });
}
