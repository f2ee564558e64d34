import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect } from 'chai';
import { paramSet } from '../link/ground-station.ts';
import { encodeAs } from '../link/mavlink-samples.ts';
import { KEY } from '../support/edge.ts';
import { armable, linkState, telemetry } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { freePort } from '../support/temp.ts';

const KEYED = { 'x-svc-key': KEY };
const EVERY_MS = 5;

/** docs/contract.md 6: who has just started knows nothing, so nothing passes that an armed vehicle must be spared. */
describe('a process that is killed in flight', function () {
  this.timeout(120_000);

  it('svc-link: no write of a ground station reaches the vehicle before its heartbeat has told; REST is closed as well', async () => {
    const port = await freePort();
    const node = await TestNode.start({
      pairing: { key: KEY },
      simulated: false,
      config: `mavlink:\n  source: sim\n  endpoints: ["udp:127.0.0.1:${port}"]\n`,
    });
    const valueOf = async (): Promise<unknown> =>
      (await node.json('/api/params/RTL_ALT', { headers: KEYED })).body['value'];
    const station = createSocket('udp4').bind(0, '127.0.0.1');
    await once(station, 'listening');
    let writing: NodeJS.Timeout | undefined;
    try {
      await linkState(node, ({ params }) => params.cached > 0 && !params.priming);
      const before = await valueOf();
      expect(before).to.be.a('number');
      await armable(node, KEYED);
      await node.post('/api/command', { cmd: 'mode', args: ['GUIDED'] }, KEYED);
      expect((await node.post('/api/command', { cmd: 'arm' }, KEYED)).body).to.include({
        status: 'accepted',
      });
      // On the ground it would disarm by itself.
      await node.post('/api/command', { cmd: 'takeoff', args: [10] }, KEYED);
      await linkState(node, ({ armed }) => armed === true);
      let seq = 0;
      writing = setInterval(() => {
        const write = Object.assign(paramSet('RTL_ALT', 4321, 1), { targetComponent: 1 });
        station.send(encodeAs(write, 'v2', seq++ & 0xff, 255, 190), port, '127.0.0.1');
      }, EVERY_MS);
      for (let time = 0; time < 3; time++) {
        await node.killAndAwaitSuccessor('svc-link');
        const put = await node.json('/api/params/RTL_ALT', {
          method: 'PUT',
          headers: { ...KEYED, 'content-type': 'application/json' },
          body: JSON.stringify({ value: 4321 }),
        });
        expect([put.status, put.body['code']]).to.deep.equal([409, 'E_ARMED']);
        await linkState(node, ({ armed, params }) => armed === true && params.cached > 0 && !params.priming);
        await telemetry(node, (told) => told['armed'] === true, KEYED); // the front hears it again
        expect(await valueOf(), `after kill ${time + 1}`).to.equal(before);
      }
    } finally {
      clearInterval(writing);
      station.close();
      await node.stop();
    }
  });
});
