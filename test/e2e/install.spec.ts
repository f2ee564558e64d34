import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../support/node.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';

describe('deploy/install.sh', function () {
  this.timeout(120_000);
  let dest: string;
  before(async () => {
    execFileSync('npm', ['run', '--silent', 'build'], { cwd: ROOT });
    dest = await tempDir();
  });
  after(async () => removeDir(dest));

  const install = () =>
    execFileSync(join(ROOT, 'deploy/install.sh'), ['--destdir', dest], { encoding: 'utf8' });

  it('installs twice over itself, and what it installed runs: the node and the command', async () => {
    install();
    await writeFile(join(dest, 'opt/svc/left-over'), '');
    install();
    expect(existsSync(join(dest, 'opt/svc/left-over'))).to.equal(false);
    expect(existsSync(join(dest, 'opt/.svc.old'))).to.equal(false);
    const unit = await readFile(join(dest, 'etc/systemd/system/svc.service'), 'utf8');
    const [, node = '', main = ''] = /^ExecStart=(\S+) (\S+)$/m.exec(unit) ?? [];
    expect((await stat(join(dest, main))).isFile()).to.equal(true);

    const dirs = {
      SVC_ETC_DIR: join(dest, 'n/etc'),
      SVC_RUN_DIR: join(dest, 'n/run'),
      SVC_STATE_DIR: join(dest, 'n/state'),
    };
    await mkdir(dirs.SVC_ETC_DIR, { recursive: true });
    const port = await freePort();
    const config = `api:\n  port: ${port}\nmavlink:\n  source: sim\n  endpoints: []\nvideo:\n  source: test\n  radio: ''\n`;
    await writeFile(join(dirs.SVC_ETC_DIR, 'config.yaml'), config);
    const env = { ...process.env, ...dirs };
    const supervisor = spawn(join(dest, node), [join(dest, main)], { env, stdio: 'ignore' });
    try {
      for (;;) {
        const live = await fetch(`http://127.0.0.1:${port}/api/video`).then(
          async (answer) => ((await answer.json()) as { fps?: number | null }).fps ?? null,
          () => null, // not up yet
        );
        if (live !== null) break;
      }
      const page = await fetch(`http://127.0.0.1:${port}/`);
      const [, script = ''] = /<script[^>]* src="([^"]+)"/.exec(await page.text()) ?? [];
      expect((await fetch(`http://127.0.0.1:${port}${script}`)).status, script).to.equal(200);
      const status = execFileSync(join(dest, node), [join(dest, 'opt/svc/bin/svc.js'), 'status', '--json'], {
        env,
        encoding: 'utf8',
      });
      expect(JSON.parse(status)).to.be.an('object');
      const svc = (...args: string[]) =>
        execFileSync(join(dest, node), [join(dest, 'opt/svc/bin/svc.js'), 'plugin', ...args], {
          cwd: dest,
          env,
          stdio: 'pipe',
        });
      svc('init', 'demo');
      svc('test', 'demo');
    } finally {
      const gone = once(supervisor, 'exit');
      supervisor.kill('SIGTERM');
      await gone;
    }
  });

  it('says what it needs', () => {
    expect(() => execFileSync(join(ROOT, 'deploy/install.sh'), ['--bad'], { stdio: 'pipe' })).to.throw(
      /unknown argument/,
    );
  });
});
