import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { adopt } from '../../connector/planes/discovery.ts';
import { createLogger } from '../../shared/process/logger.ts';
import { runConnector } from '../support/connector.ts';
import { KEY } from '../support/edge.ts';
import { StubNode } from '../support/stub-node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const STUB = '00000000000a';
const OTHER = '00000000000b';

describe('the fleet file', () => {
  const log = createLogger('svc-mcp', 'error');
  let home: string;
  let folder: string;
  let file: string;
  let stub: StubNode;
  let second: StubNode;
  beforeEach(async () => {
    home = await tempDir();
    folder = join(home, 'mcp');
    file = join(folder, 'fleet.json');
    stub = await StubNode.start(STUB);
    second = await StubNode.start(OTHER);
    for (const each of [stub, second]) {
      each.answers.set('POST /api/pairing/claim', [200, { api_key: KEY, device_id: each.deviceId }]);
      each.answers.set('POST /api/pairing/unpair', (req) => [
        req.headers['x-svc-key'] === KEY ? 200 : 401,
        { paired: false },
      ]);
    }
  });
  afterEach(async () => {
    await stub.leave();
    await second.leave();
    await removeDir(home);
  });

  const found = (...ids: readonly string[]) =>
    ids.map((deviceId) => ({
      deviceId,
      name: null,
      paired: false,
      host: (deviceId === OTHER ? second : stub).url.replace('http://', ''),
    }));
  const claims = (): readonly string[] =>
    [...stub.came, ...second.came].filter((came) => came.startsWith('POST /api/pairing/'));

  for (const mode of [0o640, 0o604, 0o660]) {
    it(`with mode ${mode.toString(8)} is refused, without a word of what it holds`, async () => {
      mkdirSync(folder);
      const nodes = [{ id: 'a', host: stub.url, key: KEY }];
      await writeFile(file, JSON.stringify({ nodes }));
      await chmod(file, mode);
      const { code, stderr } = await runConnector({ args: ['--target', 'local-fleet', file], home });
      expect(code).to.equal(1);
      expect(stderr).to.include('chmod 600').and.not.include(KEY);
    });
  }

  it('that cannot be written: no node is claimed', async () => {
    const nowhere = join(home, 'f'.repeat(250)); // too long for any name beside it, also for root
    const error = await adopt(found(STUB, OTHER), nowhere, 'me', log).catch((caught: unknown) => caught);
    expect(String(error)).to.match(/nothing was claimed/);
    expect(claims()).to.deep.equal([]);
  });

  it('that fills up after the claim: the claim is given back, and no other node is claimed', async () => {
    stub.answers.set('POST /api/pairing/claim', () => {
      rmSync(folder, { recursive: true });
      writeFileSync(folder, 'gone');
      return [200, { api_key: KEY, device_id: STUB }];
    });
    await adopt(found(STUB, OTHER), file, 'me', log);
    expect(claims()).to.deep.equal(['POST /api/pairing/claim', 'POST /api/pairing/unpair']);
  });

  it('holds each key before the next claim, and two connectors do not adopt at once', async () => {
    let during: unknown;
    stub.answers.set('POST /api/pairing/claim', () => {
      during ??= adopt(found('0000000000c3'), file, 'me', log).catch((caught: unknown) => caught);
      return [200, { api_key: KEY, device_id: STUB }];
    });
    await adopt(found(STUB, OTHER), file, 'me', log);
    expect(String(await during)).to.match(/another connector is adopting/);
    const { nodes } = JSON.parse(await readFile(file, 'utf8')) as { nodes: { id: string; key: string }[] };
    expect(nodes.map(({ id, key }) => [id, key])).to.deep.equal([
      [STUB, KEY],
      [OTHER, KEY],
    ]);
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
  });

  it('what it would not take is never adopted, and the others are', async () => {
    const bad = [
      'bad id!',
      '',
      'local',
      'a/../b',
      'x'.repeat(129),
      '\u202eid\u001b[2J',
      '__proto__',
      STUB.toUpperCase(),
    ];
    await adopt(found(...bad, STUB), file, 'me', log);
    expect(claims()).to.deep.equal(['POST /api/pairing/claim']);
    second.answers.set('POST /api/pairing/claim', [200, { api_key: 'a key\r\nx: y', device_id: OTHER }]);
    await adopt(found(OTHER), file, 'me', log, { named: new Set([OTHER]) });
    const { nodes } = JSON.parse(await readFile(file, 'utf8')) as { nodes: { id: string }[] };
    expect(nodes.map(({ id }) => id)).to.deep.equal([STUB]);
  });

  it('bad entries in it end nothing but themselves, are named without their keys, and stay when it is written', async () => {
    mkdirSync(folder);
    const bad = [
      { id: 'bad id!', host: stub.url, key: KEY },
      null,
      { id: 'nowhere', host: 'a b', key: KEY },
      { id: 'no-key', host: stub.url, key: 'line\nline' },
    ];
    const good = { id: 'good', host: stub.url, key: KEY };
    const nodes = [...bad, good, { ...good, name: 'its double' }];
    await writeFile(file, JSON.stringify({ nodes }), { mode: 0o600 });
    const { stdout, stderr } = await runConnector({
      args: ['--target', 'local-fleet', file, '--verify'],
      home,
    });
    expect(stdout).to.include('good');
    expect(stderr.match(/is left out/g)).to.have.length(5);
    expect(stderr).not.to.include(KEY);
    await adopt(found(STUB), file, 'me', log, { named: new Set([STUB]) });
    const written = JSON.parse(await readFile(file, 'utf8')) as { nodes: readonly object[] };
    expect(written.nodes.slice(0, -1)).to.deep.equal(nodes);
  });
});
