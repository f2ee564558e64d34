import { createHmac } from 'node:crypto';
import { appendFileSync, statSync } from 'node:fs';
import { readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { EndedCredentials } from '../../front/control/stores/ended.ts';
import { SCOPES } from '../../shared/auth/scopes.ts';
import {
  CLOCK_FLOOR_MS,
  deriveTokenKey,
  isTokenId,
  signToken,
  type TokenClaims,
  type TokenId,
  verifyToken,
} from '../../shared/auth/token.ts';
import { mintRequest, revokeRequest } from '../../shared/schemas/mcp.ts';
import { compileValidator, createAjv } from '../../shared/schemas/validator.ts';
import { silentLog } from '../support/pin-stores.ts';
import { refusal } from '../support/refusal.ts';
import { removeDir, tempDir } from '../support/temp.ts';
import { DAY, DEVICE, TokenNode } from '../support/token-stores.ts';

// The known answer of docs/contract/credentials.md#scoped-tokens.
const KAT_CLAIMS: TokenClaims = {
  tokenId: 'mct_kat',
  operatorId: 'cloud:kat',
  iss: 'agent:kat-node',
  scopes: ['read'],
  allowedNodes: [],
  expiresAt: 4102444800000,
  label: 'kat',
};
const KAT_KEY = '04c3ff1dabd606fa7a8bd97a7a59b6ffa4939e3b78978e9ea024ce8e836fac48';
const KAT_TOKEN =
  'eyJ0b2tlbklkIjoibWN0X2thdCIsIm9wZXJhdG9ySWQiOiJjbG91ZDprYXQiLCJpc3MiOiJhZ2VudDprYXQtbm9kZSIsInNjb3BlcyI6WyJyZWFkIl0sImFsbG93ZWROb2RlcyI6W10sImV4cGlyZXNBdCI6NDEwMjQ0NDgwMDAwMCwibGFiZWwiOiJrYXQifQ.PySbFEwPWqL1dqFy8wencKVlu9d7LULbDdn_AoBbAnQ';
const NOW = Date.UTC(2026, 5, 1);

const key = deriveTokenKey('svc_kat_key', Buffer.alloc(0));
const at = (nowMs: number, deviceId = 'kat-node') => ({ deviceId, nowMs, isRevoked: () => false });
const check = (token: string, nowMs = NOW, deviceId = 'kat-node') =>
  verifyToken(token, key, at(nowMs, deviceId));

/** Signs any text as claims, right or wrong. */
function signRaw(claims: string | Buffer): string {
  const bytes = Buffer.from(claims);
  return `${bytes.toString('base64url')}.${createHmac('sha256', key).update(bytes).digest('base64url')}`;
}

const anyClaims = fc.record({
  tokenId: fc.stringMatching(/^mct_[0-9a-f]{24}$/).map((id) => id as TokenId),
  operatorId: fc.string({ unit: 'grapheme', maxLength: 20 }),
  iss: fc.constant('agent:kat-node'),
  scopes: fc.uniqueArray(fc.constantFrom(...SCOPES), { minLength: 1 }),
  allowedNodes: fc.array(fc.string({ unit: 'grapheme', maxLength: 10 }), { maxLength: 4 }),
  expiresAt: fc.integer({ min: NOW + 1, max: Number.MAX_SAFE_INTEGER }),
  label: fc.string({ unit: 'grapheme', maxLength: 30 }),
});

describe('scoped tokens', () => {
  it('known answer: key, text and claims', () => {
    expect(key.export().toString('hex')).to.equal(KAT_KEY);
    expect(signToken(key, KAT_CLAIMS)).to.equal(KAT_TOKEN);
    expect(check(KAT_TOKEN)).to.deep.equal(KAT_CLAIMS);
  });

  it('any claims come back as they went in', () => {
    fc.assert(
      fc.property(anyClaims, (claims) => {
        expect(check(signToken(key, claims))).to.deep.equal(claims);
      }),
    );
  });

  it('every token in which a single character differs is refused', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.= +/\0é'.split('');
    fc.assert(
      fc.property(anyClaims, fc.nat(), fc.constantFrom(...alphabet), (claims, where, other) => {
        const token = signToken(key, claims);
        const index = where % token.length;
        fc.pre(token[index] !== other);
        expect(check(token.slice(0, index) + other + token.slice(index + 1))).to.equal(null);
        expect(check(token.slice(0, index) + token.slice(index + 1)), 'left out').to.equal(null);
      }),
      { numRuns: 500 },
    );
    // The last character of a 32-byte value has two bits that count for nothing: all 64 spellings of it, one holds.
    const last = alphabet.filter((char) => check(KAT_TOKEN.slice(0, -1) + char) !== null);
    expect(last).to.deep.equal(['Q']);
  });

  it('any text at all is a token or null, never an exception', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        expect(check(text)).to.equal(null);
        expect(check(signRaw(text))).to.equal(null);
      }),
    );
    for (const text of ['', '.', '..', 'a.', '.a', 'a', `${KAT_TOKEN}.`, `.${KAT_TOKEN}`, `${KAT_TOKEN}=`])
      expect(check(text), text).to.equal(null);
    const huge = signToken(key, { ...KAT_CLAIMS, label: 'x'.repeat(8192) });
    expect(check(huge), 'longer than 8 KiB').to.equal(null);
  });

  it('is 8192 characters at most; an id is a text', () => {
    const ofLength = (length: number): string => {
      for (let label = ''; ; label += 'x') {
        const token = signToken(key, { ...KAT_CLAIMS, label: label.padStart(label.length + 5800, 'x') });
        if (token.length >= length) return token;
      }
    };
    const longest = ofLength(8192);
    expect([longest.length, check(longest) !== null]).to.deep.equal([8192, true]);
    const longer = ofLength(8193);
    expect([longer.length, check(longer)]).to.deep.equal([8194, null]);
    for (const [id, wanted] of [
      ['mct_a', true],
      [['mct_a'], false],
      ['mct_', false],
      [null, false],
    ] as const)
      expect(isTokenId(id), String(id)).to.equal(wanted);
  });

  it('D3 expires at its millisecond', () => {
    const token = signToken(key, { ...KAT_CLAIMS, expiresAt: NOW });
    expect(check(token, NOW - 1)).to.not.equal(null);
    expect(check(token, NOW)).to.equal(null);
    expect(check(token, NOW + 1)).to.equal(null);
  });

  it('D3 a clock before this software was made honours nothing', () => {
    for (const now of [0, Date.UTC(1970, 0, 1, 5), CLOCK_FLOOR_MS - 1])
      expect(check(KAT_TOKEN, now)).to.equal(null);
    expect(check(KAT_TOKEN, CLOCK_FLOOR_MS)).to.not.equal(null);
  });

  it("D2 another node's, another issuer's, another pairing's, another salt's: refused", () => {
    expect(check(KAT_TOKEN, NOW, 'other-node')).to.equal(null);
    for (const iss of ['cloud:kat-node', 'kat-node', 'agent:', 'agent:kat-node2', 'Agent:kat-node'])
      expect(check(signToken(key, { ...KAT_CLAIMS, iss })), iss).to.equal(null);
    expect(
      verifyToken(KAT_TOKEN, deriveTokenKey('svc_kat_kez', Buffer.alloc(0)), at(NOW, 'kat-node')),
    ).to.equal(null);
    expect(verifyToken(KAT_TOKEN, deriveTokenKey('svc_kat_key', Buffer.alloc(16)), at(NOW))).to.equal(null);
  });

  it('claims that are not what they should be are refused although the signature fits', () => {
    const changed = (change: object) => signRaw(JSON.stringify({ ...KAT_CLAIMS, ...change }));
    for (const change of [
      { scopes: [] },
      { scopes: ['read', 'root'] },
      { scopes: ['READ'] },
      { scopes: 'read' },
      { scopes: undefined },
      { scopes: ['__proto__'] },
      { expiresAt: '4102444800000' },
      { expiresAt: 1e300 },
      { expiresAt: 4102444800000.5 },
      { expiresAt: null },
      { tokenId: 'kat' },
      { tokenId: undefined },
      { tokenId: 7 },
      { operatorId: undefined },
      { iss: ['agent:kat-node'] },
      { allowedNodes: 'all' },
      { allowedNodes: [1] },
      { label: {} },
    ])
      expect(check(changed(change)), JSON.stringify(change)).to.equal(null);
    for (const text of ['null', '[]', '"x"', '7', '{', JSON.stringify([KAT_CLAIMS])])
      expect(check(signRaw(text)), text).to.equal(null);
    expect(check(signRaw(Buffer.from([0x22, 0xff, 0x22]))), 'no UTF-8').to.equal(null);
  });

  it('another order of the members, further ones, and missing nodes and label are fine', () => {
    const { label: _label, allowedNodes: _nodes, ...needed } = KAT_CLAIMS;
    const turned = Object.fromEntries(Object.entries({ ...needed, aud: 'x' }).toReversed());
    expect(check(signRaw(JSON.stringify(turned)))).to.deep.equal({ ...KAT_CLAIMS, label: '' });
  });

  it('a denylisted id is refused', () => {
    const revoked = { ...at(NOW), isRevoked: (id: TokenId) => id === 'mct_kat' };
    expect(verifyToken(KAT_TOKEN, key, revoked)).to.equal(null);
  });
});

