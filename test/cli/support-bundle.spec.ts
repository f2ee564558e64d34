import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const PASSWORD = 'hunter22-camera';

describe('svc support-bundle', () => {
  it('K9 holds what helps and no secret, with the node up and with the node down', async () => {
    const config = `video:\n  source: none\n  password: ${PASSWORD}\nmcp:\n  token_accept_enabled: true\n`;
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
      const secrets = [
        KEY,
        PASSWORD,
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
      const down = await check('down', 8);
      expect(down).to.include.members(['audit.ndjson', 'doctor.json']).and.not.include('status.json');
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
});
