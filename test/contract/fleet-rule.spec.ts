import { expect } from 'chai';
import { decide } from '../../front/control/edge/decide.ts';
import type { FleetCredential, Peer } from '../../front/control/edge/decision.ts';
import { lacksScope } from '../../front/control/edge/lacks-scope.ts';
import { SCOPES, type Scope } from '../../shared/auth/scopes.ts';
import type { Row } from '../../shared/routes/row.ts';
import { ROWS } from '../../shared/routes/table.ts';
import { edgeState, everythingBuilt, head } from '../support/edge.ts';

const ALL: readonly Row[] = ROWS;
const EXCEPTIONS = ['POST /api/mcp/revoke', 'DELETE /api/wfb/pair', 'DELETE /api/fleet/enrollment'];

/** Of the whole table, by what decisions.md says in words and not by the function that says it in code. */
describe('the table for a caller of the fleet', () => {
  const state = edgeState({ matcher: everythingBuilt, features: new Set(ALL.map(({ feature }) => feature)) });

  function verdict({ method, path }: Row, confirmed: 'hold' | 'confirm' | null): string {
    const principal = { kind: 'fleet', id: 'fleet:mc_1', scopes: SCOPES } as const;
    const fleet: FleetCredential = { kind: 'valid', principal, confirmed };
    const upgrade = method === 'WS';
    const asked = head({
      method: upgrade || method === 'ANY' ? 'GET' : method,
      target: path
        .replace('{*path}', upgrade ? 'api/telemetry/ws' : 'api/status')
        .replaceAll(/\{[zxy]\}/g, '1')
        .replaceAll(/\{[a-z_]+\}/g, 'x1'),
      upgrade,
    });
    const peer: Peer = { ...asked.peer, kind: 'fleet', fleet };
    const decision = decide({ ...asked, peer }, state);
    return decision.kind === 'refuse' ? decision.code : decision.kind;
  }

  it('reaches no row that needs the key, a browser, a person nearby, another node or a secret', () => {
    for (const row of ALL) {
      const name = `${row.method} ${row.path}`;
      if (EXCEPTIONS.includes(name)) continue;
      const local =
        row.access === 'keyonly' ||
        row.relay === 'forbid' ||
        row.scope === 'secret_read' ||
        row.method === 'WS' ||
        /relay-proxy|ticket|\/pic(\/|$)|\/api\/fleet/.test(row.path) ||
        (row.access === 'public' && row.method !== 'GET');
      const answer = verdict(row, 'confirm');
      if (local) expect(answer, name).to.equal('E_FLEET_FORBIDDEN');
      else if (row.scope === 'none' && row.access !== 'public') expect(answer, name).to.equal('E_SCOPE');
      else expect(answer, name).to.be.oneOf(['pass', 'E_NOT_IMPLEMENTED', 'E_REMOTE']);
    }
  });

  it('takes authority away, where that hurts only with a confirmation that was asked for', () => {
    const rows = ALL.filter(({ method, path }) => EXCEPTIONS.includes(`${method} ${path}`));
    const answers = rows.map((row) => [
      row.path,
      verdict(row, null),
      verdict(row, 'hold'),
      verdict(row, 'confirm'),
    ]);
    expect(answers).to.have.deep.members([
      ['/api/mcp/revoke', 'pass', 'pass', 'pass'],
      ['/api/wfb/pair', 'E_CONFIRM', 'E_CONFIRM', 'pass'],
      ['/api/fleet/enrollment', 'E_CONFIRM', 'E_CONFIRM', 'pass'],
    ]);
  });

  describe('a credential that has a scope which this node does not let its fleet have', () => {
    const row = ALL.find(({ method, path }) => method === 'POST' && path === '/api/command');
    const refusal = (held: readonly Scope[], local: readonly string[]) => {
      if (row === undefined) throw new Error('no row');
      const cap = { held, local };
      const principal = { kind: 'fleet', id: 'fleet:mc_1', scopes: ['read'], cap } as const;
      return lacksScope({ policy: row, row, principal, cors: null }, [], false);
    };

    it('is told what a person can do', () => {
      const { code, detail, extras } = refusal(['read', 'flight'], ['read']);
      expect(code).to.equal('E_SCOPE');
      expect(detail).to.match(/^This node does not let its fleet do that\. .*fleet\.scopes.*flight/);
      expect(extras).to.deep.equal({
        required: 'flight',
        missing: ['flight'],
        granted: ['read'],
        capped: ['flight'],
        fleet_scopes: ['read'],
      });
    });

    it('and not where it lacks the scope itself, or the node lets it', () => {
      expect(refusal(['read'], ['read']).detail).to.equal('The token lacks flight.');
      expect(refusal(['read', 'flight'], ['read', 'flight']).extras).not.to.have.property('capped');
    });
  });
});
