import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  link,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { TokenFileReader } from '../../front/control/stores/token-file.ts';
import type { MintedToken } from '../../front/control/stores/tokens.ts';
import { ROOT } from '../support/node.ts';
import { refusal } from '../support/refusal.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { DEVICE, PAIRING_KEY, TokenNode } from '../support/token-stores.ts';

describe('the token store, damaged', () => {
  let dir: string;
  let node: TokenNode;
  let minted: MintedToken;
  let good: string;
  beforeEach(async () => {
    dir = await tempDir();
    node = new TokenNode(dir);
    minted = await node.mint();
    good = await readFile(node.file, 'utf8');
  });
  afterEach(async () => removeDir(dir));

  const expectClosed = async () => {
    const { store } = node;
    expect(store.verify(minted.token)).to.equal(null);
    expect(store.holds(minted.token_id)).to.equal(false);
    const status = store.status();
    expect(status).to.deep.include({ any_minted: false, tokens: [] });
    expect(status.problem).to.be.a('string').and.include(node.file);
    const { salt } = JSON.parse(good) as { salt: string };
    for (const work of [node.mint(), store.revoke(minted.token_id), store.revokeAll()]) {
      const error = await refusal(work);
      expect(error.code).to.equal('E_STORE');
      expect(error.message, 'says what is wrong').to.include(node.file);
      expect(error.message, 'and no secret').to.not.include(salt);
    }
  };

  const damages: readonly [string, (text: string) => string][] = [
    ['empty', () => ''],
    ['half', (text) => text.slice(0, text.length / 2)],
    ['garbage', () => 'x{]'],
    ['zeros', (text) => '\0'.repeat(text.length)],
    ['null', () => 'null'],
    ['a list', () => '[]'],
    ['an empty object', () => '{}'],
    ['no salt', (text) => text.replace(/"salt": "[0-9a-f]+",/, '')],
    ['a short salt', (text) => text.replace(/("salt": ")../, '$1')],
    ['a denylist that is none', (text) => text.replace('"revoked": []', '"revoked": {}')],
    ['no denylist', (text) => text.replace('"revoked": [],', '')],
    ['a denylist of numbers', (text) => text.replace('"revoked": []', '"revoked": [1]')],
    ['a registry that is none', (text) => text.replace('"tokens": [', '"tokens": 7, "x": [')],
    ['an unknown scope', (text) => text.replace('"read"', '"everything"')],
    ['an end that is no number', (text) => text.replace(/("expires_at": )(\d+)/, '$1"$2"')],
    ['a void that is no mark', (text) => text.replace('"label"', '"void": "no", "label"')],
    ['a watermark that is no time', (text) => text.replace('"expired_through": 0', '"expired_through": -1')],
    ['more than 1 MiB', (text) => text + ' '.repeat(1024 * 1024)],
  ];
  for (const [name, damage] of damages) {
    it(`I4 ${name}: nothing is honoured, nothing is written over`, async () => {
      const damaged = damage(good);
      expect(damaged).to.not.equal(good);
      await writeFile(node.file, damaged);
      await expectClosed();
      expect(await readFile(node.file, 'utf8')).to.equal(damaged);
      await writeFile(node.file, good);
      expect(node.store.verify(minted.token), 'mended').to.not.equal(null);
    });
  }

  it('I4 100 MB of nothing: closed, and not read', async () => {
    await truncate(node.file, 100 * 1024 * 1024);
    const before = process.memoryUsage().rss;
    await expectClosed();
    expect(process.memoryUsage().rss - before).to.be.lessThan(50 * 1024 * 1024);
  });

  for (const mode of [0o644, 0o640, 0o604, 0o660, 0o601]) {
    it(`mode ${mode.toString(8)}: closed`, async () => {
      await chmod(node.file, mode);
      await expectClosed();
      expect((await stat(node.file)).mode & 0o777).to.equal(mode);
    });
  }

  it('I6 a symbolic or a hard link in its place is neither read nor written', async () => {
    const elsewhere = join(dir, 'elsewhere');
    for (const make of [symlink, link]) {
      await writeFile(elsewhere, good, { mode: 0o600 });
      await rm(node.file);
      await make(elsewhere, node.file);
      await expectClosed();
      expect(await readFile(elsewhere, 'utf8')).to.equal(good);
      await rm(elsewhere);
    }
  });

  it('a directory, a pipe in its place: closed, without waiting for a writer', async () => {
    await rm(node.file);
    await mkdir(node.file);
    await expectClosed();
    await rm(node.file, { recursive: true });
    await once(spawn('mkfifo', ['-m', '600', node.file]), 'exit');
    await expectClosed();
  });

  it('removed: every token so far is void, and a new one holds', async () => {
    await rm(node.file);
    expect(node.store.status()).to.deep.include({ tokens: [], problem: null });
    const next = await node.mint();
    expect(node.store.verify(next.token)).to.not.equal(null);
    expect(node.store.verify(minted.token)).to.equal(null);
  });

  it('I3 a directory that cannot be written: refused, the old state stands', async () => {
    const away = join(dir, 'file-as-directory');
    await writeFile(away, '');
    const error = await refusal(
      node
        .another({ file: join(away, 'mcp-token.json') })
        .mint({ label: '', scopes: ['read'], ttlMs: null, allowedNodes: [] }),
    );
    expect(error.code).to.equal('E_STORE');
    expect(node.store.verify(minted.token)).to.not.equal(null);
  });
});

describe('the token store, killed', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await tempDir();
  });
  afterEach(async () => removeDir(dir));

  /** Mints, revokes, and after every tenth revokes all, until killed; tells what was promised to a client. */
  const worker = (file: string) => `
    const { TokenStore } = await import(${JSON.stringify(join(ROOT, 'front/control/stores/tokens.ts'))});
    const { createLogger } = await import(${JSON.stringify(join(ROOT, 'shared/process/logger.ts'))});
    const { EndedCredentials } = await import(${JSON.stringify(join(ROOT, 'front/control/stores/ended.ts'))});
    const log = createLogger('t', 'silent');
    const ended = new EndedCredentials(${JSON.stringify(`${file}.ended`)}, log);
    const store = new TokenStore({ file: ${JSON.stringify(file)}, ended, accept: true, pairingKey: () => '${PAIRING_KEY}',
      deviceId: '${DEVICE}', now: Date.now,
      lived: { id: '0123456789abcdef', now: () => performance.now() }, log });
    const { writeSync } = await import('node:fs');
    const tell = (word) => writeSync(1, word + '\\n');
    tell('go');
    for (let i = 1; i <= 60; i++) {
      const { token, token_id } = await store.mint({ label: String(i), scopes: ['read'], ttlMs: null, allowedNodes: [] });
      tell('minted ' + token);
      if (i % 2 === 0) { await store.revoke(token_id); tell('revoked ' + token); }
      if (i % 10 === 0) { await store.revokeAll(); tell('all'); }
    }
    tell('done');
    setInterval(() => undefined, 1000);`;

  async function killAfter(file: string, lines: number, spins: number): Promise<readonly string[]> {
    const child = spawn(process.execPath, ['--input-type=module', '-e', worker(file)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    const gone = once(child, 'close');
    for await (const chunk of child.stdout) {
      text += String(chunk);
      if (text.split('\n').length <= lines) continue;
      for (let spin = 0; spin < spins; spin++) await new Promise(setImmediate);
      child.kill('SIGKILL');
    }
    await gone;
    return text.trimEnd().split('\n');
  }

  it('I1 D11 kill -9 at any moment: the file parses, has mode 0600, and keeps every promise', async function () {
    this.timeout(120_000);
    for (let round = 0; round < 12; round++) {
      const file = join(dir, `${round}.json`);
      const words = await killAfter(file, 2 + round * 3, (round * 7) % 20);
      expect(words.length).to.be.greaterThan(1);
      const read = new TokenFileReader(file).read();
      expect(read.kind, JSON.stringify(read)).to.equal('read');
      expect((await stat(file)).mode & 0o777).to.equal(0o600);
      const holds = new Map<string, boolean>();
      for (const word of words) {
        const [what, token = ''] = word.split(' ');
        if (what === 'minted') holds.set(token, true);
        if (what === 'revoked') holds.set(token, false);
        if (what === 'all') for (const known of holds.keys()) holds.set(known, false);
      }
      // What was promised last may have been overtaken by a revocation that was done but not told any more.
      const last = [...holds.keys()].at(-1);
      const after = new TokenNode(dir);
      const store = after.another({ file, now: Date.now });
      const allBegun = words.filter((word) => word.startsWith('minted')).length % 10 === 0;
      for (const [token, wanted] of holds) {
        if (!wanted) expect(store.verify(token), 'revoked').to.equal(null);
        else if (token !== last && !allBegun) expect(store.verify(token), 'minted').to.not.equal(null);
      }
      // And the next process goes on where this one was torn away: no lock stays behind.
      const next = await store.mint({ label: '', scopes: ['read'], ttlMs: null, allowedNodes: [] });
      expect(store.verify(next.token)).to.not.equal(null);
      await removeDir(`${file}.lock`);
    }
    expect((await readdir(dir)).filter((name) => name.endsWith('-journal'))).to.deep.equal([]);
  });

  it('I7 three processes at once: every token is listed, every revocation counts', async function () {
    this.timeout(120_000);
    const file = join(dir, 'shared.json');
    const script = worker(file).replace(/if \(i % 10 === 0\).*/, '');
    const children = [1, 2, 3].map(() =>
      spawn(process.execPath, ['--input-type=module', '-e', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      }),
    );
    const texts = await Promise.all(
      children.map(async (child) => {
        let text = '';
        for await (const chunk of child.stdout) {
          text += String(chunk);
          if (text.includes('done')) child.kill('SIGKILL');
        }
        return text;
      }),
    );
    const words = texts.flatMap((text) => text.split('\n'));
    const revoked = new Set(words.filter((word) => word.startsWith('revoked')).map((word) => word.slice(8)));
    const all = words.filter((word) => word.startsWith('minted')).map((word) => word.slice(7));
    expect(all).to.have.length(180);
    expect(revoked.size).to.equal(90);
    const store = new TokenNode(dir).another({ file, now: Date.now });
    expect(store.status().tokens).to.have.length(180);
    for (const token of all) expect(store.verify(token) === null).to.equal(revoked.has(token));
  });
});
