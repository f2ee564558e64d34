import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Caller, dashboardHandlers } from '../../front/control/native/dashboard.ts';
import { PinLadder } from '../../front/control/stores/pin-ladder.ts';
import { TICKET_LIFE_S, TicketStore } from '../../front/control/stores/tickets.ts';
import { ANONYMOUS } from '../../shared/auth/principal.ts';
import { ApiError } from '../../shared/errors.ts';
import { deviceName } from '../../shared/http/device-name.ts';
import { PeerBudgets } from '../../shared/http/edge/rate.ts';
import { PinNode } from '../support/pin-stores.ts';
import { refusal } from '../support/refusal.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const PIN = '493817';
const WRONG = '000000';
const trusted = { trusted: true } as const;

describe('the dashboard PIN', () => {
  let dir: string;
  let node: PinNode;
  beforeEach(async () => {
    dir = await tempDir();
    node = await PinNode.open(dir);
  });
  afterEach(async () => removeDir(dir));

  const wrong = async () => refusal(node.pin.verify(WRONG));
  const fail = async (times: number) => {
    let last = new ApiError('E_INTERNAL');
    for (let i = 0; i < times; i++) last = await wrong();
    return last;
  };

  it('set, verify, clear', async () => {
    expect(node.pin.status()).to.deep.equal({ set: false, locked: false, retry_after_s: null });
    expect((await refusal(node.pin.verify(PIN))).code).to.equal('E_UNAUTHENTICATED');
    await node.pin.set(PIN, trusted);
    expect(node.pin.status().set).to.equal(true);
    await node.pin.verify(PIN);
    await node.restart();
    await node.pin.verify(PIN);
    expect((await wrong()).extras).to.deep.equal({ remaining_attempts: 4 });
    await node.pin.clear();
    expect(node.pin.status().set).to.equal(false);
    await node.restart();
    expect(node.pin.status().set).to.equal(false);
    expect((await refusal(node.pin.verify(PIN))).code).to.equal('E_UNAUTHENTICATED');
  });

  for (const bad of ['', '123', '1234567890123', '12a4', '12 4', '１２３４', '1234\n']) {
    it(`is 4 to 12 ASCII digits, not ${JSON.stringify(bad)}`, async () => {
      expect((await refusal(node.pin.set(bad, trusted))).code).to.equal('E_INVALID_VALUE');
      expect((await refusal(node.pin.verify(bad))).code).to.equal('E_INVALID_VALUE');
      expect(node.pin.status().set).to.equal(false);
    });
  }

  it('locks 30 s from 5 failures on, 300 s from 10, 1800 s from 15; failures while locked do not count', async () => {
    await node.pin.set(PIN, trusted);
    for (const left of [4, 3, 2, 1]) expect((await wrong()).extras).to.include({ remaining_attempts: left });
    const locks: number[] = [];
    for (let failures = 5; failures <= 17; failures++) {
      const answer = await wrong();
      expect(answer.code).to.equal('E_LOCKED');
      locks.push(Number(answer.headers['retry-after']));
      const before = node.hashes;
      expect((await wrong()).code).to.equal('E_LOCKED');
      expect((await refusal(node.pin.verify(PIN))).code, 'the right PIN, while locked').to.equal('E_LOCKED');
      expect(node.hashes, 'no hash while locked').to.equal(before);
      node.clocks.advance(Number(answer.headers['retry-after']) - 0.001);
      expect(node.pin.status()).to.deep.equal({ set: true, locked: true, retry_after_s: 1 });
      node.clocks.advance(0.001);
      expect(node.pin.status().locked).to.equal(false);
    }
    expect(locks).to.deep.equal([30, 30, 30, 30, 30, 300, 300, 300, 300, 300, 1800, 1800, 1800]);
    await node.pin.verify(PIN);
    expect((await wrong()).extras, 'success starts anew').to.include({ remaining_attempts: 4 });
  });

  it('a restart neither ends a lock nor forgets a failure', async () => {
    await node.pin.set(PIN, trusted);
    await fail(4);
    await node.restart();
    expect((await wrong()).code).to.equal('E_LOCKED');
    node.clocks.advance(10);
    await node.restart();
    expect(node.pin.status()).to.include({ locked: true, retry_after_s: 20 });
    expect((await refusal(node.pin.verify(PIN))).code).to.equal('E_LOCKED');
    node.clocks.advance(20);
    await node.pin.verify(PIN);
    await node.restart();
    expect((await wrong()).extras).to.include({ remaining_attempts: 4 });
  });

  it('a clock that is set back or forward moves no lock of a running node', async () => {
    await node.pin.set(PIN, trusted);
    await fail(5);
    node.clocks.wallMs += 3_600_000;
    expect(node.pin.status().retry_after_s).to.equal(30);
    node.clocks.wallMs -= 7_200_000;
    expect(node.pin.status().retry_after_s).to.equal(30);
    // Whoever opens the file with a clock of the past waits for the lock's own length, not for a year.
    node.clocks.wallMs = 0;
    await node.restart();
    expect(node.pin.status().retry_after_s).to.equal(30);
    node.clocks.advance(30);
    await node.pin.verify(PIN);
  });

  it('who may set it', async () => {
    const stranger = { trusted: false };
    expect((await refusal(node.pin.set(PIN, stranger))).code).to.equal('E_UNAUTHENTICATED');
    expect((await refusal(node.pin.set(PIN, { ...stranger, current: PIN }))).code).to.equal(
      'E_UNAUTHENTICATED',
    );
    const firsts = ['1111', '2222', '3333'].map(async (pin) =>
      node.pin.set(pin, { trusted: false, gate: true }),
    );
    const outcomes = await Promise.allSettled(firsts);
    expect(
      outcomes.map(({ status }) => status),
      'one of three is first',
    ).to.deep.equal(['fulfilled', 'rejected', 'rejected']);
    await node.pin.verify('1111');
    expect((await refusal(node.pin.set(PIN, { trusted: false, gate: true }))).code).to.equal(
      'E_UNAUTHENTICATED',
    );
    for (const left of [4, 3, 2, 1])
      expect((await refusal(node.pin.set(PIN, { ...stranger, current: WRONG }))).extras).to.include({
        remaining_attempts: left,
      });
    expect((await refusal(node.pin.set(PIN, { ...stranger, current: WRONG }))).code).to.equal('E_LOCKED');
    node.clocks.advance(30);
    await node.pin.set(PIN, { ...stranger, current: '1111' });
    await node.pin.verify(PIN);
    await fail(5);
    await node.pin.set('5555', trusted);
    await node.pin.verify('5555');
  });

  it('hashes one PIN at a time, at most 8 wait, and the loop goes on', async () => {
    await node.pin.set(PIN, trusted);
    node.most = 0;
    let turns = 0;
    let counting = true;
    const count = (): void => {
      turns++;
      if (counting) setImmediate(count);
    };
    count();
    await Promise.all(Array.from({ length: 5 }, async () => node.pin.verify(PIN)));
    counting = false;
    expect(node.most).to.equal(1);
    expect(turns).to.be.greaterThan(20);

    const before = node.hashes;
    const flood = await Promise.allSettled(Array.from({ length: 30 }, async () => node.pin.verify(PIN)));
    const refused = flood.filter((outcome) => outcome.status === 'rejected');
    expect(refused).to.have.length(21);
    for (const { reason } of refused) {
      expect(reason).to.be.instanceOf(ApiError);
      expect((reason as ApiError).code).to.equal('E_RATE_LIMITED');
      expect((reason as ApiError).headers).to.have.property('retry-after');
    }
    expect(node.hashes - before).to.equal(9);
    expect(node.most).to.equal(1);
  });

  it('guesses in parallel share one ladder: the 6th finds it locked', async () => {
    await node.pin.set(PIN, trusted);
    const before = node.hashes;
    const answers = await Promise.all(Array.from({ length: 9 }, wrong));
    expect(answers.map(({ code }) => code)).to.deep.equal([
      ...Array<string>(4).fill('E_UNAUTHENTICATED'),
      ...Array<string>(5).fill('E_LOCKED'),
    ]);
    expect(node.hashes - before).to.equal(5);
  });

  it('the owner gets through a flood of guesses', async () => {
    await node.pin.set(PIN, trusted);
    const flood = Array.from({ length: 20 }, wrong);
    await node.pin.clear();
    await Promise.all(flood);
    expect(node.pin.status().set).to.equal(false);
  });

  describe('sessions', () => {
    const open = async () => (await node.sessions.open()).session;
    beforeEach(async () => node.pin.set(PIN, trusted));

    it('last 24 h and not a millisecond more, by either clock', async () => {
      const { session, expires_at, ttl_seconds } = await node.sessions.open();
      expect(session).to.match(/^[A-Za-z0-9_-]{43}$/);
      expect(ttl_seconds).to.equal(86_400);
      expect(expires_at).to.equal(node.clocks.wallMs / 1000 + 86_400);
      const principal = node.sessions.check(session);
      expect(principal).to.include({ kind: 'session', scopes: null });
      expect(principal?.id).to.match(/^session:[0-9a-f]{8}$/);
      expect(node.sessions.check(`${session}x`)).to.equal(null);
      expect(node.sessions.check('')).to.equal(null);
      node.clocks.advance(86_399.999);
      expect(node.sessions.check(session)).to.not.equal(null);
      node.clocks.wallMs -= 80_000_000; // set back: no longer life
      node.clocks.uptimeMs += 1;
      expect(node.sessions.check(session)).to.equal(null);
    });

    it('outlive a restart, with what was left of them', async () => {
      const session = await open();
      node.clocks.advance(80_000);
      await node.restart();
      expect(node.sessions.check(session)).to.not.equal(null);
      node.clocks.advance(6399);
      expect(node.sessions.check(session)).to.not.equal(null);
      node.clocks.advance(1);
      expect(node.sessions.check(session)).to.equal(null);
      await node.restart();
      expect(node.sessions.check(session)).to.equal(null);
    });

    it('once seen expired: no clock, restart or copy of their file brings one back', async () => {
      const session = await open();
      const id = node.sessions.check(session)?.id ?? '';
      const copy = await readFile(node.sessionsFile);
      node.clocks.advance(86_400);
      expect(node.sessions.check(session)).to.equal(null);
      node.clocks.wallMs -= 3_600_000;
      expect(node.sessions.check(session), 'set back').to.equal(null);
      expect(node.sessions.holds(id)).to.equal(false);
      await node.restart();
      expect(node.sessions.check(session), 'after a restart').to.equal(null);
      await rm(node.sessionsFile, { force: true });
      await writeFile(node.sessionsFile, copy, { mode: 0o600 });
      await node.restart();
      expect(node.sessions.check(session), 'an older copy').to.equal(null);
      expect(node.sessions.check(await open()), 'a new one').to.not.equal(null);
    });

    it('are known by the device that opened them, also after a restart and a move', async () => {
      const id = node.sessions.check((await node.sessions.open('Firefox, Android')).session)?.id ?? '';
      await node.sessions.open();
      await node.restart();
      expect(node.sessions.list().map(({ device }) => device)).to.deep.equal(['Firefox, Android', null]);
      await node.sessions.move(id);
      expect(node.sessions.list()[0]?.device).to.equal('Firefox, Android');
    });

    it('go on, and do not begin anew, when a node boots with a clock of the past', async () => {
      const session = await open();
      node.clocks.advance(80_000);
      node.clocks.wallMs = 0;
      await node.restart();
      expect(node.sessions.check(session)).to.not.equal(null);
      node.clocks.advance(6400);
      expect(node.sessions.check(session)).to.equal(null);
    });

    it('of a file whose age only the wall clock tells do not begin anew either', async () => {
      const session = await open();
      const text = await readFile(node.sessionsFile, 'utf8');
      await writeFile(node.sessionsFile, text.replace(node.clocks.lived.id, 'of another life'));
      node.clocks.wallMs = 0;
      await node.restart();
      expect(node.sessions.check(session)).to.equal(null);
    });

    it('the 33rd ends the oldest', async () => {
      const sessions: string[] = [];
      for (let i = 0; i < 33; i++) sessions.push(await open());
      expect(sessions.filter((session) => node.sessions.check(session) !== null)).to.deep.equal(
        sessions.slice(1),
      );
      await node.restart();
      expect(node.sessions.size).to.equal(32);
      expect(node.sessions.check(sessions[0] ?? '')).to.equal(null);
      expect(node.sessions.check(sessions[32] ?? '')).to.not.equal(null);
    });

    const ends: readonly [string, () => Promise<void>][] = [
      ['a change of the PIN', async () => node.pin.set('8888', trusted)],
      ['the same PIN again', async () => node.pin.set(PIN, trusted)],
      ['clearing it', async () => node.pin.clear()],
      ['unpairing', async () => void (node.pairing = 'another key')],
      ['revokeAll', async () => node.sessions.revokeAll()],
    ];
    for (const [name, end] of ends) {
      it(`end with ${name}, for good`, async () => {
        const session = await open();
        const principal = node.sessions.check(session);
        if (principal === null) throw new Error('no session');
        expect(node.sessions.holds(principal.id)).to.equal(true);
        await end();
        expect(node.sessions.check(session)).to.equal(null);
        expect(node.sessions.holds(principal.id)).to.equal(false);
        await node.restart();
        expect(node.sessions.check(session)).to.equal(null);
      });
    }

    it('another node does not know them', async () => {
      const other = await PinNode.open(join(dir, 'other'));
      await other.pin.set(PIN, trusted);
      await other.sessions.open();
      expect(other.sessions.check(await open())).to.equal(null);
    });

    it('a session for the old PIN does not slip past its change', async () => {
      const [old] = await Promise.all([
        node.pin.verify(PIN, '', async () => node.sessions.open()),
        node.pin.set('8888', trusted),
      ]);
      expect(node.sessions.check(old.session)).to.equal(null);
    });
  });

  it('no file holds a PIN or a session, every file is 0600, whatever the umask', async () => {
    const umask = process.umask(0);
    const secrets = [PIN];
    try {
      await node.pin.set(PIN, trusted);
      for (let i = 0; i < 3; i++) secrets.push((await node.sessions.open()).session);
      await wrong();
    } finally {
      process.umask(umask);
    }
    const files = await readdir(dir);
    expect(files.sort()).to.deep.equal(['dashboard-pin.json', 'sessions.json']);
    for (const file of files) {
      const text = await readFile(join(dir, file), 'utf8');
      // The digits could turn up in hex by chance; as a word of their own they must not.
      for (const secret of secrets) expect(text.split(/[^\w-]+/), file).to.not.include(secret);
      expect((await stat(join(dir, file))).mode & 0o777, file).to.equal(0o600);
    }
  });

  describe('the handlers', () => {
    let caller: Caller;
    let tickets: TicketStore;
    const handlers = () => {
      tickets = new TicketStore({
        now: node.clocks.now,
        monotonic: node.clocks.monotonic,
        isScope: () => true,
        life: TICKET_LIFE_S,
      });
      return dashboardHandlers({
        pin: node.pin,
        sessions: node.sessions,
        tickets,
        readTickets: tickets,
        mayRead: (_path, principal) => {
          throw new Error(`${principal.id} asks for no read ticket here`);
        },
        caller: () => caller,
        isKey: () => false,
        budgets: new PeerBudgets(node.clocks.monotonic),
        now: node.clocks.now,
      });
    };
    const call = <Body>(body: Body) => ({
      params: {},
      query: '',
      body,
      principal: ANONYMOUS,
      peer: '',
      forced: false,
      progress: () => undefined,
      headers: {},
    });

    it('first PIN at the gate, then the old one; answers as the schemas say', async () => {
      caller = { trusted: false, gate: false };
      const { 'dashboard.pin.set.post': set, 'dashboard.pin.verify.post': verify } = handlers();
      const { 'dashboard.pin.status.get': status, 'dashboard.pin.clear.post': clear } = handlers();
      expect((await refusal(Promise.resolve(set(call({ pin: PIN }))))).code).to.equal('E_UNAUTHENTICATED');
      caller = { trusted: false, gate: true };
      expect(await set(call({ pin: PIN }))).to.have.all.keys(
        'pin_set',
        'session',
        'expires_at',
        'ttl_seconds',
      );
      expect((await refusal(Promise.resolve(set(call({ pin: '1234' }))))).code).to.equal('E_UNAUTHENTICATED');
      expect(await set(call({ pin: '1234', current_pin: PIN }))).to.include({ pin_set: true });
      expect(await verify(call({ pin: '1234' }))).to.have.all.keys('session', 'expires_at', 'ttl_seconds');
      await fail(5);
      expect(status(call(undefined))).to.deep.equal({
        pin_set: true,
        locked: true,
        locked_until: node.clocks.wallMs / 1000 + 30,
        retry_after_s: 30,
      });
      expect(await clear(call({}))).to.deep.equal({ pin_set: false });
      expect(node.sessions.size).to.equal(0);
    });
  });
});

