import { readFile, stat } from 'node:fs/promises';
import { expect } from 'chai';
import { setConfigKey } from '../../shared/config/write.ts';
import { pathsFrom } from '../../shared/paths.ts';
import { TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';
import { removeDir, tempDir } from '../support/temp.ts';

describe('svc profile', function () {
  this.timeout(90_000);

  it('changes a node that runs through its API, and restarts it if told so', async () => {
    const node = await TestNode.start();
    try {
      expect(await svc(node.paths, 'profile')).to.include({ code: 0, stdout: 'drone\n' });
      const set = await svc(node.paths, 'profile', 'set', 'ground-station', '--role', 'relay');
      expect(set.stdout).to.equal(
        'It is a ground-station from its next start on.\nin force after: svc services restart svc-supervisor\n',
      );
      const shown = await svc(node.paths, 'profile', '--json');
      expect(JSON.parse(shown.stdout)).to.deep.equal({ running: 'drone', configured: 'ground-station' });
      const wrong = await svc(node.paths, 'profile', 'set', 'drone', '--role', 'relay');
      expect(wrong.code).to.equal(1);

      const front = node.pid('svc-control');
      const restarted = await svc(node.paths, 'profile', 'set', 'ground-station', '--restart');
      expect(restarted.stdout).to.include('The node restarts.');
      await node.until(
        (services) =>
          services.every(({ state }) => state === 'running') &&
          services.some(({ name, pid }) => name === 'svc-control' && pid !== front),
      );
      expect((await svc(node.paths, 'profile')).stdout).to.equal('ground-station\n');
    } finally {
      await node.stop();
    }
  });

  it('changes the config file where no node runs, for the user of the node', async () => {
    const base = await tempDir();
    const paths = pathsFrom({
      SVC_ETC_DIR: base,
      SVC_RUN_DIR: `${base}/run`,
      SVC_STATE_DIR: `${base}/state`,
    });
    await setConfigKey(paths, 'agent.name', 'kite');
    const set = await svc(paths, 'profile', 'set', 'ground-station', '--json');
    expect(JSON.parse(set.stdout)).to.deep.equal({
      profile: 'ground-station',
      role: null,
      restart_required: [],
      restarting: false,
    });
    expect(await readFile(paths.config, 'utf8')).to.match(/name: kite\n {2}profile: ground-station\n/);
    expect((await stat(paths.config)).uid).to.equal((await stat(base)).uid);
    expect((await svc(paths, 'profile')).stdout).to.equal('ground-station, once it is started\n');
    expect((await svc(paths, 'profile', 'set', 'plane')).code).to.equal(2);
    await removeDir(base);
  });
});
