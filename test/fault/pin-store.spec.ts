import { chmod, link, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { PinNode } from '../support/pin-stores.ts';
import { refusal } from '../support/refusal.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const PIN = '493817';
const trusted = { trusted: true } as const;

describe('the files of the PIN and of sessions, damaged', () => {
  let dir: string;
  let node: PinNode;
  let good: string;
  beforeEach(async () => {
    dir = await tempDir();
    node = await PinNode.open(dir);
    await node.pin.set(PIN, trusted);
    good = await readFile(node.pinFile, 'utf8');
  });
  afterEach(async () => removeDir(dir));

  const expectClosed = async () => {
    await node.restart();
    expect(node.pin.problem).to.be.a('string');
    expect(node.pin.status().set, 'set: nobody may set a first one').to.equal(true);
    expect((await refusal(node.pin.verify(PIN))).code).to.equal('E_STORE');
    const first = await refusal(node.pin.set('1111', { trusted: false, gate: true }));
    expect(first.code).to.equal('E_UNAUTHENTICATED');
    expect((await refusal(node.pin.set('1111', { trusted: false, current: PIN }))).code).to.equal('E_STORE');
  };

  const damages: readonly [string, (text: string) => string][] = [
    ['empty', () => ''],
    ['half', (text) => text.slice(0, text.length / 2)],
    ['garbage', () => 'x{]'],
    ['null', () => 'null'],
    ['an empty object', () => '{}'],
    ['a list', () => '[]'],
    ['a short hash', (text) => text.replace(/("pin_hash": ")[0-9a-f]{2}/, '$1')],
    ['no salt', (text) => text.replace(/"salt": "[0-9a-f]+",/, '')],
    ['a hash that costs nothing', (text) => text.replace('"N": 32768', '"N": 2')],
    ['a hash that costs 4 GiB', (text) => text.replace('"N": 32768', '"N": 4194304')],
    ['negative failures', (text) => text.replace('"failed_attempts": 0', '"failed_attempts": -1000')],
    ['failures of another type', (text) => text.replace('"failed_attempts": 0', '"failed_attempts": "0"')],
    ['100 KB', (text) => text + ' '.repeat(100_000)],
  ];
  for (const [name, damage] of damages) {
    it(`${name}: closed; the owner's new PIN repairs it`, async () => {
      const damaged = damage(good);
      expect(damaged).to.not.equal(good);
      await writeFile(node.pinFile, damaged);
      await expectClosed();
      expect(await readFile(node.pinFile, 'utf8'), 'untouched until then').to.equal(damaged);
      await node.pin.set('2222', trusted);
      expect(node.pin.problem).to.equal(null);
      await node.pin.verify('2222');
    });
  }

  it('readable by others: closed', async () => {
    await chmod(node.pinFile, 0o640);
    await expectClosed();
  });

  it('a link in its place is neither read nor written', async () => {
    const elsewhere = join(dir, 'elsewhere');
    for (const make of [symlink, link]) {
      await writeFile(elsewhere, good, { mode: 0o600 });
      await rm(node.pinFile);
      await make(elsewhere, node.pinFile);
      await expectClosed();
      expect((await refusal(node.pin.set('2222', trusted))).code).to.equal('E_STORE');
      expect((await refusal(node.pin.clear())).code).to.equal('E_STORE');
      expect(await readFile(elsewhere, 'utf8')).to.equal(good);
      await rm(elsewhere);
    }
  });

  it('a directory in its place: closed', async () => {
    await rm(node.pinFile);
    await mkdir(node.pinFile);
    await expectClosed();
  });

  it('a disk that cannot be written gives no free guesses, and lets the right PIN in', async () => {
    await rm(node.pinFile);
    await mkdir(node.pinFile); // fails for root too
    for (let i = 0; i < 5; i++) expect((await refusal(node.pin.verify('0000'))).code).to.equal('E_STORE');
    expect((await refusal(node.pin.verify('0000'))).code).to.equal('E_LOCKED');
    expect((await refusal(node.pin.set('2222', trusted))).code).to.equal('E_STORE');
    node.clocks.advance(30);
    await node.pin.verify(PIN);
  });

  const sessionDamages = [
    '',
    '{"binding": "x", "sess',
    '[]',
    'null',
    '{"binding":"x","sessions":[]}',
    '{"sessions":{}}',
  ];
  for (const damaged of sessionDamages) {
    it(`sessions.json ${JSON.stringify(damaged)}: nobody is let in, new sessions work`, async () => {
      const { session } = await node.sessions.open();
      await writeFile(node.sessionsFile, damaged);
      await node.restart();
      expect(node.sessions.check(session)).to.equal(null);
      const next = await node.sessions.open();
      await node.restart();
      expect(node.sessions.check(next.session)).to.not.equal(null);
    });
  }

  it('a file cannot make a session longer than 24 h', async () => {
    const { session } = await node.sessions.open();
    const text = await readFile(node.sessionsFile, 'utf8');
    await writeFile(node.sessionsFile, text.replace(/"expires_at": [\d.]+/, '"expires_at": 99999999999'));
    node.clocks.advance(86_400);
    await node.restart();
    expect(node.sessions.check(session)).to.equal(null);
    await writeFile(node.sessionsFile, text.replace(/"opened_at": [\d.]+/, '"opened_at": 99999999999'));
    await node.restart();
    expect(node.sessions.check(session)).to.equal(null);
  });

  it('sessions that others could read, or behind a link, are not taken up; the link is not written through', async () => {
    const { session } = await node.sessions.open();
    await chmod(node.sessionsFile, 0o644);
    await node.restart();
    expect(node.sessions.check(session)).to.equal(null);
    const elsewhere = join(dir, 'elsewhere');
    const text = await readFile(`${node.sessionsFile}.broken`, 'utf8');
    await writeFile(elsewhere, text, { mode: 0o600 });
    await rm(node.sessionsFile, { force: true });
    await symlink(elsewhere, node.sessionsFile);
    await node.restart();
    expect(node.sessions.check(session)).to.equal(null);
    const next = await node.sessions.open();
    expect(node.sessions.check(next.session), 'held in memory').to.not.equal(null);
    expect(await readFile(elsewhere, 'utf8')).to.equal(text);
  });
});

describe('a clock that is set while sessions are open', () => {
  for (const [name, stepS] of [
    ['a minute', 60],
    ['a day', 86_400],
    ['ten years', 3650 * 86_400],
  ] as const)
    for (const way of [1, -1] as const)
      it(`by ${name} ${way === 1 ? 'ahead' : 'back'}: they end after 24 hours of their own, and not before`, async () => {
        const dir = await tempDir();
        const node = await PinNode.open(dir);
        const { session } = await node.sessions.open();
        node.clocks.advance(60);
        node.clocks.wallMs += way * stepS * 1000;
        expect(node.sessions.check(session)).to.not.equal(null);
        node.clocks.advance(86_400 - 61);
        expect(node.sessions.check(session)).to.not.equal(null);
        node.clocks.advance(2);
        expect(node.sessions.check(session)).to.equal(null);
        await node.sessions.stop();
        await removeDir(dir);
      });
});
