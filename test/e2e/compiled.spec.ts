import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import allCommands from '../../bin/cli/all-commands.ts';
import { ENTRIES } from '../../bin/supervisor/plan.ts';
import { ROOT } from '../support/node.ts';
import { buildTo } from '../support/svc-package.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';

describe('a compiled node, as it is deployed', () => {
  it('has no TypeScript in it, starts, answers and stops', async () => {
    const dir = await tempDir();
    try {
      await symlink(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
      await buildTo(join(dir, 'dist'));
      await cp(join(ROOT, 'package.json'), join(dir, 'package.json'));
      await mkdir(join(dir, 'bin'));
      await cp(join(ROOT, 'bin/svc.js'), join(dir, 'bin/svc.js'));
      const described = JSON.parse(readFileSync(join(dir, 'dist/oclif.manifest.json'), 'utf8')) as {
        readonly commands: object;
      };
      expect(Object.keys(described.commands)).to.have.members(Object.keys(allCommands));
      // One file has what it needs at its start, `parts` what it loads later.
      for (const entry of Object.values(ENTRIES))
        expect(readFileSync(join(dir, 'dist', `${entry}.js`), 'utf8')).not.to.match(
          /(?:from|import)[ (]*"\.(?!\/parts\/)/,
        );
      const port = await freePort();
      const env = {
        ...process.env,
        SVC_ETC_DIR: join(dir, 'etc'),
        SVC_RUN_DIR: join(dir, 'run'),
        SVC_STATE_DIR: join(dir, 'state'),
      };
      await mkdir(join(dir, 'etc'));
      await writeFile(join(dir, 'etc/config.yaml'), `api:\n  port: ${port}\nmavlink:\n  source: sim\n`);
      const node = spawn(process.execPath, [join(dir, 'dist/bin/supervisor/main.js')], {
        env,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      try {
        await new Promise<void>((resolve, reject) => {
          let text = '';
          node.stderr.on('data', (chunk: Buffer) => {
            text += chunk.toString();
            if (text.includes('svc-control is running')) resolve();
          });
          node.once('exit', () => reject(new Error(text)));
        });
        expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).to.equal(200);
        // Made by a program of its own, which must be there.
        const bundle = await fetch(`http://127.0.0.1:${port}/api/v1/support-bundle`);
        expect(bundle.status).to.equal(200);
        expect((await bundle.bytes()).length).to.be.greaterThan(1000);
        const { stdout } = await promisify(execFile)(
          process.execPath,
          [join(dir, 'bin/svc.js'), 'status', '--json'],
          { env },
        );
        expect(JSON.parse(stdout)).to.include({ profile: 'drone' });
      } finally {
        const gone = once(node, 'exit');
        node.kill('SIGTERM');
        await gone;
      }
      expect(node.exitCode).to.equal(0);
    } finally {
      await removeDir(dir);
    }
  });
});
