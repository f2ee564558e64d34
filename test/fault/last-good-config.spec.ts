import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { ConfigStore } from '../../residual/app/config/store.ts';
import { pathsFrom } from '../../shared/paths.ts';
import { TestNode } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

describe('the last good copy of the config, when it cannot be written', () => {
  it('the change is made and the answer says so', async () => {
    const dir = await tempDir();
    const paths = pathsFrom({ SVC_ETC_DIR: dir, SVC_STATE_DIR: dir, SVC_RUN_DIR: dir });
    await mkdir(paths.configLastGood); // fails for root too
    await writeFile(paths.config, 'agent:\n  name: before\n', { mode: 0o600 });
    const written = await new ConfigStore(paths).write('agent.name', 'after');
    expect(written).to.include({ value: 'after', persisted: true });
    expect(await readFile(paths.config, 'utf8')).to.include('after');
    await removeDir(dir);
  });

  it('the node starts', async () => {
    const node = await TestNode.start({
      config: 'agent:\n  name: here\n',
      prepare: async ({ configLastGood }) => {
        await mkdir(configLastGood, { recursive: true });
      },
    });
    expect((await node.json('/api/pairing/info')).status).to.equal(200);
    await node.stop();
  });
});
