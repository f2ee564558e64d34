import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ChildSpec } from '../../bin/supervisor/child.ts';
import { deferred } from '../../shared/async/deferred.ts';
import { within } from '../../shared/async/within.ts';
import { clientOf } from '../../shared/rpc/contract.ts';
import { SUPERVISOR } from '../../shared/rpc/supervisor.ts';
import { child, superviseIn } from '../support/supervised.ts';
import { removeDir, tempDir } from '../support/temp.ts';

describe('a restart in flight', () => {
  it('does not wait for the config, which is on a disk that may stand still', async () => {
    const dir = await tempDir();
    // As it is kept while a vehicle is armed.
    await writeFile(join(dir, 'held-config.json'), '{}');
    let reads = 0;
    let wake: () => void = () => undefined;
    const specs: readonly ChildSpec[] = [{ ...child('svc-video'), wanted: true }];
    const plan = async (): Promise<readonly ChildSpec[]> =>
      ++reads === 1 ? specs : new Promise(() => undefined);
    const supervisor = superviseIn(dir, plan, () => wake());
    const connected = deferred();
    const client = clientOf(SUPERVISOR, {
      path: join(dir, 'supervisor.sock'),
      onConnection: () => connected.resolve(),
      listeners: {},
    });
    try {
      await supervisor.start(new AbortController().signal);
      while (supervisor.child('svc-video')?.state !== 'running')
        await new Promise<void>((resolve) => (wake = resolve));
      client.start();
      await connected.promise;
      const late = (): Error => new Error('it waits');
      const { pid_before: before, pid_after: after } = await within(
        client.calls.restart({ name: 'svc-video' }),
        20_000,
        late,
      );
      expect(after).to.be.a('number').that.does.not.equal(before);
    } finally {
      client.stop();
      await supervisor.stop();
      await removeDir(dir);
    }
  });
});
