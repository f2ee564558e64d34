import { networkInterfaces } from 'node:os';
import { enabledFeatures } from '../../shared/config/features.ts';
import { compileTable, ROWS } from '../../shared/routes/table.ts';
import { allowedOrigins } from './edge/cors.ts';
import type { CredentialChecks, EdgeState, PilotRule } from './edge/decision.ts';
import { OwnNames } from './edge/own-names.ts';
import { rowValidator } from './edge/row-validator.ts';
import type { Credentials } from './native/credentials.ts';
import type { Base } from './node/base.ts';
import { ownHostOf } from './node/identity.ts';

interface StateParts {
  readonly credentials: Pick<Credentials, 'pairing'> & { readonly checks: CredentialChecks };
  readonly pilot: PilotRule;
  /** Whether the residual is part of this node. */
  readonly residual: boolean;
  readonly port: () => number;
  /** Of HTTPS; null while it is not served. */
  readonly tlsPort: () => number | null;
}

/** What `decide` knows of the node. */
export function edgeState(
  base: Base,
  { credentials, pilot, residual, port, tlsPort }: StateParts,
): EdgeState {
  const { config, profile, isGround, identity, vehicle, monotonic } = base;
  const { device_id: id, mdns_host: host } = identity;
  return {
    matcher: compileTable(ROWS).matcher,
    pairing: credentials.pairing,
    get armed() {
      return vehicle.armed;
    },
    get anyArmed() {
      return vehicle.anyArmed;
    },
    profile,
    features: enabledFeatures(config),
    residual,
    origins: allowedOrigins(config.security.api),
    hosts: new OwnNames({
      names: [host, ownHostOf(id, config.agent.name), ...config.security.api.hosts],
      interfaces: networkInterfaces,
      now: monotonic,
    }),
    credentials: credentials.checks,
    validate: rowValidator(ROWS),
    pilot: isGround ? pilot : null,
    get port() {
      return port();
    },
    tls: {
      required: config.security.require_tls,
      get port() {
        return tlsPort();
      },
    },
  };
}
