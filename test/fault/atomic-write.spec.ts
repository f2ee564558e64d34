import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, link, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { writeAtomic } from '../../shared/files/atomic-write.ts';
import { ROOT } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

describe('writeAtomic', () => {
  let dir: string;
  let path: string;
  beforeEach(async () => {
    dir = await tempDir();
    path = join(dir, 'store.json');
  });
  afterEach(async () => removeDir(dir));

  it('I1 kill -9 at any moment leaves the old or the new content, with its mode', async function () {
    this.timeout(120_000);
    const contents = ['a', 'b'].map((letter) => letter.repeat(200_000));
    const script = `
      const { writeAtomic } = await import(${JSON.stringify(join(ROOT, 'shared/files/atomic-write.ts'))});
      process.stdout.write('go\\n');
      for (let i = 0; ; i++) await writeAtomic(${JSON.stringify(path)}, (i % 2 ? 'a' : 'b').repeat(200_000), 0o600);`;
    await writeAtomic(path, contents[0] ?? '', 0o600);
    for (let round = 0; round < 15; round++) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await once(child.stdout, 'data');
      // Each round a little later into the writing; the writes themselves take about a millisecond.
      for (let spin = 0; spin < round * 3; spin++) await new Promise(setImmediate);
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
      expect(contents).to.include(await readFile(path, 'utf8'));
      expect((await stat(path)).mode & 0o777).to.equal(0o600);
    }
  });

  it('I3 a failure leaves the old content and no litter', async () => {
    await writeFile(path, 'old');
    await mkdir(join(dir, 'target'));
    for (const bad of [join(dir, 'missing/store.json'), join(dir, 'target')]) {
      const failed = await writeAtomic(bad, 'new').catch((error: unknown) => error);
      expect(failed, bad).to.be.instanceOf(Error);
    }
    expect(await readFile(path, 'utf8')).to.equal('old');
    expect(await readdir(dir)).to.have.members(['store.json', 'target']);
  });

  it('I6 refuses a symbolic and a hard link in its place', async () => {
    await writeFile(join(dir, 'elsewhere'), 'precious');
    await symlink(join(dir, 'elsewhere'), path);
    expect(await writeAtomic(path, 'new').catch((error: Error) => error.message)).to.include(
      'not a plain file',
    );
    const hard = join(dir, 'hard.json');
    await link(join(dir, 'elsewhere'), hard);
    expect(await writeAtomic(hard, 'new').catch((error: Error) => error.message)).to.include(
      'not a plain file',
    );
    expect(await readFile(join(dir, 'elsewhere'), 'utf8')).to.equal('precious');
  });

  it('gives the mode that was asked for, whatever the umask and the old mode', async () => {
    await writeFile(path, 'old');
    await chmod(path, 0o666);
    const before = process.umask(0o000);
    try {
      await writeAtomic(path, 'new', 0o600);
    } finally {
      process.umask(before);
    }
    expect((await stat(path)).mode & 0o777).to.equal(0o600);
  });
});
