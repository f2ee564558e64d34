import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { TokenEntry, TokenFile } from '../../front/control/stores/token-file.ts';
import { CLOCK_FLOOR_MS, type TokenId } from '../../shared/auth/token.ts';
import { refusal } from '../support/refusal.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { DAY, TokenNode } from '../support/token-stores.ts';

const DAY_MS = DAY * 1000;

/** The registry with more in it than a test would mint. */
describe('the registry of tokens, full', () => {
  let dir: string;
  let node: TokenNode;
  let now: number;
  beforeEach(async () => {
    dir = await tempDir();
    node = new TokenNode(dir);
    now = node.clocks.wallMs;
  });
  afterEach(async () => removeDir(dir));

  const entry = (id: string, change: Partial<TokenEntry> = {}): TokenEntry => ({
    token_id: `mct_${id}`,
    label: '',
    scopes: ['read'],
    allowed_nodes: [],
    created_at: now / 1000 - 10 * DAY,
    expires_at: now + DAY_MS,
    ...change,
  });
  const many = (count: number, name: string, change: Partial<TokenEntry> = {}): TokenEntry[] =>
    Array.from({ length: count }, (_, index) => entry(`${name}${index}`, change));
  const store = async (tokens: readonly TokenEntry[], change: Partial<TokenFile> = {}): Promise<void> => {
    const file = { salt: '0'.repeat(32), revoked: [], tokens, expired_through: 0, ...change };
    await writeFile(node.file, JSON.stringify(file), { mode: 0o600 });
  };
  const read = async (): Promise<TokenFile> => JSON.parse(await readFile(node.file, 'utf8')) as TokenFile;
  const idsOf = ({ tokens }: TokenFile): string[] => tokens.map(({ token_id: id }) => id.slice(4));

  it('500 that live are the most; those of an earlier salt and those that have ended do not count', async () => {
    const dead = [entry('void', { void: true }), entry('ended', { expires_at: now })];
    await store([...dead, ...many(499, 'a')]);
    const { token } = await node.mint();
    expect(node.store.verify(token)).to.not.equal(null);
    const error = await refusal(node.mint());
    expect(error).to.deep.include({
      code: 'E_INVALID_VALUE',
      extras: {
        errors: [
          { path: '', message: 'at most 500 tokens; svc mcp revoke --all, or wait until some expire' },
        ],
      },
    });
  });

  it('what would not leave room for revocations is not minted', async () => {
    await store([entry('a', { label: 'x'.repeat(910_000) })]);
    await node.mint();
    await store([entry('a', { label: 'x'.repeat(920_000) })]);
    expect((await refusal(node.mint())).code).to.equal('E_INVALID_VALUE');
    await node.store.revoke('mct_a');
    expect((await read()).revoked).to.deep.equal(['mct_a']);
  });

  it('of more than 1000 the oldest that have ended leave it, with their place on the denylist; none that lives', async () => {
    const ended = many(1003, 'ended', { expires_at: now - 1 });
    await store([entry('void', { void: true }), entry('live'), ...ended], {
      revoked: ['mct_ended0', 'mct_ended2', 'mct_ended4', 'mct_live'] as TokenId[],
    });
    await node.mint();
    const file = await read();
    expect(file.tokens).to.have.length(1001);
    expect(idsOf(file).slice(0, 3)).to.deep.equal(['live', 'ended4', 'ended5']);
    expect(file.revoked).to.deep.equal(['mct_ended4', 'mct_live']);
  });

  it('one that is revoked stays listed, though it has ended and the registry is full', async () => {
    await store(many(1002, 'ended', { expires_at: now - 1 }));
    await node.store.revoke('mct_ended0');
    const file = await read();
    expect(idsOf(file).slice(0, 2)).to.deep.equal(['ended0', 'ended3']);
    expect(file.revoked).to.deep.equal(['mct_ended0']);
    await store([
      entry('old', { expires_at: now - 40 * DAY_MS }),
      entry('older', { expires_at: now - 41 * DAY_MS }),
    ]);
    await node.store.revoke('mct_old');
    expect(idsOf(await read())).to.deep.equal(['old']);
  });

  it('what ended is listed for 30 days, and what an earlier salt signed as long as its end says', async () => {
    await store([
      entry('kept', { expires_at: now - 30 * DAY_MS + 1 }),
      entry('gone', { expires_at: now - 30 * DAY_MS }),
      entry('void', { void: true }),
    ]);
    await node.mint();
    const file = await read();
    expect(idsOf(file).slice(0, -1)).to.deep.equal(['kept', 'void']);
  });

  it('one of an earlier salt is revoked already, and nothing is written for it', async () => {
    await store([entry('void', { void: true }), entry('a')]);
    const before = await readFile(node.file, 'utf8');
    expect(await node.store.revoke('mct_void')).to.equal('mct_void');
    expect(await readFile(node.file, 'utf8')).to.equal(before);
    expect(node.store.status().tokens.map(({ revoked }) => revoked)).to.deep.equal([false, true]);
    expect([node.store.holds('mct_void'), node.store.holds('mct_a')]).to.deep.equal([false, true]);
  });

  it('what an older version noted of a clock that was far ahead ends none that is minted now', async () => {
    await store([entry('a')], { expired_through: now + 30 * DAY_MS });
    expect(node.store.status()).to.include({ any_minted: true, problem: null });
    const { token } = await node.mint();
    expect(node.store.verify(token)).to.not.equal(null);
    expect(node.store.holds('mct_a'), 'one that it minted').to.equal(false);
  });

  it('one of an older version, whose age only the wall clock tells, ends by the lived time from the first look on', async () => {
    const { clocks } = node;
    await store([entry('a', { expires_at: now + DAY_MS })]);
    const holds = (): boolean => node.store.holds('mct_a');
    expect(holds()).to.equal(true);
    for (const step of [3650 * DAY_MS, -7300 * DAY_MS]) {
      clocks.wallMs += step;
      expect(holds(), `the clock set by ${step} ms`).to.equal(true);
    }
    clocks.wallMs = now;
    await node.mint(); // writes down what the wall clock told
    const other = node.another();
    clocks.wallMs += 3650 * DAY_MS;
    expect(other.holds('mct_a'), 'over a restart').to.equal(true);
    clocks.advance(DAY);
    expect([holds(), other.holds('mct_a')]).to.deep.equal([false, false]);
  });

  it('one of an older version from the future of the clock counts once the clock is right', async () => {
    await store([entry('a')]);
    for (const [wall, held] of [
      [CLOCK_FLOOR_MS - 1, false],
      [now - 20 * DAY_MS, false],
      [now - 10 * DAY_MS - 5 * 60_000 - 1, false],
      [now - 10 * DAY_MS - 5 * 60_000, true],
      [now, true],
    ] as const) {
      node.clocks.wallMs = wall;
      expect(node.store.holds('mct_a'), String(wall)).to.equal(held);
    }
  });

  it('one whose age nobody can tell keeps it when the registry is written', async () => {
    await store([entry('a'), entry('b')]);
    node.clocks.wallMs = now - 20 * DAY_MS;
    await node.store.revoke('mct_b');
    expect((await read()).tokens.map(({ lived }) => lived)).to.deep.equal([undefined, undefined]);
    node.clocks.wallMs = now;
    expect(node.store.holds('mct_a')).to.equal(true);
  });

  it('says whether there is one', async () => {
    await store([]);
    expect(node.store.problem).to.equal(null);
    expect(node.store.status()).to.include({ any_minted: false });
    await store([entry('a')]);
    expect(node.store.status()).to.include({ any_minted: true });
  });

  it('a clock that was never set mints nothing, and honours what it minted; from the first of this software on it does', async () => {
    const { clocks } = node;
    clocks.wallMs = CLOCK_FLOOR_MS - 1;
    expect((await refusal(node.mint())).code).to.equal('E_CLOCK');
    clocks.wallMs = CLOCK_FLOOR_MS;
    const { token, token_id: id } = await node.mint();
    const both = (): boolean[] => [node.store.verify(token) !== null, node.store.holds(id)];
    expect(both()).to.deep.equal([true, true]);
    clocks.wallMs = CLOCK_FLOOR_MS - 1;
    expect(both()).to.deep.equal([true, true]);
  });

  it('a file that is none: nothing is honoured, nothing is changed, and it says so', async () => {
    const { token, token_id: id } = await node.mint();
    await writeFile(node.file, 'x');
    const { store: tokens } = node;
    expect(tokens.problem).to.include(node.file);
    expect([tokens.verify(token), tokens.holds(id)]).to.deep.equal([null, false]);
    const status = tokens.status();
    expect(status).to.deep.include({ accept_enabled: true, any_minted: false, tokens: [] });
    expect(status.problem).to.include(node.file);
    for (const work of [() => node.mint(), () => tokens.revoke(id), () => tokens.revokeAll()])
      expect(await refusal(work())).to.include({ code: 'E_STORE' });
    expect(await readFile(node.file, 'utf8')).to.equal('x');
    const nowhere = node.another({ file: join(node.file, 'in', 'a-file.json') });
    const request = { label: '', scopes: ['read'], ttlMs: null, allowedNodes: [] } as const;
    expect(await refusal(nowhere.mint(request))).to.include({ code: 'E_STORE' });
    expect([nowhere.verify(token), nowhere.holds(id)]).to.deep.equal([null, false]);
  });

  it('without a file nothing is known: no token, none to revoke', async () => {
    expect([node.store.verify('x.y'), node.store.holds('mct_a')]).to.deep.equal([null, false]);
    expect((await refusal(node.store.revoke('mct_a'))).code).to.equal('E_NOT_FOUND');
  });

  it('scopes that make no sense are named by their place in the body', async () => {
    for (const scopes of [['secret_read'], ['read', 'read']] as const) {
      const error = await refusal(node.mint(scopes));
      expect(error.extras['errors']).to.have.deep.nested.property('[0].path', '/scopes');
    }
  });

  it('another process gives it another salt: new tokens hold here, the old ones do not', async () => {
    const old = await node.mint();
    expect(node.store.verify(old.token)).to.not.equal(null);
    const other = node.another();
    await other.revokeAll();
    const next = await other.mint({ label: '', scopes: ['read'], ttlMs: null, allowedNodes: [] });
    expect(node.store.verify(next.token)).to.not.equal(null);
    expect(node.store.verify(old.token)).to.equal(null);
  });

  it('stop waits for the change that is under way', async () => {
    const minting = node.mint();
    await node.store.stop();
    expect((await read()).tokens).to.have.length(1);
    await minting;
  });
});
