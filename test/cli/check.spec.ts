import { expect } from 'chai';
import { SimProcess } from '../sim/sim-process.ts';
import { linkState } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';

describe('svc check', () => {
  for (const [firmware, words] of [
    ['ardupilot', 'PreArm: Compass not calibrated'],
    ['px4', 'the checks fail, and the vehicle has not said why'],
  ] as const)
    it(`${firmware}: why it cannot arm, and that it can`, async () => {
      await using sim = await SimProcess.start(
        '--firmware',
        firmware,
        '--arm-refuse',
        'Compass not calibrated',
        '--speedup',
        '0.2', // it disarms by itself after 10 s on the ground
      );
      const config = `mavlink:\n  source: tcp:127.0.0.1:${sim.port}\n  endpoints: []\n`;
      const node = await TestNode.start({ simulated: false, config });
      try {
        await linkState(
          node,
          ({ telemetry }) => telemetry.prearm.can_arm === false && telemetry.ekf.ok === true,
        );
        const refused = await svc(node.paths, 'check');
        expect([refused.code, refused.stderr]).to.deep.equal([1, '']);
        expect(refused.stdout).to.match(/^can arm +NO$/m);
        expect(refused.stdout).to.include(words);
        expect(refused.stdout).to.match(/^battery +12\.\d V, \d+ %$/m);
        expect(refused.stdout).to.match(/^gps +RTK fixed, 10 satellites$/m);
        expect(refused.stdout).to.match(/^estimator +ok$/m);
        await sim.fault({ armRefuse: '' });
        await linkState(node, ({ telemetry }) => telemetry.prearm.can_arm === true);
        const ready = await svc(node.paths, 'check', '--json');
        expect(ready.code, ready.stdout).to.equal(0);
        expect(JSON.parse(ready.stdout)).to.deep.include({ can_arm: true, reasons: [], not_run: null });

        const away = firmware === 'px4' ? 'AUTO.LAND' : 'LAND';
        await node.post('/api/command', { cmd: 'mode', args: [away] });
        const landed = await svc(node.paths, 'check');
        expect(landed.code).to.equal(1);
        expect(landed.stdout)
          .to.match(/^can arm +not in this mode$/m)
          .and.include(`${away} mode not armable`);
        const back = /svc cmd (mode \S+)/.exec(landed.stdout)?.[1] ?? '';
        expect(back).to.equal(firmware === 'px4' ? 'mode AUTO.LOITER' : 'mode GUIDED');
        expect((await svc(node.paths, 'cmd', ...back.split(' '))).code).to.equal(0);
        expect((await svc(node.paths, 'check')).stdout).to.match(/^can arm +yes$/m);

        const armed = await node.post('/api/command', { cmd: 'arm' });
        expect(armed.body, JSON.stringify(armed.body)).to.include({ status: 'accepted' });
        const flying = await svc(node.paths, 'check');
        expect(flying.code).to.equal(1);
        expect(flying.stdout).to.match(/^can arm +it is armed$/m);
      } finally {
        await node.stop();
      }
    });

  it('without a flight controller it says what it does not know', async () => {
    const node = await TestNode.start({ simulated: false });
    try {
      const { code, stdout } = await svc(node.paths, 'check', '--json');
      expect(code).to.equal(1);
      expect(JSON.parse(stdout)).to.deep.include({
        can_arm: null,
        reasons: [],
        checked_at: null,
        not_run: 'nothing is heard of the flight controller',
      });
      expect((await svc(node.paths, 'check')).stdout).to.match(/^battery +unknown, unknown$/m);
      const param = await svc(node.paths, 'params', 'get', 'RTL_ALT');
      expect(param.stderr.replaceAll(/\s+/g, ' ')).to.include('no vehicle has sent its parameters');
    } finally {
      await node.stop();
    }
  });
});
