import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
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
    expect((JSON.parse(scan.stdout) as { networks: unknown[] }).networks).to.have.length(6);
  });

  it('joins with the passphrase from stdin, says why a wrong one fails, leaves and forgets', async () => {
    const { etc, run, state } = node.paths;
    const env = { ...process.env, SVC_ETC_DIR: etc, SVC_RUN_DIR: run, SVC_STATE_DIR: state };
    // Not awaited in one piece: NetworkManager's mock writes to a pipe that this process reads.
    const joined = async (input: string): Promise<{ status: unknown; stdout: string; stderr: string }> => {
      const args = [join(ROOT, 'bin/svc.js'), 'network', 'join', 'HomeNet', '--force'];
      const child = spawn(process.execPath, args, { env, timeout: 50_000 });
      child.stdin.end(input);
      const [stdout, stderr, [status]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'exit'),
      ]);
      return { status, stdout, stderr };
    };
    const wrong = await joined('wrong horse\n');
    expect(wrong.status).to.equal(1);
    expect(wrong.stderr.replaceAll(/[\s›]+/g, ' ')).to.include('Secrets were required');
    const right = await joined('correct horse\n');
    expect(right.stdout + right.stderr).to.equal('Joined HomeNet.\n');
    expect((await svc(node.paths, 'network', 'leave', '--force')).stdout).to.equal('Left HomeNet.\n');
    expect((await svc(node.paths, 'network', 'forget', 'HomeNet')).stdout).to.include('is forgotten');
  });
});
