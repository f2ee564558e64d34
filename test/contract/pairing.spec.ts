import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { askAgain } from '../support/ask-again.ts';
import { telemetry } from '../support/events.ts';
import { TestNode } from '../support/node.ts';

describe('pairing', () => {
  let node: TestNode;
  before(async () => {
    node = await TestNode.start();
  });
  // Unpaired, as it was before.
  afterEach(async () => {
    await rm(node.paths.pairing, { force: true });
    await until(undefined, 200);
  });
  after(async () => node.stop());

  const claim = async (body: object = { user_id: 'alice' }) => node.post('/api/pairing/claim', body);
  const status = async (key?: string) =>
    (await node.request('/api/status', key === undefined ? {} : { headers: { 'x-svc-key': key } })).status;
  const until = async (key: string | undefined, wanted: number) =>
    askAgain(
      `${wanted} with ${String(key)}`,
      async () => status(key),
      (code) => code === wanted,
      10_000, // 2 s, and what a busy machine adds
    );
  const disarmed = async (key?: string): Promise<void> => {
    // Until the link has said that the vehicle is disarmed, the guard holds.
    const headers = key === undefined ? {} : { 'x-svc-key': key };
    await telemetry(node, ({ armed }) => armed === false, headers);
  };

  it('info, code, claim, unpair', async () => {
    const info = await node.json('/api/pairing/info');
    expect(info.body).to.include({ paired: false, paired_at: null });
    const code = await node.json('/api/pairing/code');
    expect(code.body['code']).to.match(/^[ABCDEFGHJKMNPQRSTUVWXYZ23456789]{6}$/);
    expect((await node.json('/api/pairing/code')).body['code']).to.equal(code.body['code']);

    expect((await claim({ user_id: 'alice', code: 'AAAAAA' })).body).to.include({ code: 'E_CODE' });
    const paired = await claim({ user_id: 'alice', code: code.body['code'] });
    expect(paired.status).to.equal(200);
    const key = String(paired.body['api_key']);
    expect(key).to.match(/^svc_[A-Za-z0-9_-]{43}$/);

    const file = JSON.parse(await readFile(node.paths.pairing, 'utf8')) as Record<string, unknown>;
    expect(file).to.include({ paired: true, api_key: key, owner_id: 'alice' });
    expect((await stat(node.paths.pairing)).mode & 0o777).to.equal(0o600);
    const backup = `${node.paths.pairing}.bak`;
    expect(await readFile(backup, 'utf8')).to.equal(await readFile(node.paths.pairing, 'utf8'));
    expect((await stat(backup)).mode & 0o777).to.equal(0o600);

    expect((await claim()).body).to.include({ code: 'E_PAIRED' });
    expect((await node.json('/api/pairing/code')).body).to.include({ code: 'E_PAIRED' });
    expect(await status()).to.equal(401);
    expect(await status(key)).to.equal(200);

    await disarmed(key);
    expect((await node.post('/api/pairing/unpair', {})).status).to.equal(401);
    expect((await node.post('/api/pairing/unpair', {}, { 'x-svc-key': key })).body).to.deep.equal({
      paired: false,
    });
    expect(await readFile(backup, 'utf8')).to.not.include(key);
    expect(await status()).to.equal(200); // unpaired again, and this is loopback
    const again = String((await claim()).body['api_key']);
    expect(again).to.not.equal(key);
    expect(await status(key)).to.equal(401); // C4
    expect(await status(again)).to.equal(200);
  });

  it('E2 of 50 parallel claims one gets a key, and the file holds that key', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, async () => claim()));
    const won = answers.filter(({ status: code }) => code === 200);
    expect(won).to.have.length(1);
    expect(answers.filter(({ status: code }) => code === 409)).to.have.length(49);
    expect(JSON.parse(await readFile(node.paths.pairing, 'utf8'))).to.include({
      api_key: won[0]?.body['api_key'],
    });
  });

  it('C5 a file that root replaces counts within 2 s; a broken or readable one closes the node', async () => {
    const write = async (text: string, mode: number) => {
      await writeFile(`${node.paths.pairing}.new`, text, { mode });
      await rename(`${node.paths.pairing}.new`, node.paths.pairing);
    };
    const text = (key: string) =>
      JSON.stringify({ paired: true, api_key: key, owner_id: 'root', paired_at: 1 });
    await write(text('svc_first'), 0o600);
    await until('svc_first', 200);
    await until(undefined, 401);
    await write(text('svc_second'), 0o600);
    await until('svc_second', 200);
    expect(await status('svc_first')).to.equal(401);
    await write('{"paired": tr', 0o600);
    await until('svc_second', 401);
    await until(undefined, 401);
    await write(text('svc_third'), 0o644);
    expect(await status('svc_third')).to.equal(401);
    await write(text('svc_fourth'), 0o600);
    await until('svc_fourth', 200);
    await rm(node.paths.pairing);
    await until(undefined, 200);
  });

  it('a pairing that cannot be written is 503, and the node stays unpaired', async () => {
    // A directory in the file's place fails for root too.
    const { mkdir } = await import('node:fs/promises');
    await mkdir(node.paths.pairing);
    const answer = await claim();
    expect(answer.status).to.be.oneOf([409, 503]); // a thing in its place is a broken pairing: paired and closed
    expect(answer.body).to.include.keys('detail', 'code');
    await rm(node.paths.pairing, { recursive: true });
  });
});

describe('the pairing code', () => {
  it('E6 five wrong codes make a new one and a pause; the old code is worth nothing', async () => {
    const node = await TestNode.start();
    const claim = async (body: object) => node.post('/api/pairing/claim', body);
    const old = (await node.json('/api/pairing/code')).body['code'];
    for (let i = 0; i < 5; i++)
      expect((await claim({ user_id: 'eve', code: 'AAAAAA' })).status).to.equal(403);
    const fresh = (await node.json('/api/pairing/code')).body['code'];
    expect(fresh).to.not.equal(old);
    const paused = await node.request('/api/pairing/claim', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ user_id: 'eve', code: fresh }),
    });
    expect(paused.status).to.equal(429);
    expect(Number(paused.headers['retry-after'])).to.be.within(1, 30);
    await node.stop();
  });
});
