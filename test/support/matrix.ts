import { RELAY_CALLER_HEADER } from '../../front/control/edge/relay.ts';
import type { AddressClass } from '../../shared/auth/address.ts';
import { isScope } from '../../shared/auth/scopes.ts';
import { FEATURES } from '../../shared/profile.ts';
import type { Row } from '../../shared/routes/row.ts';
import { ROWS } from '../../shared/routes/table.ts';
import { edgeState, judge, KEY, trusting } from './edge.ts';
import type { Credential } from './oracle.ts';
import { targetOf, withReadTicket } from './send-row.ts';

export const MATRIX_ROWS: readonly Row[] = (ROWS as readonly Row[]).filter(({ scope }) => scope !== 'inner');
export const MATRIX_FEATURES = new Set(FEATURES.filter((feature) => feature !== 'ground-station'));

/** The headers that carry a credential; every offered session, ticket, and token is a valid one here. */
function headersOf(credential: Credential): readonly (readonly [string, string])[] {
  switch (credential) {
    case 'none':
    case 'read ticket':
    case 'onbox':
      return [['Host', 'localhost:8080']];
    case 'wrong key':
      return [['X-SVC-Key', 'svc_wrong']];
    case 'key':
      return [['X-SVC-Key', KEY]];
    case 'session':
      return [['x-svc-dashboard-session', 's']];
    case 'ticket':
      return [['Sec-WebSocket-Protocol', 'svc-ws-ticket, t']];
    case 'relay':
      return [[RELAY_CALLER_HEADER, 'key pairing-key *']];
    default:
      return [['x-svc-mcp-token', credential]];
  }
}

/** What decide() says: `pass`, or the code of the refusal. */
export function decided(row: Row, credential: Credential, from: AddressClass, paired: boolean): string {
  const scope = credential.replace('token:', '');
  const checks = trusting(isScope(scope) ? [scope] : []);
  const state = edgeState({
    features: MATRIX_FEATURES,
    credentials: { ...checks, token: (value) => (value.startsWith('token:') ? checks.token(value) : null) },
    ...(paired ? {} : { pairing: { paired: false, keyHash: null } }),
  });
  const upgrade = row.method === 'WS';
  const answer = judge(
    {
      method: upgrade ? 'GET' : row.method,
      target: credential === 'read ticket' ? withReadTicket(row, 't') : targetOf(row),
      headers: headersOf(credential),
      from,
      upgrade,
      trusted: credential === 'onbox',
      ...(credential === 'relay' ? { ground: 'gs-1' } : {}),
    },
    state,
  );
  return answer.kind === 'refuse' ? answer.code : answer.kind;
}
