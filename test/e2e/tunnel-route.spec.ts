import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { LoneHelper } from '../support/helper.ts';

const run = promisify(execFile);
const DEVICE = `svct${process.pid % 100000}`;

describe('a tunnel and its route, with the system’s own ip and tc', () => {
  let helper: LoneHelper;
  before(async () => {
    helper = await LoneHelper.prepare();
    expect(await helper.start({ SVC_HELPER_PATH: '/usr/sbin:/usr/bin:/sbin:/bin' })).to.equal(null);
    await run('ip', ['tuntap', 'add', 'dev', DEVICE, 'mode', 'tun']);
    await run('ip', ['addr', 'add', '10.79.9.2/24', 'dev', DEVICE]);
    await run('ip', ['link', 'set', DEVICE, 'up']);
  });
  after(async () => {
    await run('ip', ['link', 'del', DEVICE]);
    await helper.stop();
  });

  it('are set so that TCP sends again soon what is lost, and no faster than the rate, also by the next run of the node', async () => {
    const route = async (): Promise<string> =>
      (await run('ip', ['-4', 'route', 'get', '10.79.9.1'])).stdout.replaceAll(/\s+/g, ' ');
    expect(await route())
      .to.include(`dev ${DEVICE} src 10.79.9.2`)
      .and.not.include('rto_min');
    for (const mbit of [3, 3, 5]) {
      const answer = await helper.ask('tunnel_priority', { device: DEVICE, kbps: mbit * 1000 });
      expect(answer).to.include({ done: true, quick: true });
      const { stdout: classes } = await run('tc', ['class', 'show', 'dev', DEVICE]);
      expect(classes).to.match(new RegExp(`htb 1:10 .*rate ${mbit}Mbit`));
      const routes = (await run('ip', ['-4', 'route', 'show', 'dev', DEVICE])).stdout.trim().split('\n');
      expect(routes).to.have.length(1);
      expect(routes[0]).to.match(/^10\.79\.9\.0\/24 .*\bsrc 10\.79\.9\.2 .*\brto_min (lock )?60ms/);
      expect(await route()).to.include(`dev ${DEVICE} src 10.79.9.2`);
    }
  });
});
