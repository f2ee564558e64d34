import { expect } from 'chai';
import { SimProcess } from '../sim/sim-process.ts';
import { armable, linkState, telemetry } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';

describe('svc reboot-autopilot', () => {
  for (const firmware of ['ardupilot', 'px4'] as const)
    it(`${firmware}: waits until the vehicle is back, whose boot time has begun anew, disarmed, with its parameters`, async () => {
      await using sim = await SimProcess.start('--firmware', firmware, '--speedup', '0.2');
      const config = `mavlink:\n  source: tcp:127.0.0.1:${sim.port}\n  endpoints: []\n`;
      const node = await TestNode.start({ simulated: false, config });
      try {
        await node.knowsArmed();
        await armable(node);
        await linkState(node, ({ params }) => !params.priming);
        const name = firmware === 'px4' ? 'MIS_TAKEOFF_ALT' : 'RTL_ALT';
        const value = firmware === 'px4' ? 7 : 70;
        const write = {
          method: 'PUT',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ value }),
        };
        expect((await node.fetch(`/api/params/${name}`, write)).status).to.equal(200);
        const { code, stdout } = await svc(node.paths, 'reboot-autopilot');
        expect(stdout).to.match(/^Flight controller back after \d+(\.\d)? s\.$/m);
        expect(code).to.equal(0);
        await linkState(node, ({ params, armed }) => !params.priming && armed === false);
        expect((await node.json(`/api/params/${name}`)).body).to.include({ value });

        await armable(node);
        const armed = await node.post('/api/command', { cmd: 'arm' });
        expect(armed.body).to.include({ status: 'accepted' });
        await telemetry(node, (now) => now['armed'] === true);
        const refused = await node.post('/api/command', { cmd: 'rebootAutopilot' });
        expect([refused.status, refused.body['code']]).to.deep.equal([409, 'E_ARMED']);
        expect((await svc(node.paths, 'cmd', 'rebootAutopilot')).code).to.not.equal(0);
        expect((await node.json('/api/telemetry')).body).to.include({ armed: true });
      } finally {
        await node.stop();
      }
    });
});
