import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { PairStore } from '../../front/control/radio/pair-store.ts';
import { openLogDatabase } from '../../residual/app/logs/log-database.ts';
import { isObject, type JsonObject } from '../../shared/member.ts';
import { logInto, STORES } from '../support/state-stores.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { TokenNode } from '../support/token-stores.ts';

const MEMBER = 'of_a_newer_version';

/** Lists by name, of peers, buttons, settings: what stands in them are no members. */
const BY_NAME: ReadonlySet<string> = new Set(['peers', 'mapping', 'drone', 'global']);

/** The document with one member more, in each of its objects in turn. */
function grown(value: unknown): readonly unknown[] {
  if (Array.isArray(value))
    return value.flatMap((item, at) => grown(item).map((more) => value.with(at, more)));
  if (!isObject(value)) return [];
  const inside = Object.entries(value).flatMap(([name, item]) =>
    BY_NAME.has(name) ? [] : grown(item).map((more) => ({ ...value, [name]: more })),
  );
  return [{ ...value, [MEMBER]: { a: 1 } }, ...inside];
}

describe('a file that a newer version has written, with one member more, after the return', () => {
  for (const { name, file, make, look } of STORES)
    it(`${name} (${file}): as it was`, async function () {
      this.timeout(60_000);
      const dir = await tempDir();
      const path = join(dir, file);
      await mkdir(dirname(path), { recursive: true });
      await make(path);
      const good = await readFile(path, 'utf8');
      const seen = async (content: string) => {
        await writeFile(path, content, { mode: 0o600 });
        const lines: string[] = [];
        const looked = await look(path, logInto(lines), () => lines.join('\n'));
        const said = looked.said.replaceAll(/,"of_a_newer_version":\{"a":1\}/g, '');
        return { ...looked, said, kept: await readFile(path, 'utf8').catch(() => null) };
      };
      const { kept: _good, ...before } = await seen(good);
      if (/^[[{]/.test(good))
        for (const more of grown(JSON.parse(good))) {
          const { kept, ...after } = await seen(JSON.stringify(more));
          expect(after, JSON.stringify(more)).to.deep.equal(before);
          expect(kept).to.be.a('string');
        }
      await removeDir(dir);
    });

  it('AI tokens: those that were minted count, one that is revoked meanwhile does not, a new one is minted; the member stays', async () => {
    const dir = await tempDir();
    const path = join(dir, 'mcp-token.json');
    const [kept, revoked] = [
      await new TokenNode(dir).mint(),
      await new TokenNode(dir).mint(['read'], null, 'revoked'),
    ];
    await new TokenNode(dir).store.revoke(revoked.token_id);
    const newer = JSON.parse(await readFile(path, 'utf8')) as JsonObject;
    await writeFile(path, JSON.stringify({ ...newer, [MEMBER]: 1 }), { mode: 0o600 });
    const { store } = new TokenNode(dir);
    expect(store.verify(kept.token)).to.not.equal(null);
    expect(store.verify(revoked.token)).to.equal(null);
    const { store: minting } = new TokenNode(dir);
    const { token } = await minting.mint({ label: 'new', scopes: ['read'], ttlMs: null, allowedNodes: [] });
    expect(minting.verify(token)).to.not.equal(null);
    expect(JSON.parse(await readFile(path, 'utf8'))).to.include({ [MEMBER]: 1 });
    await removeDir(dir);
  });

  it('bound radios of a newer version stay bound, and another can be bound; its members stay', async () => {
    const dir = await tempDir();
    const file = join(dir, 'radio-pairs.json');
    const radio = (slot: number) => ({
      slot,
      device_id: `drone-${slot}`,
      name: 'x',
      fingerprint: Array.from({ length: 8 }, () => '0123').join(' '),
      paired_at: '2026-01-01T00:00:00Z',
      proved: true,
      own_secret: 'a'.repeat(64),
      peer_public: 'b'.repeat(64),
      relay_secret: 'c'.repeat(64),
      previous: null,
    });
    const newer = { version: 2, [MEMBER]: 1, pairs: [{ ...radio(1), [MEMBER]: 1 }] };
    await writeFile(file, JSON.stringify(newer), { mode: 0o600 });
    const store = new PairStore({ file, keys: join(dir, 'keys'), log: logInto([]) });
    await store.start();
    expect(store.list().map(({ slot }) => slot)).to.deep.equal([1]);
    await store.change((radios) => [...radios, radio(2)]);
    expect(JSON.parse(await readFile(file, 'utf8'))).to.deep.equal({
      ...newer,
      pairs: [...newer.pairs, radio(2)],
    });
    await store.stop();
    await removeDir(dir);
  });

  it('logs of a newer version are gone on with, unless it wants or lacks something', async () => {
    const dir = await tempDir();
    const path = join(dir, 'logs.db');
    const setAside = (...changes: readonly string[]): string | null => {
      const opened = openLogDatabase(path, 1, logInto([]));
      for (const change of changes) opened.db.exec(change);
      opened.db.close();
      return opened.setAside;
    };
    expect(setAside('PRAGMA user_version = 99', 'ALTER TABLE logs ADD COLUMN newer TEXT')).to.equal(null);
    expect(setAside(), 'a column more').to.equal(null);
    setAside("ALTER TABLE logs ADD COLUMN must TEXT NOT NULL DEFAULT 'x'");
    expect(setAside('ALTER TABLE events RENAME COLUMN kind TO sort'), 'one with a default').to.equal(null);
    expect(setAside(), 'one that lacks a column').to.be.a('string');
    await removeDir(dir);
  });
});
