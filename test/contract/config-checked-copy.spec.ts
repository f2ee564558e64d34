import { chmod, readFile, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { ConfigStore } from '../../residual/app/config/store.ts';
import { keepChecked, readChecked } from '../../shared/config/checked-copy.ts';
import { loadConfig } from '../../shared/config/load.ts';
import { parseConfig } from '../../shared/config/parse.ts';
import { writeAtomic } from '../../shared/files/atomic-write.ts';
import { type Paths, pathsFrom } from '../../shared/paths.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const TEXT = 'agent:\n  name: checked\n';
const OTHER = 'agent:\n  name: another\n';

/** What a process believes without checking it again must be what it would have made of the file itself. */
describe('the copy of the config that was checked', () => {
  let dir: string;
  let paths: Paths;
  beforeEach(async () => {
    dir = await tempDir();
    paths = pathsFrom({ SVC_ETC_DIR: dir, SVC_STATE_DIR: dir, SVC_RUN_DIR: dir });
    await writeFile(paths.config, TEXT, { mode: 0o600 });
    await keepChecked(paths.configChecked, TEXT, parseConfig(TEXT, ''), async (file, text) =>
      writeAtomic(file, text, 0o600),
    );
  });
  afterEach(async () => removeDir(dir));

  it('is what would be made of the file', async () => {
    expect(await readChecked(paths.configChecked, TEXT)).to.deep.equal(parseConfig(TEXT, ''));
    expect((await loadConfig(paths)).config).to.deep.equal(parseConfig(TEXT, ''));
  });

  it('is none for another text: an edited file is checked, and refused where it is wrong', async () => {
    expect(await readChecked(paths.configChecked, OTHER)).to.equal(null);
    await writeFile(paths.config, OTHER);
    expect((await loadConfig(paths)).config.agent.name).to.equal('another');
    await writeFile(paths.config, 'agent:\n  nam: wrong\n');
    expect((await loadConfig(paths)).problem).to.include('nam');
  });

  const damages: Readonly<Record<string, (content: string) => string>> = {
    'half a file': (content) => content.slice(0, -20),
    'an empty file': () => '',
    'another value, with the old sum': (content) => content.replace('checked', 'changed'),
    'no JSON, with the old sum': (content) => `${content.split('\n')[0] ?? ''}\nnothing`,
  };
  for (const [what, damage] of Object.entries(damages))
    it(`is not believed: ${what}`, async () => {
      await writeFile(paths.configChecked, damage(await readFile(paths.configChecked, 'utf8')));
      expect(await readChecked(paths.configChecked, TEXT)).to.equal(null);
      expect((await loadConfig(paths)).config.agent.name).to.equal('checked');
    });

  it('is not believed where others can read or write it', async () => {
    await chmod(paths.configChecked, 0o640);
    expect(await readChecked(paths.configChecked, TEXT)).to.equal(null);
  });

  it('follows a key that is set, so that no secret of before stays in it', async () => {
    await new ConfigStore(paths).write('agent.name', 'after');
    const { text, config } = await loadConfig(paths);
    expect(await readChecked(paths.configChecked, text ?? '')).to.deep.equal(config);
    expect(await readFile(paths.configChecked, 'utf8')).to.not.include('checked');
  });
});
