import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import { MockNetworkManager } from '../support/network/network-manager.ts';
import { ROOT, TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';

describe('svc network', function () {
  this.timeout(120_000);
  let manager: MockNetworkManager;
  let node: TestNode;

  before(async () => {
    manager = await MockNetworkManager.start();
    node = await TestNode.start({ args: ['--helper'], simulated: false, env: manager.env });
  });

  after(async () => {
    await node?.stop();
    await manager?.stop();
  });

  it('shows the interfaces, and what the card hears', async () => {
    const status = await svc(node.paths, 'network', 'status');
    expect(status.stderr).to.equal('');
    expect(status.stdout)
      .to.match(/^wlan0 +wifi +disconnected/m)
      .and.include('The hotspot is off.');
    const scan = await svc(node.paths, 'network', 'scan', '--json');
    expect((JSON.parse(scan.stdout) as { networks: unknown[] }).networks).to.have.length(3);
  });

  it('joins with the passphrase from stdin, says why a wrong one fails, leaves and forgets', async () => {
    const { etc, run, state } = node.paths;
    const env = { ...process.env, SVC_ETC_DIR: etc, SVC_RUN_DIR: run, SVC_STATE_DIR: state };
    const joined = (input: string): { status: number | null; stdout: string; stderr: string } =>
      spawnSync(process.execPath, [join(ROOT, 'bin/svc.js'), 'network', 'join', 'HomeNet', '--force'], {
        env,
        input,
        encoding: 'utf8',
        timeout: 50_000,
      });
    const wrong = joined('wrong horse\n');
    expect(wrong.status).to.equal(1);
    expect(wrong.stderr.replaceAll(/[\s›]+/g, ' ')).to.include('Secrets were required');
    const right = joined('correct horse\n');
    expect(right.stdout + right.stderr).to.equal('Joined HomeNet.\n');
    expect((await svc(node.paths, 'network', 'leave', '--force')).stdout).to.equal('Left HomeNet.\n');
    expect((await svc(node.paths, 'network', 'forget', 'HomeNet')).stdout).to.include('is forgotten');
  });
});