describe('the token store', () => {
  let dir: string;
  let node: TokenNode;
  beforeEach(async () => {
    dir = await tempDir();
    node = new TokenNode(dir);
  });
  afterEach(async () => removeDir(dir));

  it('mints what verifies, and keeps no secret', async () => {
    const { store, clocks } = node;
    expect(store.status()).to.deep.equal({
      accept_enabled: true,
      any_minted: false,
      tokens: [],
      problem: null,
    });
    const minted = await store.mint({
      label: 'laptop',
      scopes: ['read', 'flight'],
      ttlMs: null,
      allowedNodes: ['n1'],
    });
    expect(minted).to.have.all.keys('token_id', 'token', 'expires_at', 'scopes', 'label');
    expect(minted.token_id).to.match(/^mct_[0-9a-f]{24}$/);
    expect(minted.expires_at).to.equal(clocks.wallMs + 30 * DAY * 1000);
    expect(store.verify(minted.token)).to.deep.equal({
      kind: 'token',
      id: minted.token_id,
      scopes: ['read', 'flight'],
    });
    const [payload = '', signature = ''] = minted.token.split('.');
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).to.deep.equal({
      tokenId: minted.token_id,
      operatorId: 'local',
      iss: `agent:${DEVICE}`,
      scopes: ['read', 'flight'],
      allowedNodes: ['n1'],
      expiresAt: minted.expires_at,
      label: 'laptop',
    });
    const text = await readFile(node.file, 'utf8');
    expect(text).to.not.include(payload);
    expect(text).to.not.include(signature);
    expect((await stat(node.file)).mode & 0o777).to.equal(0o600);
    expect(store.status().tokens).to.deep.equal([
      {
        token_id: minted.token_id,
        label: 'laptop',
        scopes: ['read', 'flight'],
        allowed_nodes: ['n1'],
        created_at: clocks.wallMs / 1000,
        expires_at: minted.expires_at,
        revoked: false,
        expired: false,
      },
    ]);
  });

  it('opens nothing while tokens are off or there is no key, and the file once otherwise', async () => {
    const { token } = await node.mint();
    const off = node.another({ accept: false });
    expect(off.verify(token)).to.equal(null);
    expect(off.opens).to.equal(0);
    const { store } = node;
    for (const text of [token, `${token}x`, 'rubbish', '']) {
      const before = store.opens;
      store.verify(text);
      expect(store.opens - before, text).to.equal(1);
    }
    node.pairingKey = null;
    const before = store.opens;
    expect(store.verify(token)).to.equal(null);
    expect(store.opens).to.equal(before);
  });

  it('a token that was minted while tokens were off holds once they are on', async () => {
    const { token } = await node
      .another({ accept: false })
      .mint({ label: '', scopes: ['read'], ttlMs: null, allowedNodes: [] });
    expect(node.store.verify(token)).to.not.equal(null);
  });

  it('lives 1 to 365 days', async () => {
    const { clocks } = node;
    for (const [asked, days] of [
      [1 / 86_400_000, 1],
      [1, 1],
      [30, 30],
      [365, 365],
      [366, 365],
      [1e9, 365],
    ] as const) {
      const { expires_at: end } = await node.mint(['read'], asked);
      expect(end - clocks.wallMs, String(asked)).to.equal(days * DAY * 1000);
    }
  });

  it('C4 hangs on the pairing: none without, and another one ends it', async () => {
    const { token } = await node.mint();
    node.pairingKey = 'svc_another-pairing-key-by-now';
    expect(node.store.verify(token)).to.equal(null);
    node.pairingKey = null;
    expect((await refusal(node.mint())).code).to.equal('E_NOT_PAIRED');
  });

  it('secret_read needs read', async () => {
    expect(await refusal(node.mint(['secret_read']))).to.include({ code: 'E_INVALID_VALUE', status: 422 });
    await node.mint(['secret_read', 'read']);
  });

  it('D15 the same label twice gives two tokens', async () => {
    const [one, two] = [await node.mint(), await node.mint()];
    expect(one.token_id).to.not.equal(two.token_id);
    expect(node.store.status().tokens.map(({ token_id: id }) => id)).to.deep.equal([
      two.token_id,
      one.token_id,
    ]);
  });

  it('D8 revokes one: at once, in every process, again without harm; an unknown one is 404', async () => {
    const [one, two] = [await node.mint(), await node.mint()];
    const other = node.another();
    expect(other.verify(one.token)).to.not.equal(null);
    expect(await node.store.revoke(one.token_id)).to.equal(one.token_id);
    expect(other.verify(one.token)).to.equal(null);
    expect(other.holds(one.token_id)).to.equal(false);
    expect(other.verify(two.token)).to.not.equal(null);
    expect(other.holds(two.token_id)).to.equal(true);
    const text = await readFile(node.file, 'utf8');
    await node.store.revoke(one.token_id);
    for (const id of ['mct_unknown', '', '__proto__', 'constructor'])
      expect((await refusal(node.store.revoke(id))).code, id).to.equal('E_NOT_FOUND');
    expect(await readFile(node.file, 'utf8')).to.equal(text);
    expect(node.store.status().tokens.map(({ revoked }) => revoked)).to.deep.equal([false, true]);
  });

  it('D9 revokes all: another salt, a registry that says so, and new ones hold', async () => {
    const old = [await node.mint(), await node.mint()];
    const salt = (JSON.parse(await readFile(node.file, 'utf8')) as { salt: string }).salt;
    expect(await node.store.revokeAll()).to.have.members(old.map(({ token_id: id }) => id));
    const after = JSON.parse(await readFile(node.file, 'utf8')) as { salt: string };
    expect(after.salt)
      .to.match(/^[0-9a-f]{32}$/)
      .and.not.equal(salt);
    for (const { token, token_id: id } of old) {
      expect(node.store.verify(token)).to.equal(null);
      expect(node.store.holds(id)).to.equal(false);
      await node.store.revoke(id);
    }
    const next = await node.mint();
    expect(node.store.verify(next.token)).to.not.equal(null);
    expect(node.store.status().tokens.map(({ revoked }) => revoked)).to.deep.equal([false, true, true]);
  });

  it('revoking all where nothing was minted writes nothing', async () => {
    expect(await node.store.revokeAll()).to.deep.equal([]);
    expect(await stat(node.file).catch((error: NodeJS.ErrnoException) => error.code)).to.equal('ENOENT');
  });

  it('D3 expired stays expired: at its moment, after a change, and when the clock is set back', async () => {
    const { store, clocks } = node;
    const short = await node.mint(['read'], 1);
    const long = await node.mint(['read'], 365);
    clocks.advance(DAY - 0.001);
    expect(store.verify(short.token)).to.not.equal(null);
    clocks.advance(0.001);
    expect(store.verify(short.token)).to.equal(null);
    await store.revoke(long.token_id);
    clocks.wallMs -= 3600_000;
    expect(store.verify(short.token), 'an hour back').to.equal(null);
    expect(store.status().tokens.map(({ expired }) => expired)).to.deep.equal([false, true]);
    clocks.wallMs = 5000;
    expect(store.verify(short.token), '1970').to.equal(null);
    expect((await refusal(node.mint())).code).to.equal('E_CLOCK');
  });

  for (const [how, look] of [
    ['a request', (token: string) => node.store.verify(token)],
    ['an open connection', (_: string, id: string) => node.store.holds(id)],
    ['the list of tokens', () => node.store.status()],
  ] as const)
    it(`D3 once seen expired by ${how}: no clock, restart or copy of the store brings it back`, async () => {
      const { clocks } = node;
      const { token, token_id: id, expires_at: end } = await node.mint(['read'], 1);
      const other = await node.mint(['read'], 365);
      const copy = await readFile(node.file);
      clocks.advance(DAY);
      look(token, id);
      await node.written();
      expect(await readFile(join(node.dir, 'ended'), 'utf8'), 'on the disk').to.include(id);
      clocks.wallMs = end - 3600_000;
      for (const store of [node.store, node.another()]) {
        expect(store.verify(token)).to.equal(null);
        expect(store.holds(id)).to.equal(false);
        expect(store.status().tokens.find(({ token_id: listed }) => listed === id)).to.include({
          expired: true,
        });
        expect(store.verify(other.token), 'one that has not ended').to.not.equal(null);
      }
      await rm(node.file);
      await writeFile(node.file, copy, { mode: 0o600 });
      expect(node.another().verify(token), 'an older copy').to.equal(null);
      expect(node.another().verify(other.token)).to.not.equal(null);
    });

  it('D3 the registry alone says when a token ends: a request and an open connection end with it', async () => {
    const { store, clocks } = node;
    const { token, token_id: id, expires_at: end } = await node.mint(['read'], 30);
    const both = (): boolean[] => [store.verify(token) !== null, store.holds(id)];
    const rewrite = async (change: (entry: Record<string, unknown>) => void) => {
      const file = JSON.parse(await readFile(node.file, 'utf8')) as Record<string, unknown>;
      const [entry = {}] = file['tokens'] as Record<string, unknown>[];
      change(entry);
      await writeFile(node.file, JSON.stringify(file), { mode: 0o600 });
    };
    // Shortened by hand: a token that says more is none; a connection ends at the earlier time.
    await rewrite((entry) => (entry['expires_at'] = end - 1000));
    expect(both()).to.deep.equal([false, true]);
    clocks.advance(30 * DAY - 1.001);
    expect(store.holds(id)).to.equal(true);
    clocks.advance(0.001);
    expect(store.holds(id)).to.equal(false);
  });

  it('one that says an earlier end than the registry ends by it, in the time that it has lived', async () => {
    const { store, clocks } = node;
    const { token, token_id: tokenId, expires_at: end } = await node.mint(['read'], 30);
    const { salt } = JSON.parse(await readFile(node.file, 'utf8')) as { salt: string };
    const claims = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as TokenClaims;
    const signing = deriveTokenKey(node.pairingKey ?? '', Buffer.from(salt, 'hex'));
    const sooner = signToken(signing, { ...claims, expiresAt: end - DAY * 1000 });
    const both = (): boolean[] => [store.verify(sooner) !== null, store.verify(token) !== null];
    clocks.advance(29 * DAY - 0.001);
    expect(both()).to.deep.equal([true, true]);
    clocks.advance(0.001);
    expect(both()).to.deep.equal([false, true]);
    expect(store.holds(tokenId)).to.equal(true);
  });

  it('an open connection ends with the pairing and with tokens being off, not with the clock', async () => {
    const { token_id: id } = await node.mint();
    const { store, clocks } = node;
    expect([
      store.holds(id),
      store.holds('mct_other'),
      node.another({ accept: false }).holds(id),
    ]).to.deep.equal([true, false, false]);
    clocks.wallMs = CLOCK_FLOOR_MS - 1;
    expect(store.holds(id)).to.equal(true);
    clocks.wallMs = Date.UTC(2026, 5, 1);
    node.pairingKey = null;
    expect(store.holds(id)).to.equal(false);
  });

  for (const [name, stepMs] of [
    ['a day', DAY * 1000],
    ['ten years', 3650 * DAY * 1000],
  ] as const)
    for (const way of [1, -1] as const)
      it(`D3 a clock set ${way === 1 ? 'ahead' : 'back'} by ${name}: a token ends when it has lived its time, and not before, also over a restart`, async () => {
        const { clocks } = node;
        const { token, token_id: id } = await node.mint(['read'], 30);
        clocks.advance(60);
        clocks.wallMs += way * stepMs;
        const both = (store = node.another()): boolean[] => [store.verify(token) !== null, store.holds(id)];
        expect([both(node.store), both()]).to.deep.equal([
          [true, true],
          [true, true],
        ]);
        clocks.advance(30 * DAY - 61);
        clocks.restart();
        expect(both()).to.deep.equal([true, true]);
        clocks.advance(1);
        expect([both(node.store), both()]).to.deep.equal([
          [false, false],
          [false, false],
        ]);
        clocks.wallMs -= way * stepMs;
        expect(both(), 'the clock set right').to.deep.equal([false, false]);
      });

  it('lives in a registry for 365 days at most, whoever wrote it', async () => {
    const { store, clocks } = node;
    const { token_id: id, expires_at: end } = await node.mint(['read'], 365);
    const text = await readFile(node.file, 'utf8');
    await writeFile(node.file, text.replace(String(end), String(end + DAY * 1000)), { mode: 0o600 });
    clocks.advance(365 * DAY - 0.001);
    expect([store.holds(id), store.status().tokens[0]?.expired]).to.deep.equal([true, false]);
    clocks.advance(0.001);
    expect([store.holds(id), store.status().tokens[0]?.expired]).to.deep.equal([false, true]);
  });

  it('D3 while nobody can read what has ended, no token counts', async () => {
    const { token } = await node.mint();
    await symlink('/dev/null', join(node.dir, 'ended'));
    const store = node.another();
    expect(store.verify(token)).to.equal(null);
    await rm(join(node.dir, 'ended'));
    expect(store.verify(token)).to.not.equal(null);
  });

  it('what has ended is a bounded file, survives half a line, and forgets nothing that it drops', async () => {
    const file = join(node.dir, 'ended');
    const ending = (n: number) => ({ kind: 'token', id: `mct_${n}`, expiresAt: 1000 + n }) as const;
    const open = () => new EndedCredentials(file, silentLog);
    const note = async (...endings: Parameters<EndedCredentials['note']>[0]): Promise<void> => {
      const ended = open();
      ended.note(endings);
      await ended.written();
    };
    await note(ending(1), { kind: 'session', id: 'abc', expiresAt: 5 });
    appendFileSync(file, '\ntoken mct_2');
    expect(open().has(ending(2))).to.equal(false);
    await note(ending(2));
    for (let n = 3; n < 6000; n += 500)
      await note(...Array.from({ length: 500 }, (_, index) => ending(n + index)));
    expect(statSync(file).size).to.be.lessThan(200_000);
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    const last = open();
    for (let n = 1; n < 6000; n++) expect(last.has(ending(n)), String(n)).to.equal(true);
    expect(last.has({ kind: 'session', id: 'abc', expiresAt: 5 })).to.equal(true);
    expect(last.has({ kind: 'session', id: 'def', expiresAt: 10_000 })).to.equal(false);
    expect(last.has(ending(100_000))).to.equal(false);
  });

  it('D3 ten years forward and back: what lives stays, what was minted meanwhile too', async () => {
    const { store, clocks } = node;
    const { token } = await node.mint(['read'], 365);
    clocks.wallMs += 3650 * DAY * 1000;
    expect(store.verify(token)).to.not.equal(null);
    const strange = await node.mint();
    clocks.wallMs -= 3650 * DAY * 1000;
    expect(store.verify(token)).to.not.equal(null);
    expect(store.verify(strange.token)).to.not.equal(null);
    expect(store.verify((await node.mint()).token)).to.not.equal(null);
    clocks.advance(30 * DAY);
    expect(store.verify(strange.token), 'when it has lived its time').to.equal(null);
  });

  it('D12 what is long expired leaves the registry and the denylist, and stays dead', async () => {
    const { store, clocks } = node;
    const gone = await node.mint(['read'], 1);
    await store.revoke(gone.token_id);
    clocks.advance(20 * DAY);
    await node.mint();
    expect(store.status().tokens[1]).to.include({ revoked: true, expired: true });
    clocks.advance(12 * DAY);
    await node.mint();
    expect(await readFile(node.file, 'utf8')).to.not.include(gone.token_id);
    clocks.wallMs -= 32 * DAY * 1000;
    expect(store.verify(gone.token)).to.equal(null);
  });

  it('holds 500 at most; revoking all makes room', async function () {
    this.timeout(60_000);
    for (let i = 0; i < 500; i++) await node.mint(['read'], 365);
    const error = await refusal(node.mint());
    expect(error).to.include({ code: 'E_INVALID_VALUE' });
    expect(error.message).to.include('500');
    await node.store.revokeAll();
    await node.mint();
    expect(node.store.status().tokens).to.have.length(501);
  });

  it('I7 two writers on one file lose nothing', async () => {
    const stores = [node.store, node.another(), node.another()];
    const minted = await Promise.all(
      Array.from({ length: 30 }, async (_, i) =>
        stores[i % 3]?.mint({ label: `${i}`, scopes: ['read'], ttlMs: null, allowedNodes: [] }),
      ),
    );
    const ids = minted.map((one) => one?.token_id).filter(isTokenId);
    await Promise.all(ids.map(async (id, i) => stores[i % 3]?.revoke(id)));
    const { tokens } = node.store.status();
    expect(tokens).to.have.length(30);
    expect(tokens.every(({ revoked }) => revoked)).to.equal(true);
  });
});

