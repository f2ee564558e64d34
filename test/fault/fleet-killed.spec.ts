import { writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { KEY } from '../support/edge.ts';
import { TestNode } from '../support/node.ts';

const KILLS = 4;

describe('svc-fleet', () => {
  it('may be killed again and again: svc-control and svc-link do not notice', async () => {
    const node = await TestNode.start({
      pairing: { key: KEY },
      // Enrolled, as far as the supervisor sees; nothing of it has to be readable for this.
      prepare: async (paths) => writeFile(paths.fleet, '{}', { mode: 0o600 }),
    });
    const before = [node.pid('svc-control'), node.pid('svc-link')];
    for (let kill = 0; kill < KILLS; kill++) {
      await node.killAndAwaitSuccessor('svc-fleet');
      const { status, body } = await node.json('/api/status', { headers: { 'x-svc-key': KEY } });
      expect(status).to.equal(200);
      expect(body['fc_connected']).to.equal(true);
    }
    expect([node.pid('svc-control'), node.pid('svc-link')]).to.deep.equal(before);
    expect(node.service('svc-fleet').restarts).to.equal(KILLS);
    await node.stop();
  });

  it('does not run on a node that is in no fleet, nor with the feature off', async () => {
    const alone = await TestNode.start();
    expect(alone.services.map(({ name }) => name)).not.to.include('svc-fleet');
    await alone.stop();
    const off = await TestNode.start({
      config: 'features:\n  fleet: false\n',
      prepare: async (paths) => writeFile(paths.fleet, '{}', { mode: 0o600 }),
    });
    expect(off.services.map(({ name }) => name)).not.to.include('svc-fleet');
    await off.stop();
  });
});
