import { execFile, execFileSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  cpSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { mkdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { AuditLog } from '../../front/control/stores/audit.ts';
import { AuditChains } from '../../front/control/stores/audit-chains.ts';
import { MOST_AUDIT_FILES, verifyAudit } from '../../front/control/stores/audit-files.ts';
import { type ChainedRecord, parse } from '../../shared/audit/chain.ts';
import { AUDIT_FILE, PROGRAMS_FILE, STRANGERS_FILE } from '../../shared/paths.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { KEY } from '../support/edge.ts';
import { fileSays } from '../support/events.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const log = createLogger('test', 'silent');
const change = (changed: string, kind = 'key') => ({
  peer: '10.0.0.5',
  principal: kind === 'key' ? 'pairing-key' : kind,
  principal_kind: kind,
  route: 'POST /api/command',
  rule: 'credential',
  forced: false,
  changed,
});
const refusal = (route: string, peer = '10.0.0.6', kind = 'anonymous') => ({
  ...change('', kind),
  peer,
  route,
  outcome: 'E_UNAUTHENTICATED',
});

describe('the audit files', () => {
  let base: string;
  let dir: string;
  let now: number;
  let monotonic: number;
  beforeEach(async () => {
    base = await tempDir();
    dir = join(base, 'audit');
    await mkdir(dir);
    now = 1_000;
    monotonic = 0;
  });
  afterEach(async () => removeDir(base));

  const paths = () => ({
    auditDir: dir,
    auditKey: join(base, 'audit.key'),
    auditHeads: join(base, 'heads'),
  });
  /** With its files in this thread, so that each record is written when its call returns. */
  const make = (
    { auditDir, auditKey, auditHeads } = paths(),
    maxBytes?: number,
    believed = (): number => now,
  ): AuditLog => {
    const places = { directory: auditDir, keyFile: auditKey, heads: auditHeads };
    const writer = new AuditChains({ ...places, ...(maxBytes === undefined ? {} : { maxBytes }) });
    return new AuditLog({ ...places, writer, now: () => now, believed, monotonic: () => monotonic, log });
  };
  const open = (maxBytes?: number): AuditLog => {
    const audit = make(paths(), maxBytes);
    void audit.start();
    return audit;
  };
  const write = (...changes: readonly string[]): void => {
    const audit = open();
    for (const changed of changes) audit.announce('10.0.0.5', change(changed));
    void audit.stop();
  };
  const text = (name = AUDIT_FILE): string => readFileSync(join(dir, name), 'utf8');
  const records = (name = AUDIT_FILE): readonly ChainedRecord[] =>
    text(name)
      .trim()
      .split('\n')
      .flatMap((line) => parse(line) ?? []);
  const verify = () => verifyAudit(paths())[0];

  it('chains its records, across restarts', () => {
    write('a', 'b');
    write('c', 'd');
    // Nothing was settled before the restart.
    expect(
      records()
        .filter(({ outcome }) => outcome === 'unknown')
        .map(({ of }) => of),
    ).to.deep.equal([1, 2]);
    expect(verify()).to.include({ ok: true, records: 6, head_not_checked: null });
    expect(records().map(({ seq }) => seq)).to.deep.equal([1, 2, 3, 4, 5, 6]);
    expect(statSync(join(dir, AUDIT_FILE)).mode & 0o007).to.equal(0);
    expect(statSync(paths().auditKey).mode & 0o777).to.equal(0o600);
  });

  it('shows an edit, a lost, a moved, an added line, and an end that was cut off', () => {
    write('a', 'b', 'c', 'd');
    const whole = text();
    const [a = '', b = '', c = '', d = ''] = whole.split('\n');
    const cases: readonly [string, number][] = [
      [whole.replace('"changed":"b"', '"changed":"x"'), 3],
      [whole.replace('"changed":"d"', '"changed":"x"'), 4],
      [[a, c, d, ''].join('\n'), 2],
      [[a, c, b, d, ''].join('\n'), 2],
      [[a, b, b, c, d, ''].join('\n'), 3],
      [[b, c, d, ''].join('\n'), 1],
      [`${whole}{"seq":5}\n`, 5],
      [`${whole}half`, 5],
      [[a, b, c, ''].join('\n'), 4],
      [`${a}\n`, 2],
      ['', 1],
    ];
    for (const [changed, line] of cases) {
      writeFileSync(join(dir, AUDIT_FILE), changed);
      expect(verify(), changed).to.include({ ok: false, line });
    }
  });

  it('a chain that was written anew, and a head that was removed or is not ours, are found', () => {
    write('a', 'b');
    const head = join(dir, `${AUDIT_FILE}.head`);
    const signed = readFileSync(head);
    const key = readFileSync(paths().auditKey);
    // The hashes need no key: anybody can make a chain that is whole.
    for (const name of [AUDIT_FILE, `${AUDIT_FILE}.head`]) rmSync(join(dir, name));
    rmSync(paths().auditKey);
    rmSync(paths().auditHeads, { recursive: true });
    write('x', 'y', 'z');
    const forged = readFileSync(head);
    writeFileSync(paths().auditKey, key);
    for (const left of [signed, forged]) {
      writeFileSync(head, left);
      expect(verify()).to.include({ ok: false });
    }
    rmSync(head);
    rmSync(paths().auditHeads, { recursive: true });
    expect(verify()).to.include({ ok: false, why: `${head} is missing` });
  });

  it('files removed with their head, the whole folder, an older pair put back: found, and found again after the node has gone on', async () => {
    const open1 = open(2000);
    for (let i = 0; i < 5; i++) open1.announce('10.0.0.5', change(String(i))).settle(200, 'done');
    void open1.stop();
    const oldest = open1.proved;
    const older = join(base, 'older');
    cpSync(dir, older, { recursive: true });
    const open2 = open(2000);
    for (let i = 0; i < 5; i++) open2.announce('10.0.0.5', change(String(i))).settle(200, 'done');
    void open2.stop();
    expect(verify()).to.include({ ok: true });
    // What a hub is told, which notices when it goes back.
    expect([oldest?.seq, open2.proved?.seq]).to.deep.equal([10, 20]);
    const good = join(base, 'good');
    for (const part of ['audit', 'heads', 'audit.key'])
      cpSync(join(base, part), join(good, part), { recursive: true });
    const attacks: Readonly<Record<string, () => void>> = {
      'the newest file and its head': () => {
        rmSync(join(dir, AUDIT_FILE));
        rmSync(join(dir, `${AUDIT_FILE}.head`));
      },
      'every file, and the head': () => {
        for (const name of readdirSync(dir)) rmSync(join(dir, name));
      },
      'the folder': () => rmSync(dir, { recursive: true }),
      'an older pair put back': () => {
        rmSync(dir, { recursive: true });
        cpSync(older, dir, { recursive: true });
      },
      'the folder and the other heads': () => {
        rmSync(dir, { recursive: true });
        rmSync(paths().auditHeads, { recursive: true });
      },
      'the other heads': () => rmSync(paths().auditHeads, { recursive: true }),
      "another head that is the chain's own": () =>
        cpSync(join(dir, `${AUDIT_FILE}.head`), join(paths().auditHeads, `${AUDIT_FILE}.head`)),
      'a lost key': () => rmSync(paths().auditKey),
    };
    for (const [name, attack] of Object.entries(attacks)) {
      attack();
      expect(verify(), name).to.include({ ok: false });
      const audit = open(2000);
      expect(audit.state.broken, name).to.be.a('string');
      expect((await audit.verify()).ok, `${name}, at once`).to.equal(false);
      audit.announce('10.0.0.5', change('later'));
      expect((await audit.verify()).ok, name).to.equal(false);
      void audit.stop();
      expect(verify(), `${name}, later`).to.include({ ok: false });
      for (const part of ['audit', 'heads']) {
        rmSync(join(base, part), { recursive: true });
        cpSync(join(good, part), join(base, part), { recursive: true });
      }
      cpSync(join(good, 'audit.key'), paths().auditKey);
      expect(verify()).to.include({ ok: true });
    }
  });

  it('what was announced and never settled before a kill is unknown at the next start, once', () => {
    const killed = open(4000);
    killed.announce('10.0.0.5', change('first'));
    for (let i = 0; i < 20; i++) killed.announce('10.0.0.5', change(String(i))).settle(200, 'done');
    killed.announce('10.0.0.5', change('last', 'token'));
    // Killed: a copy of what is on the disk, of which nothing was closed.
    const left = { ...paths(), auditDir: join(base, 'left'), auditHeads: join(base, 'left-heads') };
    cpSync(dir, left.auditDir, { recursive: true });
    cpSync(paths().auditHeads, left.auditHeads, { recursive: true });
    void killed.stop();
    const next = (): readonly unknown[] => {
      const audit = make(left, 4000);
      void audit.start();
      void audit.stop();
      expect(verifyAudit(left).every(({ ok }) => ok)).to.equal(true);
      return readdirSync(left.auditDir)
        .filter((name) => !name.endsWith('.head'))
        .flatMap((name) => readFileSync(join(left.auditDir, name), 'utf8').split('\n'))
        .flatMap((line) => parse(line) ?? [])
        .filter(({ outcome }) => outcome === 'unknown')
        .map(({ changed, of, principal }) => [changed, of, principal]);
    };
    const expected = [
      ['first', 1, 'pairing-key'],
      ['last', 1, 'token'],
    ];
    expect(next()).to.deep.equal(expected);
    expect(next(), 'a second start').to.deep.equal(expected);
  });

  it('a removed file is found, the oldest one too', () => {
    const audit = open(2000);
    for (let i = 0; i < 100; i++) audit.announce('10.0.0.5', change(String(i)));
    void audit.stop();
    expect(verify()).to.include({ ok: true, head_not_checked: null });
    for (const name of readdirSync(dir).filter((each) => /^audit.*(ndjson|\d)$/.test(each))) {
      const kept = readFileSync(join(dir, name));
      rmSync(join(dir, name));
      expect(verify(), name).to.include({ ok: false });
      writeFileSync(join(dir, name), kept);
    }
    expect(verify()).to.include({ ok: true });
  });

  it('what was cut off while the node was down stays to be seen after it has gone on', () => {
    write('a', 'b', 'c');
    writeFileSync(join(dir, AUDIT_FILE), `${text().split('\n')[0] ?? ''}\n`);
    const audit = open();
    expect(audit.state.broken).to.include('records 2 to 3 are missing');
    audit.announce('10.0.0.5', change('d'));
    void audit.stop();
    expect(records().map(({ seq }) => seq)).to.deep.equal([1, 4, 5]);
    expect(verify()).to.include({ ok: false, line: 2 });
  });

  it('a kill between a record and its head is no break', () => {
    write('a');
    const heads = [join(dir, `${AUDIT_FILE}.head`), join(paths().auditHeads, `${AUDIT_FILE}.head`)];
    const before = heads.map((name) => readFileSync(name));
    write('b');
    const after = heads.map((name) => readFileSync(name));
    for (const [index, name] of heads.entries()) writeFileSync(name, before[index] ?? '');
    expect(verify()).to.include({ ok: true, records: 3 });
    writeFileSync(heads[0] ?? '', after[0] ?? '');
    expect(verify(), 'the head is on the disk before the other').to.include({ ok: true, records: 3 });
  });

  it('drops half a line that a power cut left, and goes on', () => {
    write('a');
    appendFileSync(join(dir, AUDIT_FILE), '{"seq":2,"prev":"');
    write('b');
    expect(verify()).to.include({ ok: true, records: 3 });
  });

  it('turns over at its size, keeps a bounded number of files, and the chain runs through them', () => {
    const audit = open(2000);
    for (let i = 0; i < 300; i++) audit.announce('10.0.0.5', change(String(i)));
    void audit.stop();
    for (let i = 0; i < MOST_AUDIT_FILES; i++)
      expect(statSync(join(dir, i === 0 ? AUDIT_FILE : `${AUDIT_FILE}.${i}`)).size).to.be.at.most(2000);
    expect(() => statSync(join(dir, `${AUDIT_FILE}.${MOST_AUDIT_FILES}`))).to.throw();
    expect(verify()).to.include({ ok: true });
  });

  it('blots out what has the shape of a secret, and nothing of the chain itself', () => {
    // Found by trying: the hash of this record holds svc_ and more than 16 characters behind it.
    write('356018', 'b');
    expect(records()[1]?.prev).to.match(/svc_[A-Za-z0-9_-]{16,}/);
    write(`c ${KEY}`);
    expect(text()).to.not.include(KEY);
    expect(verify()).to.include({ ok: true, records: 5 });
  });

  it('is checked in pieces as it is at once, while it is written and rotated', async () => {
    const audit = open(20_000);
    const add = (name: string) => audit.announce('10.0.0.5', change(name));
    for (let i = 0; i < 150; i++) add(`a${i}`);
    audit.refused('10.0.0.6', refusal('GET /api/status'));
    const [first, second] = [audit.verify(), audit.verify()];
    // Rotated away several times before the check has read a byte.
    for (let i = 0; i < 300; i++) add(`b${i}`);
    const report = await first;
    expect(await second, 'who asks meanwhile gets the same').to.equal(report);
    expect(report).to.include({ ok: true, head_not_checked: null });
    expect(report.files.map(({ name }) => name)).to.deep.equal([
      'audit.ndjson.2',
      'audit.ndjson.1',
      'audit.ndjson',
      'programs.ndjson',
      'strangers.ndjson',
    ]);
    const counts = report.files.map((file) => file.records);
    expect(counts.slice(0, 3).reduce((a, b) => a + b)).to.equal(150);
    expect(counts.slice(3)).to.deep.equal([0, 1]);
    for (const file of report.files.filter((each) => each.records > 0))
      expect([file.first_at, file.last_at]).to.deep.equal([1, 1]);
    void audit.stop();
  });

  it('in pieces: says which file is broken, at which line', async () => {
    write('a', 'b', 'c', 'd');
    const whole = text();
    const [a = '', b = '', c = '', d = ''] = whole.split('\n');
    const cases: readonly [string, string][] = [
      [whole.replace('"changed":"b"', '"changed":"x"'), 'line 3: does not follow the line before it'],
      [[a, c, d, ''].join('\n'), 'line 2: does not follow the line before it'],
      [`${whole}{"seq":5}\n`, 'line 5: not a record'],
      [`${whole}half`, 'line 5: an unfinished line'],
      [`${whole}${'x'.repeat(1_000_000)}`, 'line 5: an unfinished line'],
      [[a, b, c, ''].join('\n'), 'records 4 to 4 are missing'],
      ['', 'records 1 to 4 are missing'],
    ];
    const audit = make();
    for (const [changed, broken] of cases) {
      writeFileSync(join(dir, AUDIT_FILE), changed);
      const report = await audit.verify();
      expect(report.ok, broken).to.equal(false);
      expect(report.files[0], broken).to.include({ name: AUDIT_FILE, broken });
    }
    writeFileSync(join(dir, AUDIT_FILE), whole);
    expect((await audit.verify()).ok).to.equal(true);
    rmSync(join(dir, AUDIT_FILE));
    expect((await audit.verify()).files[0]).to.include({ broken: 'records 1 to 4 are missing', records: 0 });
    rmSync(join(dir, `${AUDIT_FILE}.head`));
    expect((await audit.verify()).ok).to.equal(false);
    symlinkSync('/dev/null', join(dir, AUDIT_FILE));
    const error = await audit.verify().catch((thrown: unknown) => thrown);
    expect(error).to.include({ code: 'E_STORE' });
  });

  it('many alike refusals of one peer are one record with a count', () => {
    const audit = open();
    for (let i = 0; i < 1000; i++) audit.refused('10.0.0.6', refusal('GET /api/status'));
    audit.refused('10.0.0.7', refusal('GET /api/status', '10.0.0.7'));
    void audit.stop();
    expect(records(STRANGERS_FILE).map(({ peer, count }) => [peer, count])).to.deep.equal([
      ['10.0.0.6', undefined],
      ['10.0.0.7', undefined],
      ['10.0.0.6', 999],
    ]);
  });

  it('300 000 refusals of any kind push out nothing that an operator did', () => {
    const audit = open(4000);
    audit.announce('10.0.0.5', change('mine')).settle(200, 'done');
    for (let i = 0; i < 300_000; i++)
      audit.refused(`10.0.${i % 200}.9`, refusal(`GET /api/${i % 977}`, `10.0.${i % 200}.9`));
    for (let i = 0; i < 1000; i++) {
      // A public route that a stranger may try as often as he likes.
      audit.announce('10.0.0.6', change('pin', 'anonymous')).settle(401, 'E_UNAUTHENTICATED');
    }
    void audit.stop();
    expect(records().map(({ changed, outcome }) => [changed, outcome])).to.deep.equal([
      ['mine', 'announced'],
      ['mine', 'done'],
    ]);
    expect(verifyAudit(paths()).every(({ ok }) => ok)).to.equal(true);
  });

  it('no token, ticket, extension or caller from elsewhere pushes out what an operator did; together they have a fifth', () => {
    const audit = open();
    for (const kind of ['key', 'session', 'local', 'onbox'])
      audit.announce('10.0.0.5', change('mine', kind)).settle(200, 'done');
    // 19 minutes at 60 requests a second, of which each has two records of 623 bytes.
    const long = 'x'.repeat(400);
    const kinds = ['token', 'token', 'token', 'ticket', 'extension', 'relay', 'fleet'];
    for (let i = 0; i < 60 * 60 * 19; i++)
      audit
        .announce('10.0.0.7', change(`${i} ${long}`, kinds[i % kinds.length] ?? 'token'))
        .settle(200, 'done');
    void audit.stop();
    expect(
      records()
        .map(({ principal_kind: kind }) => kind)
        .join(' '),
    ).to.equal('key key session session local local onbox onbox');
    const written = readdirSync(dir).filter((name) => name.startsWith(PROGRAMS_FILE));
    const bytes = written.reduce((sum, name) => sum + statSync(join(dir, name)).size, 0);
    expect(bytes).to.be.within(6 * 1024 * 1024, 8.1 * 1024 * 1024);
    expect(verifyAudit(paths()).every(({ ok }) => ok)).to.equal(true);
  });

  it("the operators' last 30 days stay, and what is older goes", () => {
    const audit = open(2000);
    const day = 24 * 60 * 60 * 1000;
    now = Date.UTC(2026, 5, 1);
    const firstKept = (): string | undefined => {
      const names = readdirSync(dir).filter((name) => /^audit\.ndjson\.\d+$/.test(name));
      const oldest = Math.max(...names.map((name) => Number(name.split('.').at(-1))));
      return records(`${AUDIT_FILE}.${oldest}`)[0]?.changed;
    };
    for (let i = 0; i < 60; i++, now += day / 3) audit.announce('10.0.0.5', change(String(i)));
    expect(firstKept(), 'after 20 days').to.equal('0');
    for (let i = 60; i < 120; i++, now += day / 3) audit.announce('10.0.0.5', change(String(i)));
    expect(Number(firstKept()), 'after 40 days').to.be.within(10, 30);
    // A clock that jumps takes one file at each turn, and never all at once.
    now += 400 * day;
    const before = readdirSync(dir).length;
    for (let i = 0; i < 20; i++) audit.announce('10.0.0.5', change('later'));
    expect(readdirSync(dir)).to.have.length(before);
    void audit.stop();
    expect(verify()).to.include({ ok: true });
  });

  it('a clock that jumps ahead ages no record: what is kept goes by what was lived', () => {
    const day = 24 * 60 * 60 * 1000;
    let livedMs = Date.UTC(2026, 5, 1);
    const audit = make(paths(), 2000, () => Math.min(now, livedMs));
    void audit.start();
    now = livedMs;
    const announce = (name: string, count: number): void => {
      for (let i = 0; i < count; i++, now += day / 3, livedMs += day / 3)
        audit.announce('10.0.0.5', change(`${name} ${i}`));
    };
    const oldest = (): string | undefined => {
      const names = readdirSync(dir).filter((name) => /^audit\.ndjson\.\d+$/.test(name));
      return records(`${AUDIT_FILE}.${Math.max(...names.map((name) => Number(name.split('.').at(-1))))}`)[0]
        ?.changed;
    };
    announce('before', 60);
    now += 3650 * day;
    announce('ahead', 20);
    expect(oldest(), 'ten years ahead').to.equal('before 0');
    now -= 3650 * day;
    announce('after', 120);
    expect(oldest(), 'the newest stay, what is older than 30 days goes').to.match(/^(ahead|after) /);
    void audit.stop();
    expect(verify()).to.include({ ok: true });
  });

  it('the chain of programs is new after an update from a version that had none, and not broken', () => {
    write('a');
    rmSync(paths().auditHeads, { recursive: true });
    for (const name of [PROGRAMS_FILE, `${PROGRAMS_FILE}.head`]) rmSync(join(dir, name));
    for (const name of [AUDIT_FILE, STRANGERS_FILE]) {
      const head = join(dir, `${name}.head`);
      const { anchored: _, ...before } = JSON.parse(readFileSync(head, 'utf8')) as Record<string, unknown>;
      writeFileSync(head, `${JSON.stringify(before)}\n`.padStart(256));
    }
    const whole = (): boolean => verifyAudit(paths()).every(({ ok }) => ok);
    expect(whole(), 'before the first start').to.equal(true);
    const audit = open();
    expect(audit.state.broken).to.equal(null);
    audit.announce('10.0.0.5', change('b', 'token')).settle(200, 'done');
    void audit.stop();
    expect(whole()).to.equal(true);
    for (const name of readdirSync(dir).filter((each) => each.startsWith(PROGRAMS_FILE)))
      rmSync(join(dir, name));
    expect(whole(), 'its files removed').to.equal(false);
  });

  it('what somebody without a credential did change is among what operators did', () => {
    const audit = open();
    audit.announce('10.0.0.6', change('claim', 'anonymous')).settle(200, 'done');
    void audit.stop();
    expect(records()).to.have.length(1);
    expect(records()[0]).to.include({ changed: 'claim', outcome: 'done', status: 200 });
  });

  it('does not follow a symbolic link, and a record that cannot be written stops nobody and is counted', async () => {
    write('a');
    writeFileSync(join(dir, 'target'), '');
    rmSync(join(dir, AUDIT_FILE));
    symlinkSync(join(dir, 'target'), join(dir, AUDIT_FILE));
    const audit = open();
    expect(await audit.announce('10.0.0.5', change('b')).written()).to.equal(false);
    expect(audit.state.lost).to.equal(1);
    expect(audit.state.problem).to.be.a('string');
    expect(text('target')).to.equal('');
    void audit.stop();
  });

  it('a full disk: the chain is whole meanwhile, nothing is read again for each record, and it goes on when there is room', async function () {
    if (process.getuid?.() !== 0) this.skip();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=12m', 'tmpfs', dir]);
    try {
      const audit = open();
      const long = 'x'.repeat(190);
      for (let i = 0; i < 16_000; i++) audit.announce('10.0.0.5', change(`${i} ${long}`));
      const ballast = openSync(join(dir, 'ballast'), 'w');
      expect(() => {
        for (;;) writeSync(ballast, Buffer.alloc(4096));
      }).to.throw('ENOSPC');
      const fits = async (what = long): Promise<boolean> =>
        audit.announce('10.0.0.5', change(what)).written();
      while (await fits());
      const read = (): number => Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
      const before = read();
      for (let i = 0; i < 100; i++) expect(await fits()).to.equal(false);
      expect(read() - before).to.be.lessThan(1_000_000);
      expect(audit.state.lost).to.equal(101);
      expect(verify()).to.include({ ok: true });
      ftruncateSync(ballast, 0);
      closeSync(ballast);
      expect(await fits('room')).to.equal(true);
      expect(audit.state).to.include({ lost: 101, problem: null });
      void audit.stop();
      expect(verify()).to.include({ ok: true });
    } finally {
      execFileSync('umount', ['-l', dir]);
    }
  });
});

describe('the audit of a node', () => {
  const headers = { 'x-svc-key': KEY };
  let node: TestNode;
  afterEach(async () => node.stop());
  const lines = (name: string): readonly ChainedRecord[] =>
    readFileSync(join(node.paths.auditDir, name), 'utf8')
      .trim()
      .split('\n')
      .flatMap((line) => parse(line) ?? []);
  const svc = async (...args: string[]) =>
    promisify(execFile)(process.execPath, [join(ROOT, 'bin/svc.js'), ...args], {
      env: {
        ...process.env,
        SVC_ETC_DIR: node.paths.etc,
        SVC_RUN_DIR: node.paths.run,
        SVC_STATE_DIR: node.paths.state,
      },
    });

  it('announces every change and says what came of it; refusals are kept apart; svc audit verify checks both', async () => {
    node = await TestNode.start({ pairing: { key: KEY } });
    await node.request('/api/status', { headers }); // a read that passes is no event
    await node.request('/api/status');
    await node.request('/api/status', { headers: { 'x-svc-key': 'svc_wrong_wrong_wrong_wrong' } });
    await node.request('//x');
    await node.post('/api/command', { cmd: 'mode', args: ['LOITER'] }, headers);
    const put = async (key: string, value: string) =>
      node.json('/api/config', {
        method: 'PUT',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ key, value }),
      });
    expect((await put('agent.name', 'after')).status).to.equal(200);
    expect((await put('agent.nonsense', 'x')).status).to.equal(404);
    await node.post('/api/services/nothing/restart', {}, headers);
    await node.request('/api/audit/verify', { headers }); // after what was given to the writer before
    const done = lines(AUDIT_FILE);
    const shown = done.map(({ route, changed, outcome, status, of }) => [
      route,
      changed,
      outcome,
      status,
      of,
    ]);
    expect(shown).to.deep.equal([
      ['POST /api/command', 'mode', 'announced', undefined, undefined],
      ['POST /api/command', 'mode', 'done', 200, 1],
      ['PUT /api/config', 'agent.name', 'announced', undefined, undefined],
      ['PUT /api/config', 'agent.name', 'done', 200, 3],
      ['PUT /api/config', 'agent.nonsense', 'announced', undefined, undefined],
      ['PUT /api/config', 'agent.nonsense', 'failed', 404, 5],
      ['POST /api/services/{name}/restart', 'nothing', 'announced', undefined, undefined],
      ['POST /api/services/{name}/restart', 'nothing', 'E_NOT_FOUND', 404, 7],
    ]);
    expect(lines(STRANGERS_FILE).map((line) => [line.route, line.outcome, line.principal])).to.deep.equal([
      ['GET /api/status', 'E_UNAUTHENTICATED', 'anonymous'],
      [null, 'E_BAD_PATH', 'anonymous'],
    ]);
    expect((await svc('audit', 'verify')).stdout).to.include('8 records, the chain is whole');
    const file = join(node.paths.auditDir, AUDIT_FILE);
    writeFileSync(file, readFileSync(file, 'utf8').replace('agent.nonsense', 'agent.name'));
    const broken = await svc('audit', 'verify', '--json').catch(
      (error: { code: number; stdout: string }) => error,
    );
    expect(broken).to.include({ code: 1 });
    expect(JSON.parse(broken.stdout)).to.include({ ok: false, line: 6 });
    expect(node.stderr).to.not.include('svc_wrong_wrong');
  });

  it('a change that was under way when the front was killed is announced, and unknown after the next start', async () => {
    node = await TestNode.start({ pairing: { key: KEY } });
    process.kill(node.pid('svc-link'), 'SIGSTOP'); // so that the command stays under way
    const hung = node.post('/api/command', { cmd: 'arm' }, headers).catch(() => null);
    const file = join(node.paths.auditDir, AUDIT_FILE);
    await fileSays(file, (text) => text.includes('announced'));
    await node.killAndAwaitSuccessor('svc-control');
    await hung;
    process.kill(node.pid('svc-link'), 'SIGCONT');
    expect(lines(AUDIT_FILE).map(({ changed, outcome }) => [changed, outcome])).to.deep.equal([
      ['arm', 'announced'],
      ['arm', 'unknown'],
    ]);
    const told = await node.json('/api/logs?service=audit&limit=500', { headers });
    expect(JSON.stringify(told.body), 'the list of the page').to.include('"unknown"');
    expect((await svc('audit', 'verify')).stdout).to.include('2 records, the chain is whole');
    await node.stop({ keep: true });
    rmSync(node.paths.auditDir, { recursive: true });
    const gone = await svc('audit', 'verify').catch((error: { code: number; stdout: string }) => error);
    expect(gone).to.include({ code: 1 });
    const doctor = (await svc('doctor', '--json').catch((error: { stdout: string }) => error)).stdout;
    expect(doctor).to.include('the chain went up to record 2');
  });

  it('while nothing can be written: flight, settings, tokens and secrets are 503, bringing it down is not, and it is told', async () => {
    let blocked = '';
    node = await TestNode.start({
      pairing: { key: KEY },
      prepare: async ({ auditDir }) => {
        blocked = join(auditDir, AUDIT_FILE);
        await mkdir(blocked, { recursive: true }); // fails for root too
      },
    });
    const code = async (answer: Promise<{ status: number; body: Record<string, unknown> }>) => {
      const { status, body } = await answer;
      return status === 503 ? body['code'] : status;
    };
    const command = async (cmd: string) => code(node.post('/api/command', { cmd, timeout_ms: 500 }, headers));
    const put = async () =>
      code(
        node.json('/api/config', {
          method: 'PUT',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify({ key: 'agent.name', value: 'x' }),
        }),
      );
    for (const cmd of ['arm', 'takeoff', 'mode']) expect(await command(cmd), cmd).to.equal('E_AUDIT');
    for (const cmd of ['disarm', 'land', 'rtl', 'stop', 'killSwitch'])
      expect(await command(cmd), cmd).to.not.equal('E_AUDIT');
    expect(await put()).to.equal('E_AUDIT');
    expect(await code(node.post('/api/mcp/tokens', { scopes: ['read'] }, headers))).to.equal('E_AUDIT');
    expect(await code(node.json('/api/config/secret/video.rtsp.password', { headers }))).to.equal('E_AUDIT');
    expect((await node.request('/api/status', { headers })).status).to.equal(200);

    const { body } = await node.json('/api/v1/diagnostics', { headers });
    expect(body['audit']).to.have.property('problem').that.is.a('string');
    expect((body['audit'] as { lost: number }).lost).to.be.greaterThan(7);
    const metrics = (await node.request('/metrics', { headers })).text;
    expect(metrics)
      .to.match(/^svc_audit_lost_records [1-9]/m)
      .and.match(/^svc_audit_writable 0$/m);
    const doctor = (await svc('doctor', '--json').catch((error: { stdout: string }) => error)).stdout;
    expect(doctor).to.include('audit of the node').and.include('cannot be written');

    await rmdir(blocked);
    expect(await put()).to.equal(200);
    expect(await command('mode')).to.not.equal('E_AUDIT');
  });
});
