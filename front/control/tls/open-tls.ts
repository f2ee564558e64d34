import { networkInterfaces } from 'node:os';
import { loadConfig } from '../../../shared/config/load.ts';
import { ApiError } from '../../../shared/errors.ts';
import { type HandlersOf, Reply } from '../../../shared/routes/handler.ts';
import type { tlsRows } from '../../../shared/routes/tls.ts';
import type { Base } from '../node/base.ts';
import { ownHostOf } from '../node/identity.ts';
import { NodeTls, type NodeTlsOptions } from './node-tls.ts';
import { OwnCertificates } from './own-certificates.ts';

/** HTTPS, and what the node tells of it. */
export function openTls(base: Base, parts: Pick<NodeTlsOptions, 'paired' | 'listen'>) {
  const { config, paths, identity, now, log } = base;
  const { tls_port: port, tls_cert: cert, tls_key: key } = config.api;
  const tls = new NodeTls({
    ...parts,
    port,
    given: cert === '' ? null : { cert, key },
    own: new OwnCertificates({ authority: paths.tlsAuthority, leaf: paths.tlsLeaf }, now),
    deviceId: identity.device_id,
    // A name that was chosen since the start: whoever pairs keeps the authority that vouches for it.
    hosts: async () => {
      const { agent } = parts.paired() ? config : (await loadConfig(paths)).config;
      return [identity.mdns_host, ownHostOf(identity.device_id, agent.name)];
    },
    interfaces: networkInterfaces,
    log,
  });
  const handlers: HandlersOf<typeof tlsRows, 'front'> = {
    'tls.get': () => tls.info(),
    'ca-crt.get': () => {
      const { authority } = tls;
      if (authority === null)
        throw new ApiError('E_NOT_FOUND', 'This node has no certificate authority of its own.');
      return new Reply(200, authority, 'application/x-x509-ca-cert', {
        'content-disposition': `attachment; filename="svc-${identity.device_id.slice(0, 6)}-ca.crt"`,
      });
    },
  };
  return { tls, handlers };
}