describe('bodies of the token routes', () => {
  const ajv = createAjv();
  const mint = compileValidator(ajv, mintRequest);
  const revoke = compileValidator(ajv, revokeRequest);

  it('mint', () => {
    for (const good of [
      { scopes: ['read'] },
      { scopes: [...SCOPES], label: 'x'.repeat(64), ttl_ms: 1, allowed_nodes: [] },
    ])
      expect(mint(good)).to.equal(null);
    for (const bad of [
      {},
      { scopes: [] },
      { scopes: ['root'] },
      { scopes: ['read', 'read'] },
      { scopes: 'read' },
      { scopes: ['read'], ttl_ms: 0 },
      { scopes: ['read'], ttl_ms: 1.5 },
      { scopes: ['read'], ttl_ms: '1' },
      { scopes: ['read'], label: 'x'.repeat(65) },
      { scopes: ['read'], allowed_nodes: Array.from({ length: 33 }, () => 'n') },
      { scopes: ['read'], operator_id: 'root' },
    ])
      expect(mint(bad), JSON.stringify(bad)).to.not.equal(null);
  });

  it('revoke: exactly one of token_id and all', () => {
    for (const good of [{ token_id: 'mct_x' }, { all: true }]) expect(revoke(good)).to.equal(null);
    for (const bad of [{}, { token_id: 'mct_x', all: true }, { all: false }, { token_id: 7 }, { any: true }])
      expect(revoke(bad), JSON.stringify(bad)).to.not.equal(null);
  });
});
