import { expect } from 'chai';
import { decide } from '../../front/control/edge/decide.ts';
import { NO_OTHER_CREDENTIALS } from '../../front/control/edge/decision.ts';
import { mayHaveReadTicket } from '../../front/control/edge/read-ticket-right.ts';
import { READ_TICKET_LIFE_S, TicketStore } from '../../front/control/stores/tickets.ts';
import { PAIRING_KEY, type Principal } from '../../shared/auth/principal.ts';
import type { Row } from '../../shared/routes/row.ts';
import { compileTable, ROWS } from '../../shared/routes/table.ts';
import { type Ask, edgeState, everythingBuilt, head, verdict, withKey } from '../support/edge.ts';
import { TestClocks } from '../support/pin-stores.ts';

const SNAPSHOT = '/api/video/snapshot';
const GCS = '/api/plugins/acme.cam/gcs';
const token = (...scopes: NonNullable<Principal['scopes']>): Principal => ({
  kind: 'token',
  id: 'mct_1',
  scopes,
});

describe('read tickets', () => {
  let clocks: TestClocks;
  let revoked: string[];
  let store: TicketStore;
  beforeEach(() => {
    clocks = new TestClocks();
    revoked = [];
    store = new TicketStore({
      now: clocks.now,
      monotonic: clocks.monotonic,
      isScope: () => true,
      life: READ_TICKET_LIFE_S,
      holds: ({ id }) => !revoked.includes(id),
    });
  });
  const state = (change: Parameters<typeof edgeState>[0] = {}) =>
    edgeState({
      matcher: everythingBuilt,
      credentials: { ...NO_OTHER_CREDENTIALS, readTicket: (value, path) => store.check(value, path) },
      ...change,
    });
  const ticket = (path: string, issuer = PAIRING_KEY) => store.issue(path, issuer).ticket;
  const pass = (ask: Ask) => {
    const decision = decide(head(ask), state());
    if (decision.kind !== 'pass') throw new Error(`${ask.target}: ${JSON.stringify(decision)}`);
    return decision;
  };

  it('are for the rows that a browser opens by their address, and for no other', () => {
    const rows = (ROWS as readonly Row[]).filter(({ readTicket }) => readTicket !== null);
    expect(rows.map(({ path, readTicket }) => `${path} ${readTicket}`).toSorted()).to.deep.equal([
      '/api/flight-logs/{id} query',
      '/api/logs/export query',
      '/api/maps/{name} query',
      '/api/plugins/{id}/gcs/{*path} segment',
      '/api/tlogs/{name} query',
      '/api/video/live.mp4 query',
      '/api/video/recordings/{name} query',
      '/api/video/snapshot query',
    ]);
    const snapshot = rows.find(({ id }) => id === 'video.snapshot.get') as Row;
    const wrong: readonly Partial<Row>[] = [
      { method: 'POST', scope: 'admin' },
      { access: 'public' },
      { access: 'keyonly' },
      { readTicket: 'segment' },
      { query: { type: 'object', properties: { ticket: { type: 'string' } } } },
    ];
    for (const change of wrong)
      expect(() => compileTable([{ ...snapshot, ...change }]), JSON.stringify(change)).to.throw(/ticket/);
  });

  it('open GET and HEAD of their path several times, for whoever asked, and are taken out of the target', () => {
    const value = ticket(SNAPSHOT, token('read'));
    for (const method of ['GET', 'HEAD', 'GET']) {
      const { principal, target, query, rule } = pass({ method, target: `${SNAPSHOT}?ticket=${value}` });
      expect({ principal, target, query, rule }).to.deep.equal({
        principal: { kind: 'ticket', id: 'ticket of mct_1', scopes: ['read'] },
        target: SNAPSHOT,
        query: '',
        rule: 'credential',
      });
    }
    const logs = ticket('/api/logs/export');
    expect(pass({ target: `/api/logs/export?level=info&ticket=${logs}&limit=5` })).to.include({
      target: '/api/logs/export?level=info&limit=5',
      query: 'level=info&limit=5',
    });
    expect(pass({ target: SNAPSHOT, headers: [withKey] }).target, 'as it came').to.equal(null);
  });

  it('of an extension’s page are the first segment, so that relative links keep them', () => {
    const value = ticket(GCS);
    for (const file of ['index.html', 'css/a.css']) {
      const { target, params, path } = pass({ target: `${GCS}/~${value}/${file}?v=1` });
      expect({ target, path, file: params['path'] }).to.deep.equal({
        target: `${GCS}/${file}?v=1`,
        path: `${GCS}/${file}`,
        file,
      });
    }
    const elsewhere = [
      `/api/plugins/acme.other/gcs/~${value}/index.html`,
      `${GCS}/index.html?ticket=${value}`,
      `${GCS}/css/~${value}/index.html`,
      `${GCS}/${value}/index.html`,
      `${GCS}/~${value}`,
      `${GCS}/~${value}/~${value}/index.html`,
      `${GCS}/~/index.html`,
      `${GCS}/~${ticket(`${GCS}/index.html`)}/index.html`,
      `/api/plugins/acme.cam/x/~${value}/index.html`,
    ];
    for (const target of elsewhere)
      expect(verdict({ target }, state()), target).to.equal('E_UNAUTHENTICATED');
    expect(verdict({ target: `${GCS}/%7E${value}/index.html` }, state())).to.equal('E_BAD_PATH');
  });

  it('F11 open nothing else: no other path, method or form', () => {
    const value = ticket(SNAPSHOT);
    const asks: readonly Ask[] = [
      { target: `/api/video/live.mp4?ticket=${value}` },
      { target: `/api/status?ticket=${value}` },
      { method: 'POST', target: `${SNAPSHOT}?ticket=${value}` },
      {
        method: 'DELETE',
        target: `/api/video/recordings/a.mp4?ticket=${ticket('/api/video/recordings/a.mp4')}`,
      },
      { target: `${SNAPSHOT}?ticket=${value}`, upgrade: true },
      { target: `/api/telemetry/ws?ticket=${value}`, upgrade: true },
      { target: `${SNAPSHOT}?ticket=${value}&ticket=${value}` },
      { target: `${SNAPSHOT}?ticket=${value}&ticket=` },
      { target: `${SNAPSHOT}?ticket=${value}&%74icket=x` },
      { target: `${SNAPSHOT}?%74icket=${value}` },
      { target: `${SNAPSHOT}?Ticket=${value}` },
      { target: `${SNAPSHOT}?ticket=%${value.charCodeAt(0).toString(16).toUpperCase()}${value.slice(1)}` },
      { target: `${SNAPSHOT}?ticket=${value},${value}` },
      { target: `${SNAPSHOT}?ticket=${value}x` },
      { target: `${SNAPSHOT}?ticket=` },
      { target: SNAPSHOT, headers: [['Cookie', `ticket=${value}`]] },
      { target: SNAPSHOT, headers: [['Authorization', `Bearer ${value}`]] },
      { target: SNAPSHOT, headers: [['Sec-WebSocket-Protocol', `svc-ws-ticket, ${value}`]] },
      { target: SNAPSHOT, headers: [['x-svc-dashboard-session', value]] },
    ];
    for (const ask of asks) expect(verdict(ask, state()), JSON.stringify(ask)).to.equal('E_UNAUTHENTICATED');
  });

  it('F11 a wrong one does not lock its peer: any web page can have a browser send it', () => {
    const decision = decide(head({ target: `${SNAPSHOT}?ticket=x` }), state());
    expect(decision).to.include({ kind: 'refuse', code: 'E_UNAUTHENTICATED', failedCredential: false });
  });

  it('F11 beside another credential they are taken out all the same, whatever they are', () => {
    for (const query of ['ticket=x', 'ticket=x&ticket=y', '%74icket=x', 'a=1&ticket=x']) {
      const decision = pass({ target: `${SNAPSHOT}?${query}`, headers: [withKey] });
      expect(decision.principal, query).to.equal(PAIRING_KEY);
      expect([decision.target, decision.query].join(), query).to.not.include('icket');
    }
    const posted = pass({ method: 'POST', target: `${SNAPSHOT}?ticket=x`, headers: [withKey] });
    expect(posted.target).to.equal(SNAPSHOT);
    const page = pass({ target: `${GCS}/~x/~y/a.html?ticket=z`, headers: [withKey] });
    expect([page.target, page.params['path']]).to.deep.equal([`${GCS}/a.html`, 'a.html']);
  });

  it('end after ten minutes, and with whoever asked', () => {
    const target = `${SNAPSHOT}?ticket=${ticket(SNAPSHOT, token('read'))}`;
    clocks.advance(599);
    expect(verdict({ target }, state())).to.equal('pass');
    clocks.advance(1);
    expect(verdict({ target }, state())).to.equal('E_UNAUTHENTICATED');
    const later = `${SNAPSHOT}?ticket=${ticket(SNAPSHOT, token('read'))}`;
    expect(verdict({ target: later }, state())).to.equal('pass');
    revoked.push('mct_1');
    expect(verdict({ target: later }, state())).to.equal('E_UNAUTHENTICATED');
  });

  it('are bounded: the 257th ends the oldest', () => {
    const values = Array.from({ length: 257 }, () => ticket(SNAPSHOT));
    const open = values.filter((value) => store.check(value, SNAPSHOT) !== null);
    expect(open).to.deep.equal(values.slice(1));
  });

  it('the rules of the row hold for them too: feature, unpaired gate', () => {
    const target = `${SNAPSHOT}?ticket=${ticket(SNAPSHOT)}`;
    expect(verdict({ target }, state({ features: new Set(['core']) }))).to.equal('E_NOT_IMPLEMENTED');
    const unpaired = state({ pairing: { paired: false, keyHash: null } });
    expect(verdict({ target, from: 'lan' }, unpaired)).to.equal('E_UNPAIRED');
    expect(verdict({ target, from: 'remote' }, unpaired)).to.equal('E_REMOTE');
    expect(verdict({ target, ground: 'gs-1' }, state()), 'the relay forwards none').to.equal(
      'E_UNAUTHENTICATED',
    );
  });

  it('F11 are given only to whoever may ask for the path itself, and never allow more', () => {
    const may = (path: string, principal: Principal, change = {}) => {
      const answer = mayHaveReadTicket(path, principal, state(change));
      return answer.kind === 'pass' ? 'pass' : answer.code;
    };
    expect(may(SNAPSHOT, PAIRING_KEY)).to.equal('pass');
    expect(may(SNAPSHOT, token('read', 'admin'))).to.equal('pass');
    expect(may(SNAPSHOT, token('admin'))).to.equal('E_SCOPE');
    expect(may(GCS, token('admin', 'read'))).to.equal('pass');
    expect(may(GCS, token('admin'))).to.equal('E_SCOPE');
    expect(may(SNAPSHOT, PAIRING_KEY, { features: new Set(['core']) })).to.equal('E_NOT_IMPLEMENTED');
    // A row that shows a secret, of which there is none today.
    const secret = (ROWS as readonly Row[]).map((row) =>
      row.id === 'logs.export.get' ? { ...row, scope: 'secret_read' as const } : row,
    );
    const { matcher } = compileTable(secret);
    expect(may('/api/logs/export', token('read', 'admin'), { matcher })).to.equal('E_SCOPE');
    expect(may('/api/logs/export', token('secret_read', 'read'), { matcher })).to.equal('pass');
    const target = `/api/logs/export?ticket=${ticket('/api/logs/export', token('read', 'admin'))}`;
    expect(verdict({ target }, state({ matcher })), 'also when it is used').to.equal('E_SCOPE');
    for (const path of [
      '/api/status',
      '/api/nothing',
      '/api/video/recordings',
      `${GCS}/index.html`,
      `${GCS}/~x`,
      `${SNAPSHOT}/`,
      '//api/video/snapshot',
      '/api/video/../video/snapshot',
      '/api/_ws/ticket',
      '/api/telemetry/ws',
    ])
      expect(may(path, PAIRING_KEY), path).to.equal('E_NOT_FOUND');
    const inner = '/api/v1/ground-station/relay-proxy/d1/api/video/snapshot';
    expect(may(inner, PAIRING_KEY)).to.equal('E_RELAY_FORBIDDEN');
    const relay: Principal = { kind: 'relay', id: 'x', scopes: null, stated: 'key' };
    expect(may(SNAPSHOT, relay)).to.equal('E_RELAY_FORBIDDEN');
  });
});