describe('what a session is called by', () => {
  const NAMES: readonly (readonly [string | undefined, string | null])[] = [
    ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox, Linux'],
    [
      'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/139.0.0.0 Mobile Safari/537.36',
      'Chrome, Android',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
      'Safari, iPhone',
    ],
    [
      'Mozilla/5.0 (iPad; CPU OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/120.0 Mobile/15E148 Safari/604.1',
      'Chrome, iPad',
    ],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/139.0.0.0 Safari/537.36 Edg/139.0.0.0',
      'Edge, Windows',
    ],
    ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/18.5 Safari/605.1.15', 'Safari, Mac'],
    ['curl/8.5.0', null],
    ['<b>Firefox</b>', null],
    ['', null],
    [undefined, null],
  ];
  for (const [sent, name] of NAMES)
    it(`${name}: ${sent}`, () => {
      expect(deviceName(sent)).to.equal(name);
    });
});

describe('the ladder of the PIN', () => {
  let dir: string;
  let node: PinNode;
  beforeEach(async () => {
    dir = await tempDir();
    node = await PinNode.open(dir);
    await node.pin.set('493817', { trusted: true });
  });
  afterEach(async () => removeDir(dir));
  const guess = async (peer: string): Promise<string> => (await refusal(node.pin.verify('0000', peer))).code;

  it('a stranger locks himself out and not the owner, also over a restart', async () => {
    for (let i = 0; i < 5; i++) await guess('stranger');
    expect(await guess('stranger')).to.equal('E_LOCKED');
    expect(node.pin.status('stranger')).to.deep.include({ locked: true, retry_after_s: 30 });
    expect(node.pin.status('owner')).to.deep.include({ locked: false });
    await node.pin.verify('493817', 'owner');
    await node.restart();
    expect(await guess('stranger')).to.equal('E_LOCKED');
    await node.pin.verify('493817', 'owner');
    node.clocks.advance(30);
    expect(await guess('stranger')).to.equal('E_LOCKED'); // the sixth failure locks again
    await node.pin.verify('493817', 'owner');
  });

  it('many addresses together are slowed down; who has known the PIN is not, and nobody waits for more than 5 minutes', async function () {
    this.timeout(60_000);
    await node.pin.verify('493817', 'owner');
    for (let i = 0; i < 29; i++) expect(await guess(`stranger ${i}`)).to.equal('E_UNAUTHENTICATED');
    expect(await guess('the thirtieth')).to.equal('E_LOCKED');
    expect(await guess('another')).to.equal('E_LOCKED');
    expect(node.pin.status('somebody').retry_after_s).to.equal(30);
    await node.pin.verify('493817', 'owner');
  });

  it('48 guesses from 150 networks meet 429, though the owner logs in between; the owner is never kept out', async function () {
    this.timeout(60_000);
    const answers: string[] = [];
    for (let i = 0; i < 48; i++) {
      answers.push(await guess(`network ${(i * 7) % 150}`));
      if (i % 5 === 0) await node.pin.verify('493817', 'owner');
      node.clocks.advance(45 / 48);
    }
    expect(answers.filter((code) => code === 'E_UNAUTHENTICATED')).to.have.length.below(32);
    expect(answers.at(-1)).to.equal('E_LOCKED');
    await node.pin.verify('493817', 'owner');
    await node.restart();
    expect(await guess('network 149')).to.equal('E_LOCKED');
    await node.pin.verify('493817', 'owner');
  });

  it('the right PIN takes off what its own peer counted, and nothing else', () => {
    const ladder = new PinLadder(() => 0, { id: 'one', now: () => 0 });
    for (let i = 0; i < 20; i++) ladder.fail(`stranger ${i}`);
    for (let i = 0; i < 4; i++) ladder.fail('owner');
    expect(ladder.stored().failed_attempts).to.equal(24);
    expect(ladder.forgive('owner')).to.equal(true);
    expect(ladder.stored().failed_attempts).to.equal(20);
    expect(ladder.stored().peers['stranger 3']?.failed_attempts).to.equal(1);
    expect(ladder.forgive('owner'), 'nothing to forgive').to.equal(false);
    for (let i = 0; i < 10; i++) ladder.fail(`another ${i}`);
    expect(ladder.left('nobody')).to.equal(30);
    expect(ladder.left('owner')).to.equal(null);
  });

  it('wrong guesses are forgotten after a day without one, and not a minute earlier', () => {
    let ms = 0;
    const ladder = new PinLadder(() => ms, { id: 'one', now: () => ms });
    for (let i = 0; i < 29; i++) ladder.fail(`stranger ${i}`);
    ms += 24 * 3_600_000;
    ladder.fail('late');
    expect(ladder.left('nobody')).to.equal(30);
    ms += 24 * 3_600_000 + 1;
    ladder.fail('later');
    expect(ladder.left('nobody')).to.equal(null);
    expect(ladder.stored().failed_attempts).to.equal(1);
  });

  it('other addresses do not push a lock out', () => {
    const ladder = new PinLadder(() => 0, { id: 'one', now: () => 0 });
    for (let i = 0; i < 5; i++) ladder.fail('thief');
    for (let i = 0; i < 2000; i++) for (let again = 0; again < 5; again++) ladder.fail(`other ${i}`);
    expect(ladder.left('thief')).to.equal(300);
    expect(Object.keys(ladder.stored().peers).length).to.be.at.most(257);
    const next = new PinLadder(() => 0, { id: 'one', now: () => 0 });
    next.restore(ladder.stored());
    expect(next.left('thief')).to.equal(300);
    for (let i = 0; i < 1e4; i++) ladder.fail(`other ${i}`);
    expect(ladder.left('who comes last')).to.be.at.most(1800);
  });
});
