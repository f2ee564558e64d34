import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { isPidLocked, takePidLock } from '../../shared/files/pid-lock.ts';
import { ROOT } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const LOCK = join(ROOT, 'shared/files/pid-lock.ts');
const HOLDER = `
const { takePidLock } = await import(process.argv[1]);
console.log(takePidLock(process.argv[2]) === null ? 'refused' : 'held');
setInterval(() => undefined, 1000);
`;

describe('the lock of a process', () => {
  let folder: string;
  let path: string;
  let holder: ChildProcess;
  beforeEach(async () => {
    folder = await tempDir();
    path = join(folder, 'lock');
    holder = spawn(process.execPath, ['--input-type=module', '--eval', HOLDER, LOCK, path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = (await once(holder.stdout ?? holder, 'data')) as [Buffer];
    expect(String(said)).to.equal('held\n');
  });
  afterEach(async () => {
    holder.kill('SIGKILL');
    await removeDir(folder);
  });

  const change = async (members: Readonly<Record<string, unknown>>): Promise<void> => {
    const owner = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
    await writeFile(path, JSON.stringify({ ...owner, ...members }));
  };

  it('is held, also for one who sees another boot id, as in a container; and free once its process is gone', async () => {
    await change({ boot: 'of-the-host' });
    expect(isPidLocked(path)).to.equal(true);
    expect(takePidLock(path)).to.equal(null);
    holder.kill('SIGKILL');
    await once(holder, 'close');
    expect(isPidLocked(path)).to.equal(false);
    const release = takePidLock(path);
    expect(release).to.not.equal(null);
    release?.();
    expect(isPidLocked(path)).to.equal(false);
  });

  it('is not held by another process that has got the same number since', async () => {
    await change({ began: '1' });
    expect(isPidLocked(path)).to.equal(false);
  });

  it('without the time at which its process began, the boot id says whether it can still live', async () => {
    await change({ began: null });
    expect(isPidLocked(path)).to.equal(true);
    await change({ boot: 'of-another-boot' });
    expect(isPidLocked(path)).to.equal(false);
  });
});
