import { expect } from 'chai';
import { common } from 'node-mavlink';
import { telemetryOf } from '../../shared/rpc/telemetry-body.ts';
import { Rig } from './rig.ts';

async function met(): Promise<Rig> {
  const rig = new Rig();
  await rig.meet();
  return rig;
}

describe('what extensions add to the telemetry', () => {
  it('is below their ids, for ten seconds, of eight at a time', async () => {
    const rig = await met();
    const shown = (): unknown => telemetryOf(rig.state())['extensions'];
    expect(shown()).to.deep.equal({});
    rig.calls.extend({ extension: 'org.a', values: { tilt: 1 } });
    await rig.clock.advance(6000);
    rig.calls.extend({ extension: 'org.b', values: { on: true } });
    expect(shown()).to.deep.equal({ 'org.a': { tilt: 1 }, 'org.b': { on: true } });
    await rig.clock.advance(6000);
    expect(shown()).to.deep.equal({ 'org.b': { on: true } });
    rig.calls.extend({ extension: 'org.b', values: null });
    expect(shown()).to.deep.equal({});
    for (let i = 0; i < 8; i++) rig.calls.extend({ extension: `org.x${i}`, values: {} });
    expect(() => rig.calls.extend({ extension: 'org.y', values: {} })).to.throw('8 other extensions');
    rig.calls.extend({ extension: 'org.x0', values: { again: 1 } });
    await rig.clock.advance(11_000);
    rig.calls.extend({ extension: 'org.y', values: {} });
    await rig.link.stop();
  });
});

describe('the state of the battery', () => {
  it('is what the vehicle says by its own thresholds', async () => {
    const rig = await met();
    expect(rig.state().telemetry.battery.state).to.equal(null);
    for (const [chargeState, state] of [
      [1, 'ok'],
      [2, 'low'],
      [3, 'critical'],
      [0, null],
      [99, null],
    ] as const) {
      const battery = new common.BatteryStatus();
      rig.say(Object.assign(battery, { chargeState, voltages: Array<number>(10).fill(65_535) }));
      expect(rig.state().telemetry.battery.state).to.equal(state);
    }
    await rig.link.stop();
  });
});
