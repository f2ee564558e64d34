import { once } from 'node:events';
import { lstatSync } from 'node:fs';
import { expect } from 'chai';
import { launchFront } from '../support/front.ts';

describe('a process that is asked to stop while it starts', () => {
  it('stops what it has started, exits 0 and leaves no socket: svc-control, while it waits for svc-link', async () => {
    const front = await launchFront('discovery:\n  mdns: false\n');
    const { process: child, paths } = front;
    let ready = false;
    child.on('message', () => {
      ready = true;
    });
    let stderr = '';
    const listens = new Promise<void>((resolve) => {
      child.stderr?.on('data', (chunk: Buffer) => {
        stderr += chunk.toString();
        if (stderr.includes('listening on port')) resolve();
      });
    });
    await listens;
    expect(lstatSync(paths.controlSocket).isSocket()).to.equal(true);
    const gone = once(child, 'close');
    child.kill('SIGTERM');
    expect(await gone, stderr).to.deep.equal([0, null]);
    expect(ready).to.equal(false);
    expect(lstatSync(paths.controlSocket, { throwIfNoEntry: false })).to.equal(undefined);
    expect(stderr).to.include('stopping: SIGTERM').and.not.include('did not stop');
    await front.stop();
  });
});
