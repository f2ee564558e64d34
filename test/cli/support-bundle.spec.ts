import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { bindTo, boundPair, DRONE } from '../support/radios.ts';
import { svc } from '../support/svc.ts';
import { removeDir, tempDir } from '../support/temp.ts';

// As JSON and as an address it is written otherwise.
const PASSWORD = 'hunter22"camera/x';
const FORMS = [PASSWORD, JSON.stringify(PASSWORD).slice(1, -1), encodeURIComponent(PASSWORD)];

interface Bundle {
  readonly files: readonly string[];
  readonly missing: readonly { readonly file: string; readonly why: string }[];
}

describe('svc support-bundle', () => {
  it('K9 holds what helps and no secret, with the node up and with the node down', async () => {
    const config = `video:\n  source: none\n  password: '${PASSWORD}'\nmcp:\n  token_accept_enabled: true\n`;
    const node = await TestNode.start({ pairing: { key: KEY }, simulated: false, config });
    const folder = await tempDir();
    try {
      await node.post('/api/dashboard/pin/set', { pin: '735512' }, { 'x-svc-key': KEY });
      const minted = await node.post(
        '/api/mcp/tokens',
        { scopes: ['read'], label: 'x' },
        { 'x-svc-key': KEY },
      );
      const token = String(minted.body['token']);
      const pin = JSON.parse(await readFile(node.paths.dashboardPin, 'utf8')) as Record<string, unknown>;
      const { salt } = JSON.parse(await readFile(node.paths.mcpToken, 'utf8')) as { salt: string };
      const { secret: relaySecret, atDrone } = boundPair();
      await bindTo(DRONE, atDrone)(node.paths);
      const secrets = [
        KEY,
        ...FORMS,
        relaySecret.toString('hex'),
        atDrone.own_secret,
        salt,
        token,
        token.split('.')[1] ?? '',
        '735512',
        ...Object.values(pin).filter((v) => typeof v === 'string' && v.length > 12),
      ];
      await node.json('/api/status', { headers: { 'x-svc-mcp-token': token } });

      const check = async (name: string, least: number): Promise<readonly string[]> => {
        const file = join(folder, `${name}.tar.gz`);
        const { code, stdout, stderr } = await svc(node.paths, 'support-bundle', '--output', file, '--json');
        expect(code, stderr).to.equal(0);
        expect((await stat(file)).mode & 0o777).to.equal(0o600);
        const into = join(folder, name);
        await mkdir(into);
        execFileSync('tar', ['-xzf', file, '-C', into]);
        const files = await readdir(into);
        expect(files.length).to.be.at.least(least);
        for (const each of files) {
          const text = await readFile(join(into, each), 'utf8');
          for (const secret of secrets)
            expect(text.includes(String(secret)), `${each}: ${String(secret).slice(0, 4)}…`).to.equal(false);
        }
        expect(JSON.parse(stdout)).to.deep.include({ file });
        return files;
      };
      const up = await check('up', 14);
      expect(up).to.include.members([
        'status.json',
        'config.json',
        'logs.ndjson',
        'audit.ndjson',
        'doctor.json',
        'manifest.json',
      ]);
      await node.stop({ keep: true });
      // What a camera's own library might say; without a node, the log's file is taken.
      const said = [
        KEY,
        token,
        ...FORMS,
        relaySecret.toString('hex'),
        salt,
        pin['pin_hash'],
        pin['salt'],
      ].map((secret) => JSON.stringify({ level: 'error', msg: `rtsp://pilot:${String(secret)}@cam` }));
      await mkdir(node.paths.logDir, { recursive: true });
      await writeFile(join(node.paths.logDir, 'svc.log'), `${[...FORMS, ...said].join('\n')}\nlast line\n`);
      const down = await check('down', 8);
      expect(down).to.include.members(['audit.ndjson', 'doctor.json']).and.not.include('status.json');
      expect(down).to.include('log-file.txt').and.include('config-file.json');
      const log = await readFile(join(folder, 'down/log-file.txt'), 'utf8');
      expect(log)
        .to.include('rtsp://pilot:***@cam')
        .and.match(/last line\n$/);
      const masked = JSON.parse(await readFile(join(folder, 'down/config-file.json'), 'utf8')) as {
        video: { password: string };
      };
      expect(masked.video.password).to.equal('***');
      const manifest = JSON.parse(await readFile(join(folder, 'down/manifest.json'), 'utf8')) as {
        missing: { file: string; why: string }[];
      };
      expect(manifest.missing.map(({ file }) => file)).to.include('status.json');
      await writeFile(join(folder, 'file'), '');
      const { code } = await svc(node.paths, 'support-bundle', '--output', join(folder, 'file/x.tar.gz'));
      expect(code).to.equal(1);
    } finally {
      await node.remove();
      await removeDir(folder);
    }
  });

  it('with a node that hangs: ends, and says what it took too long for', async () => {
    const node = await TestNode.start({ simulated: false });
    const folder = await tempDir();
    const frozen = [node.pid('svc-supervisor'), node.pid('svc-control')]; // the one would replace the other
    for (const pid of frozen) process.kill(pid, 'SIGSTOP');
    try {
      const file = join(folder, 'hung.tar.gz');
      const { code, stdout } = await svc(node.paths, 'support-bundle', '--output', file, '--json');
      expect(code).to.equal(0);
      const { missing, files } = JSON.parse(stdout) as Bundle;
      expect(missing).to.deep.include({ file: 'status.json', why: 'It took too long.' });
      expect(missing).to.deep.include({ file: 'logs.ndjson', why: 'It took too long.' });
      expect(files).to.include.members(['config-file.json', 'doctor.json', 'manifest.json']);
      expect(await readdir(folder)).to.deep.equal(['hung.tar.gz']); // nothing is left beside it
    } finally {
      for (const pid of frozen) process.kill(pid, 'SIGCONT');
      await node.stop();
      await removeDir(folder);
    }
  });
});
