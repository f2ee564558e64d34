import { expect } from 'chai';
import { decide } from '../../front/control/edge/decide.ts';
import { EXTENSION_HEADER } from '../../shared/auth/principal.ts';
import type { Row } from '../../shared/routes/row.ts';
import { ROWS } from '../../shared/routes/table.ts';
import { edgeState, head, judge, verdict, withKey } from '../support/edge.ts';

const ID = 'org.example.pilot';
const asExtension = [EXTENSION_HEADER, ID] as const;
const command = { method: 'POST', target: '/api/command', headers: [asExtension], unix: true } as const;
const unpaired = edgeState({ pairing: { paired: false, keyHash: null } });

describe('an extension for which svc-residual asks on control.sock', () => {
  it('is a caller of its own, with the classes of what it can be granted, and never more', () => {
    for (const state of [edgeState(), unpaired]) {
      const decision = judge(command, state, { cmd: 'takeoff', args: [5] });
      expect(decision.kind).to.equal('pass');
      expect(decision.kind === 'pass' ? decision.principal : null).to.deep.equal({
        kind: 'extension',
        id: `extension:${ID}`,
        scopes: ['safe_write', 'flight'],
      });
      for (const cmd of ['killSwitch', 'KILLSWITCH ', 'parachute'])
        expect(verdict(command, state, { cmd }), cmd).to.equal('E_SCOPE');
    }
  });

  it('passes no row that needs the key, a secret, admin or destructive; nor by force', () => {
    for (const row of ROWS as readonly Row[]) {
      if (row.access === 'public' || row.method === 'WS') continue;
      if (row.scope === 'safe_write' || row.scope === 'flight') continue;
      const target = row.path.replaceAll(/\{[a-z_]+\}/g, 'x');
      const decision = judge({ ...command, method: row.method === 'ANY' ? 'GET' : row.method, target });
      expect(decision.kind, `${row.method} ${row.path}`).to.equal('refuse');
    }
    const guarded = edgeState({ armed: true });
    const reset = { ...command, target: '/api/params/RTL_ALT' };
    expect(verdict(reset, guarded, { value: 1, force: true })).to.equal('E_SCOPE');
  });

  it('is nobody for the rule of the pilot in command', () => {
    const flown = edgeState({
      pilot: { otherThan: (clientId) => (clientId === 'tablet' ? null : 'tablet') },
    });
    expect(verdict(command, flown, { cmd: 'takeoff' })).to.equal('E_NOT_PIC');
    expect(verdict(command, flown, { cmd: 'land' })).to.equal('pass');
    expect(verdict({ ...command, method: 'PUT', target: '/api/mission' }, flown, { items: [] })).to.equal(
      'E_NOT_PIC',
    );
  });

  it('is nobody at all if the name is none, or is said twice; unpaired too', () => {
    const twice = [asExtension, [EXTENSION_HEADER, 'org.example.other']] as const;
    for (const headers of [twice, [[EXTENSION_HEADER, '']] as const, [[EXTENSION_HEADER, '../x']] as const])
      for (const state of [edgeState(), unpaired])
        expect(verdict({ ...command, headers }, state, { cmd: 'arm' })).to.equal('E_UNAUTHENTICATED');
  });

  it('is heard of on control.sock only: elsewhere the header gives and takes nothing', () => {
    const fromAfar = { ...command, unix: false };
    expect(verdict(fromAfar, edgeState(), { cmd: 'arm' })).to.equal('E_UNAUTHENTICATED');
    const decision = decide(head({ ...fromAfar, headers: [asExtension, withKey] }), edgeState());
    expect(decision.kind === 'pass' ? decision.principal.kind : null).to.equal('key');
  });
});
