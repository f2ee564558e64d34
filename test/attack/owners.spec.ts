import { chown, link, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { PairingStore } from '../../front/control/stores/pairing.ts';
import { TokenFileReader } from '../../front/control/stores/token-file.ts';
import { Recordings } from '../../residual/app/video/recordings.ts';
import { loadConfig } from '../../shared/config/load.ts';
import { readPrivate, readPrivateSync } from '../../shared/files/private-file.ts';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { silentLog } from '../support/pin-stores.ts';
import { refusal } from '../support/refusal.ts';
import { svc } from '../support/svc.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

interface Check {
  readonly name: string;
  readonly result: string;
  readonly found: string;
}

describe('files of another owner, and links', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await tempDir();
  });
  afterEach(async () => removeDir(dir));

  const PAIRING = JSON.stringify({ paired: true, api_key: KEY, owner_id: 'x', paired_at: 1 });
  const pairingOf = async (file: string): Promise<PairingStore> => {
    const store = new PairingStore({
      file,
      now: Date.now,
      monotonic: () => performance.now(),
      log: silentLog,
    });
    await store.start();
    await store.stop();
    return store;
  };

  /** Each way in which somebody else could have chosen a file. */
  const MEANS: readonly [string, (file: string) => Promise<void>][] = [
    [
      'of another user',
      async (file) => {
        await chown(file, NOBODY, NOBODY);
      },
    ],
    [
      'behind a symbolic link',
      async (file) => {
        await rename(file, `${file}.elsewhere`);
        await symlink(`${file}.elsewhere`, file);
      },
    ],
    [
      'with a second name',
      async (file) => {
        await link(file, `${file}.second`);
      },
    ],
  ];

  for (const [name, spoil] of MEANS) {
    it(`${name}: no pairing, no token, no config, no secret`, async function () {
      if (!isRoot) this.skip();
      const pairing = join(dir, 'pairing.json');
      await writeFile(pairing, PAIRING, { mode: 0o600 });
      expect((await pairingOf(pairing)).key).to.equal(KEY);
      await spoil(pairing);
      const store = await pairingOf(pairing);
      expect(store.key).to.equal(null);
      expect(store.paired, 'closed, not free to claim').to.equal(true);
      expect(store.problem).to.include(pairing);

      const secret = join(dir, 'secret');
      await writeFile(secret, 'x', { mode: 0o600 });
      await spoil(secret);
      expect(await readPrivate(secret).catch((error: Error) => error.message)).to.include(secret);
      expect(() => readPrivateSync(secret)).to.throw(secret);

      const tokens = join(dir, 'mcp-token.json');
      await writeFile(tokens, '{"salt":"00112233445566778899aabbccddeeff","revoked":[],"tokens":[]}', {
        mode: 0o600,
      });
      expect(new TokenFileReader(tokens).read().kind).to.equal('read');
      await spoil(tokens);
      expect(new TokenFileReader(tokens).read().kind).to.equal('broken');

      const config = join(dir, 'config.yaml');
      await writeFile(config, 'mcp:\n  token_accept_enabled: true\n');
      await spoil(config);
      const loaded = await loadConfig({
        config,
        configLastGood: join(dir, 'none'),
        configChecked: join(dir, 'neither'),
      });
      expect(loaded.config.mcp.token_accept_enabled).to.equal(false);
      expect(loaded.problem).to.include(config);
    });
  }

  it('svc doctor names each of them', async function () {
    if (!isRoot) this.skip();
    const node = await TestNode.start({ pairing: { key: KEY }, simulated: false });
    try {
      const failed = async (): Promise<readonly string[]> => {
        const { stdout } = await svc(node.paths, 'doctor', '--json');
        return (JSON.parse(stdout) as { checks: readonly Check[] }).checks
          .filter(({ result }) => result === 'fail')
          .map(({ name }) => name);
      };
      await chown(node.paths.pairing, NOBODY, NOBODY);
      await chown(node.paths.config, NOBODY, NOBODY);
      await chown(node.paths.auditKey, NOBODY, NOBODY);
      await symlink('/dev/null', node.paths.mcpToken);
      expect(await failed()).to.include.members([
        'pairing file',
        'config',
        'key of the audit',
        'token store',
      ]);
    } finally {
      await node.stop();
    }
  });

  it('a link among the recordings is neither listed nor served nor deleted', async () => {
    const recordings = new Recordings(join(dir, 'recordings'));
    await mkdir(recordings.directory);
    await writeFile(join(dir, 'pairing.json'), PAIRING);
    await symlink(join(dir, 'pairing.json'), join(recordings.directory, '20260101T000000.000Z.mp4'));
    await mkdir(join(recordings.directory, 'folder.mp4'));
    await writeFile(join(recordings.directory, 'real.mp4'), 'pictures');
    expect((await recordings.list()).map(({ name }) => name)).to.deep.equal(['real.mp4']);
    for (const name of ['20260101T000000.000Z.mp4', 'folder.mp4', '../pairing.json', 'none.mp4']) {
      expect((await refusal(recordings.open(name))).code).to.equal('E_NOT_FOUND');
      expect((await refusal(recordings.remove(name))).code).to.equal('E_NOT_FOUND');
    }
    const file = await recordings.open('real.mp4');
    // Whoever swaps the name afterwards swaps nothing of what is sent.
    await rm(join(recordings.directory, 'real.mp4'));
    expect(await readFile(`/proc/self/fd/${file.fd}`, 'utf8')).to.equal('pictures');
    await file.close();
  });
});
