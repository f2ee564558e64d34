import { spawnSync } from 'node:child_process';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { messageOf } from '../../shared/errors.ts';
import { writeAtomic } from '../../shared/files/atomic-write.ts';
import { askAgain } from '../support/ask-again.ts';
import { TestNode } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

describe('files of state that are gone, or cannot be read', function () {
  this.timeout(120_000);

  it('an audit key that cannot be read is named, with the cause, in the refusal', async () => {
    const node = await TestNode.start({
      prepare: async (paths) => {
        await mkdir(paths.auditKey, { recursive: true }); // root, who runs the tests, may read every file
      },
    });
    try {
      const { status, body } = await node.post('/api/services/svc-link/restart', {});
      expect([status, body['code']]).to.deep.equal([503, 'E_AUDIT']);
      expect(body['detail']).to.include(node.paths.auditKey).and.not.include('Free some disk space');
    } finally {
      await node.stop();
    }
  });

  it('the folder that is deleted in use is a problem of the health, also when something makes it anew', async () => {
    const node = await TestNode.start();
    const problems = async (): Promise<string> => {
      const { health } = (await node.json('/api/status')).body as { health: { problems: unknown } };
      return JSON.stringify(health.problems);
    };
    try {
      expect(await problems()).to.not.include('was deleted');
      await rm(node.paths.state, { recursive: true, force: true });
      const isTold = (said: string): boolean => said.includes(node.paths.state) && said.includes('"state"');
      await askAgain('it is told', problems, isTold);
      await mkdir(node.paths.state, { recursive: true });
      await askAgain('it is told still', problems, isTold);
    } finally {
      await node.stop();
    }
  });

  it('a config file that is mounted by itself is named, and what helps', async function () {
    const folder = await tempDir();
    const file = join(folder, 'config.yaml');
    await writeFile(file, 'a: 1\n');
    if (spawnSync('mount', ['--bind', file, file]).status !== 0) {
      await removeDir(folder);
      return this.skip(); // only root may mount
    }
    try {
      const said = await writeAtomic(file, 'a: 2\n').then(() => '', messageOf);
      expect(said).to.include(`${file} is mounted by itself`).and.include('Mount the folder');
      expect(await readdir(folder)).to.deep.equal(['config.yaml']);
    } finally {
      spawnSync('umount', [file]);
      await removeDir(folder);
    }
  });
});
