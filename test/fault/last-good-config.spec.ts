import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { ConfigStore } from '../../residual/app/config/store.ts';
import { loadConfig } from '../../shared/config/load.ts';
import { setConfigKey } from '../../shared/config/write.ts';
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

describe('a configuration that a power cut emptied', () => {
  const GOOD = 'agent:\n  name: mine\n';
  for (const [name, text, isBroken] of [
    ['0 bytes', '', true],
    ['white space', ' \n\n', true],
    ['zeros', '\0'.repeat(GOOD.length), true],
    ['zeros after its beginning', `${GOOD.slice(0, 9)}${'\0'.repeat(9)}`, true],
    ['{}', '{}\n', false],
    ['a comment', '# as delivered\n', false],
  ] as const)
    it(`${name} beside a good copy: ${isBroken ? 'the good copy is in force, and stays' : 'the defaults are wanted'}`, async () => {
      const dir = await tempDir();
      const paths = pathsFrom({ SVC_ETC_DIR: dir, SVC_STATE_DIR: dir, SVC_RUN_DIR: dir });
      await writeFile(paths.config, text, { mode: 0o600 });
      await writeFile(paths.configLastGood, GOOD, { mode: 0o600 });
      const { config, problem } = await loadConfig(paths);
      expect([config.agent.name === 'mine', problem === null]).to.deep.equal([isBroken, !isBroken]);
      const written = await setConfigKey(paths, 'agent.name', 'after').catch((error: unknown) => error);
      if (isBroken) {
        expect(written).to.include({ code: 'E_STORE' });
        expect(await readFile(paths.configLastGood, 'utf8')).to.equal(GOOD);
        expect(await readFile(paths.config, 'utf8')).to.equal(text);
      }
      await removeDir(dir);
    });

  it('0 bytes without a good copy are the defaults', async () => {
    const dir = await tempDir();
    const paths = pathsFrom({ SVC_ETC_DIR: dir, SVC_STATE_DIR: dir, SVC_RUN_DIR: dir });
    await writeFile(paths.config, '', { mode: 0o600 });
    expect((await loadConfig(paths)).problem).to.equal(null);
    await removeDir(dir);
  });
});
