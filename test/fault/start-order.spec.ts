import { expect } from 'chai';
import type { Supervisor } from '../../bin/supervisor/supervisor.ts';
import { clientOf } from '../../shared/rpc/contract.ts';
import { SUPERVISOR } from '../../shared/rpc/supervisor.ts';
import { child, superviseIn } from '../support/supervised.ts';
import { removeDir, tempDir } from '../support/temp.ts';

/** It never says that it is ready. */
const MUTE = { args: ['-e', 'setInterval(() => undefined, 1000)'] };
const LATER = { ...child('svc-video'), wanted: true, later: true };

describe('the order in which a node starts', () => {
  let dir = '';
  let supervisor: Supervisor;
  let seen: string[] = [];
  let changed = Promise.withResolvers<void>();
  beforeEach(async () => {
    dir = await tempDir();
    seen = [];
    changed = Promise.withResolvers();
  });
  afterEach(async () => {
    supervisor.kill();
    await supervisor.stop();
    await removeDir(dir);
  });

  const stateOf = (name: string): string | undefined => supervisor.child(name)?.state;
  const open = (front: object): void => {
    const plan = [LATER, { ...child('svc-control', front), wanted: true }];
    supervisor = superviseIn(dir, plan, () => {
      seen.push(`${stateOf('svc-control')} ${stateOf('svc-video')}`);
      changed.resolve();
    });
  };

  it('what comes later is started once svc-control runs', async () => {
    open({});
    await supervisor.start(new AbortController().signal);
    expect(stateOf('svc-control')).to.equal('running');
    expect(supervisor.child('svc-video')?.status().pid).to.be.greaterThan(0);
    expect(seen.filter((states) => states.startsWith('starting starting'))).to.deep.equal([]);
  });

  it('but does not wait for one that does not come up, and one that was restarted meanwhile is not started twice', async () => {
    open(MUTE);
    const greeted = Promise.withResolvers<unknown>();
    const client = clientOf(SUPERVISOR, {
      path: `${dir}/supervisor.sock`,
      listeners: { services: greeted.resolve },
    });
    try {
      const started = supervisor.start(new AbortController().signal);
      client.start();
      await greeted.promise;
      const { pid_after: pid } = await client.calls.restart({ name: 'svc-video' });
      await started;
      expect(stateOf('svc-control')).to.equal('starting');
      expect(supervisor.child('svc-video')?.status()).to.include({ pid, restarts: 0 });
    } finally {
      client.stop();
    }
  });

  it('a stop in the meantime ends it: what comes later is not started', async () => {
    open(MUTE);
    const stop = new AbortController();
    const started = supervisor.start(stop.signal).catch((error: unknown) => error);
    await changed.promise;
    stop.abort();
    expect(await started).to.be.instanceOf(Error);
    await supervisor.stop();
    expect(supervisor.child('svc-video')?.status().pid).to.equal(null);
  });
});
