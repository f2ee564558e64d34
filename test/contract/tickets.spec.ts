import { expect } from 'chai';
import {
  TICKET_LIFE_S,
  TicketStore,
  ticketIssuer,
  ticketScopes,
} from '../../front/control/stores/tickets.ts';
import { PAIRING_KEY, type Principal } from '../../shared/auth/principal.ts';
import { ApiError } from '../../shared/errors.ts';
import { ROWS } from '../../shared/routes/table.ts';
import { TestClocks } from '../support/pin-stores.ts';

const isScope = ticketScopes(ROWS);

describe('WebSocket tickets', () => {
  let clocks: TestClocks;
  let revoked: string[];
  let store: TicketStore;
  beforeEach(() => {
    clocks = new TestClocks();
    revoked = [];
    store = new TicketStore({
      now: clocks.now,
      monotonic: clocks.monotonic,
      isScope,
      life: TICKET_LIFE_S,
      holds: ({ id }) => !revoked.includes(id),
    });
  });
  const refused = (scope: string, ttlS?: number) => {
    try {
      store.issue(scope, PAIRING_KEY, ttlS);
      return null;
    } catch (error) {
      return error instanceof ApiError ? error.code : error;
    }
  };

  it('known scopes are those of the route table, whole and with a fitting parameter', () => {
    const known = [
      'telemetry',
      'mavlink',
      'vision',
      'gs.pic',
      'plugins.http:acme.cam',
      'relay:0123abcd',
      'handover',
    ];
    const unknown = [
      '',
      'Telemetry',
      'telemetry ',
      'telemetry\n',
      'xtelemetry',
      'gsXpic',
      'plugins.http:',
      'plugins.http:a/b',
      'plugins.http:{id}',
      'relay:../x',
      'relay:a,b',
      '*',
    ];
    expect(known.filter((scope) => !isScope(scope))).to.deep.equal([]);
    expect(unknown.filter((scope) => isScope(scope))).to.deep.equal([]);
    for (const scope of unknown) expect(refused(scope), scope).to.equal('E_NOT_FOUND');
    expect(store.size).to.equal(0);
  });

  it('holds once, on its scope, for whoever asked', () => {
    const { ticket, ...rest } = store.issue('telemetry', PAIRING_KEY);
    expect(ticket).to.match(/^[A-Za-z0-9_-]{43}$/);
    expect(rest).to.deep.equal({
      scope: 'telemetry',
      ttl_seconds: 30,
      expires_at: clocks.wallMs / 1000 + 30,
    });
    expect(store.check(ticket, 'mavlink')).to.equal(null);
    const principal = { kind: 'ticket', id: 'ticket of pairing-key', scopes: null };
    expect(store.check(ticket, 'telemetry')).to.deep.equal(principal);
    expect(store.check(ticket, 'telemetry'), 'a look does not use it up').to.deep.equal(principal);
    expect(store.consume(ticket)).to.equal(true);
    expect(store.consume(ticket)).to.equal(false);
    expect(store.check(ticket, 'telemetry')).to.equal(null);
    expect(store.consume('made up')).to.equal(false);
  });

  it('of a move tells once who asked, and opens no WebSocket; another ticket moves nobody', () => {
    const session: Principal = { kind: 'session', id: 'session:0011', scopes: null };
    const { ticket } = store.issue('handover', session);
    const socket = store.issue('telemetry', session).ticket;
    for (const row of ROWS) expect(row.ticket).to.not.equal('handover');
    expect(store.check(ticket, 'telemetry')).to.equal(null);
    expect(store.take(socket, 'handover')).to.equal(null);
    expect(store.check(socket, 'telemetry'), 'it is not used up').to.not.equal(null);
    expect(store.take(ticket, 'handover')).to.equal(session);
    expect(store.take(ticket, 'handover')).to.equal(null);
    const late = store.issue('handover', session).ticket;
    const ended = store.issue('handover', session).ticket;
    clocks.advance(29.999);
    revoked.push(session.id);
    expect(store.take(ended, 'handover'), 'ends with who asked').to.equal(null);
    revoked.length = 0;
    clocks.advance(0.001);
    expect(store.take(late, 'handover'), 'after 30 s').to.equal(null);
  });

  it("carries a token's scopes, and dies with what its issuer held", () => {
    const issuer: Principal = { kind: 'token', id: 'mct_1', scopes: ['read', 'admin'] };
    const { ticket } = store.issue('telemetry', issuer);
    const principal = store.check(ticket, 'telemetry');
    expect(principal?.scopes).to.deep.equal(['read', 'admin']);
    expect(principal === null ? null : ticketIssuer(principal)).to.equal('mct_1');
    expect(ticketIssuer(issuer)).to.equal(null);
    revoked.push('mct_1');
    expect(store.check(ticket, 'telemetry')).to.equal(null);
    expect(store.consume(ticket)).to.equal(false);
  });

  it('expires at its very millisecond, by the monotonic clock', () => {
    for (const ttlS of [TICKET_LIFE_S.min, TICKET_LIFE_S.default, TICKET_LIFE_S.max]) {
      const { ticket } = store.issue('mavlink', PAIRING_KEY, ttlS);
      const spare = store.issue('mavlink', PAIRING_KEY, ttlS).ticket;
      clocks.wallMs -= 3_600_000;
      clocks.uptimeMs += ttlS * 1000 - 1;
      expect(store.check(ticket, 'mavlink'), `${ttlS} s`).to.not.equal(null);
      expect(store.consume(spare)).to.equal(true);
      clocks.uptimeMs += 1;
      expect(store.check(ticket, 'mavlink'), `${ttlS} s`).to.equal(null);
      expect(store.consume(ticket)).to.equal(false);
    }
    for (const ttlS of [0, 0.5, -1, 121, Number.NaN])
      expect(refused('mavlink', ttlS), String(ttlS)).to.equal('E_INVALID_VALUE');
  });

  it('of 300 the newest 256 hold; expired ones make room first', () => {
    const tickets = Array.from({ length: 300 }, () => store.issue('telemetry', PAIRING_KEY).ticket);
    expect(store.size).to.equal(256);
    expect(tickets.filter((ticket) => store.check(ticket, 'telemetry') !== null)).to.deep.equal(
      tickets.slice(44),
    );
    clocks.advance(30);
    store.issue('telemetry', PAIRING_KEY);
    expect(store.size).to.equal(1);
  });

  it('revokeAll ends them', () => {
    const { ticket } = store.issue('telemetry', PAIRING_KEY);
    store.revokeAll();
    expect(store.check(ticket, 'telemetry')).to.equal(null);
    expect(store.consume(ticket)).to.equal(false);
  });
});
