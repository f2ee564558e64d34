import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { paramSet } from '../link/ground-station.ts';
import { encodeAs } from '../link/mavlink-samples.ts';
import { KEY } from '../support/edge.ts';
import { armable, fileSays, gonePath, linkState, telemetry } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { freePort } from '../support/temp.ts';

const KEYED = { 'x-svc-key': KEY };
const EVERY_MS = 5;

/** docs/contract/flight.md: who has just started knows nothing, so nothing passes that an armed vehicle must be spared. */
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

  describe('J6 a guarded config key that waits', () => {
    let node: TestNode;
    const arm = async (): Promise<void> => {
      await armable(node, KEYED);
      await node.post('/api/command', { cmd: 'mode', args: ['GUIDED'] }, KEYED);
      expect((await node.post('/api/command', { cmd: 'arm' }, KEYED)).body).to.include({
        status: 'accepted',
      });
      await node.post('/api/command', { cmd: 'takeoff', args: [5] }, KEYED);
      await fileSays(node.paths.heldConfig, (text) => text.includes('svc-control'));
    };
    const put = async (key: string, value: unknown, more: object = {}): Promise<unknown> => {
      const { status, body } = await node.json('/api/config', {
        method: 'PUT',
        headers: { ...KEYED, 'content-type': 'application/json' },
        body: JSON.stringify({ key, value, ...more }),
      });
      return [status, body['code'] ?? body['restart_required']];
    };
    const waits = (name: string): readonly string[] => node.service(name).restart_required;
    /** The status of a row that the feature `peripherals` has. */
    const peripherals = async (): Promise<number> =>
      (await node.request('/api/peripherals', { headers: KEYED })).status;
    beforeEach(async () => {
      node = await TestNode.start({ pairing: { key: KEY } });
      await linkState(node, ({ armed }) => armed === false);
    });
    afterEach(async () => node.stop());

    it('svc-control, killed: goes on with the value of the arming, and says what waits; an override holds; disarmed and restarted, the file does', async () => {
      expect(await put('features.peripherals', false)).to.deep.equal([200, ['svc-control']]);
      await arm();
      await node.killAndAwaitSuccessor('svc-control');
      await linkState(node, ({ armed }) => armed === true);
      expect(await peripherals()).to.equal(200);
      expect(waits('svc-control')).to.deep.equal(['features.peripherals']);
      expect(await put('features.peripherals', false)).to.deep.equal([409, 'E_ARMED']);

      const text = await readFile(node.paths.config, 'utf8');
      await writeFile(node.paths.config, text.replace('features:', 'features:\n  vision: true'));
      await node.post('/api/services/svc-control/restart', { force: true }, KEYED);
      await node.until(() => waits('svc-control').length === 2);
      expect(waits('svc-control').toSorted()).to.deep.equal(['features.peripherals', 'features.vision']);

      expect(await put('features.peripherals', false, { force: true })).to.deep.equal([200, ['svc-control']]);
      await node.killAndAwaitSuccessor('svc-control');
      expect(await peripherals()).to.equal(501);
      expect(waits('svc-control')).to.deep.equal(['features.vision']);

      await node.post('/api/command', { cmd: 'killSwitch', args: ['KILL'] }, KEYED);
      await linkState(node, ({ armed }) => armed === false);
      await gonePath(node.paths.heldConfig);
      await node.post('/api/services/svc-control/restart', {}, KEYED);
      await node.until((all) =>
        all.some((each) => each.name === 'svc-control' && each.restart_required.length === 0),
      );
    });

    it('a node that ends in flight comes back with the values of the arming, and lets go of them when it hears a disarmed vehicle', async () => {
      await put('features.peripherals', false);
      await put('features.residual', false);
      await arm();
      node.supervisor.kill('SIGKILL');
      await node.gone();
      node = await TestNode.resume(node, {});
      await node.until((all) => all.every(({ state }) => state === 'running'));
      expect(await peripherals()).to.equal(200);
      expect(waits('svc-control')).to.deep.equal(['features.residual', 'features.peripherals']);
      expect(waits('svc-supervisor')).to.include('features.residual');
      expect(node.service('svc-residual').state).to.equal('running');
      await gonePath(node.paths.heldConfig);
      await node.killAndAwaitSuccessor('svc-control');
      expect(await peripherals()).to.equal(501);
    });
  });
});
