import { join } from 'node:path';
import { expect } from 'chai';
import { VehicleView } from '../../front/control/node/vehicle-view.ts';
import { RpcServer } from '../../shared/rpc/rpc.ts';
import { askAgain } from '../support/ask-again.ts';
import { removeDir, tempDir } from '../support/temp.ts';

describe('what the front knows of the vehicle', () => {
  it('a new svc-link has said nothing yet: what the one before said does not count for it', async () => {
    const dir = await tempDir();
    const path = join(dir, 'link.sock');
    const link = async (greeting: () => [string, unknown][]): Promise<RpcServer> => {
      const server = new RpcServer({
        path,
        methods: {},
        greeting,
        onError: (error) => {
          throw error;
        },
      });
      await server.start();
      return server;
    };
    const view = new VehicleView(path, () => 0); // no time passes
    const first = await link(() => [['state', { guard: false }]]);
    view.start();
    await askAgain(
      'armed',
      async () => view.armed,
      (armed) => armed === false,
    );
    await first.stop();
    await askAgain(
      'connected',
      async () => view.connected,
      (there) => !there,
    );
    const second = await link(() => []);
    await askAgain('connected', async () => view.connected, Boolean);
    expect([view.state, view.armed, view.anyArmed]).to.deep.equal([null, 'unknown', 'unknown']);
    view.stop();
    await second.stop();
    await removeDir(dir);
  });
});
