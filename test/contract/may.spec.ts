import { expect } from 'chai';
import { LOCAL_SOCKET, PAIRING_KEY, type Principal } from '../../shared/auth/principal.ts';
import { SCOPES } from '../../shared/auth/scopes.ts';
import { FEATURES } from '../../shared/profile.ts';
import { mayUse } from '../../shared/routes/may.ts';
import type { Row } from '../../shared/routes/row.ts';
import { servedFeatures } from '../../shared/routes/served.ts';
import { ROWS } from '../../shared/routes/table.ts';
import { KEY } from '../support/edge.ts';
import { decided, MATRIX_ROWS } from '../support/matrix.ts';
import { TestNode } from '../support/node.ts';
import type { Credential } from '../support/oracle.ts';
import { svc } from '../support/svc.ts';

const session: Principal = { kind: 'session', id: 'session:1', scopes: null };
const CALLERS: readonly (readonly [Credential, Principal])[] = [
  ['none', { kind: 'anonymous', id: 'anonymous', scopes: null }],
  ['key', PAIRING_KEY],
  ['session', session],
  ...SCOPES.map((scope) => [`token:${scope}`, { kind: 'token', id: 'mct_1', scopes: [scope] }] as const),
];

describe('what a caller could use at all', () => {
  for (const [credential, caller] of CALLERS) {
    it(`${credential}: every row that is not allowed is refused, and every other passes or waits for its body`, () => {
      for (const row of MATRIX_ROWS) {
        // Where it may come from is another question (docs/contract/edge.md#tls).
        if (row.tlsOnly) continue;
        const answer = decided(row, credential, 'lan', true);
        const at = `${row.method} ${row.path}: ${answer}`;
        // A public row does not look at a token. E_SCOPE may also come from the body, which is not there.
        if (row.access === 'public' && caller.kind === 'token') continue;
        if (!mayUse(row, caller)) expect(answer, at).to.be.oneOf(['E_UNAUTHENTICATED', 'E_SCOPE']);
        else if (row.armed === '-' && row.names.length === 0)
          expect(answer, at).to.be.oneOf(['pass', 'E_NOT_IMPLEMENTED']);
        else expect(answer, at).to.not.equal('E_UNAUTHENTICATED');
      }
    });
  }

  it('only the pairing key, and what counts as it, is more than a session', () => {
    const clear = (ROWS as readonly Row[]).find(({ id }) => id === 'dashboard.pin.clear.post') as Row;
    expect(clear.access).to.equal('keyonly');
    expect([PAIRING_KEY, LOCAL_SOCKET].map((caller) => mayUse(clear, caller))).to.deep.equal([true, true]);
    const others: readonly Principal[] = [
      session,
      { kind: 'ticket', id: 'ticket of pairing-key', scopes: null },
      { kind: 'token', id: 'mct_1', scopes: [...SCOPES] },
      { kind: 'relay', id: 'x', scopes: null, stated: 'session' },
      { kind: 'relay', id: 'x', scopes: null, stated: 'gate' },
    ];
    for (const caller of others) expect(mayUse(clear, caller), caller.kind).to.equal(false);
    expect(mayUse(clear, { kind: 'relay', scopes: null, stated: 'key' })).to.equal(true);
  });
});

describe('what a node says that it serves', () => {
  it('a feature counts when it is on, of the profile, and every route of it there is answered', () => {
    const all = { profile: 'drone', features: new Set(FEATURES), residual: true } as const;
    expect(servedFeatures(ROWS, all)).to.include.members(['core', 'flight', 'video', 'plugins', 'logs']);
    expect(servedFeatures(ROWS, all)).to.not.include('ground-station');
    const front = servedFeatures(ROWS, { ...all, residual: false });
    expect(front).to.include.members(['core', 'flight', 'radio']);
    for (const missing of ['video', 'plugins', 'config', 'logs', 'dashboard', 'setup'] as const)
      expect(front).to.not.include(missing);
    expect(servedFeatures(ROWS, { ...all, features: new Set(['core'] as const) })).to.deep.equal(['core']);
  });

  it('over the wire, to anybody; the audit is checked for those with the key', async () => {
    const node = await TestNode.start({
      pairing: { key: KEY },
      args: ['--no-residual'],
      config: 'features:\n  radio: false\n',
    });
    try {
      const { body } = await node.json('/api/version');
      expect(body['capabilities'])
        .to.include.members(['openapi', 'feature.core', 'feature.flight', 'feature.pairing'])
        .and.not.include.members(['feature.radio']);
      for (const missing of ['radio', 'video', 'ground-station', 'config', 'logs', 'dashboard'])
        expect(body['capabilities']).to.not.include(`feature.${missing}`);
      expect((await node.json('/api/audit/verify')).status).to.equal(401);
      const verified = await node.json('/api/audit/verify', { headers: { 'x-svc-key': KEY } });
      expect(verified.status).to.equal(200);
      expect(verified.body).to.include({ ok: true, head_not_checked: null });
      expect((verified.body['files'] as { name: string }[]).map(({ name }) => name)).to.include(
        'audit.ndjson',
      );
    } finally {
      await node.stop();
    }
  });

  it('without a page nobody is sent to one', async () => {
    const node = await TestNode.start({ args: ['--no-residual'] });
    try {
      expect((await svc(node.paths, 'status')).stdout)
        .to.include('svc-control')
        .and.not.include('set-up');
      expect(node.stderr).to.include(
        'not paired yet; this node has no page of the set-up: svc pair pairs it',
      );
    } finally {
      await node.stop();
    }
  });
});
