import { expect } from 'chai';
import { common, minimal } from 'node-mavlink';
import { upload } from './mission-client.ts';
import type { SimClient } from './sim-client.ts';
import { SimProcess } from './sim-process.ts';

const CHECK = 0x1000_0000;
const RUN = 401;
const [ACCEPTED, TEMPORARILY_REJECTED] = [0, 1];
const ADSB = common.AdsbVehicle.MSG_ID;
const FENCE = common.FenceStatus.MSG_ID;
const RTL = 6;

/** The bit of the checks in present, enabled and health. */
function bits(status: common.SysStatus): boolean[] {
  const { onboardControlSensorsPresent, onboardControlSensorsEnabled, onboardControlSensorsHealth } = status;
  return [onboardControlSensorsPresent, onboardControlSensorsEnabled, onboardControlSensorsHealth].map(
    (sensors) => (sensors & CHECK) !== 0,
  );
}

function set(client: SimClient, paramId: string, paramValue: number): void {
  client.send(common.ParamSet, { targetSystem: 1, targetComponent: 1, paramId, paramValue, paramType: 9 });
}

describe('sim warnings', () => {
  it('ArduPilot: runs its checks on command, tells all that fail, and refuses while armed', async () => {
    await using sim = await SimProcess.start('--arm-refuse', 'Compass not calibrated');
    const client = await sim.ready();
    client.order(511, common.SysStatus.MSG_ID, 50_000);
    expect(bits(await client.next(common.SysStatus))).to.deep.equal([true, true, false]);
    const told = client.text('PreArm: Compass not calibrated');
    expect(await client.command(RUN)).to.equal(ACCEPTED);
    expect((await told).severity).to.equal(common.MavSeverity.CRITICAL);
    const healthy = client.next(common.SysStatus, (status) => bits(status)[2] === true);
    await sim.fault({ armRefuse: '' });
    await healthy;
    const off = client.next(common.SysStatus, (status) => bits(status)[1] === false);
    set(client, 'ARMING_CHECK', 0);
    expect(bits(await off)).to.deep.equal([true, false, false]);
    expect(await client.command(400, 1)).to.equal(ACCEPTED);
    expect(await client.command(RUN)).to.equal(TEMPORARILY_REJECTED);
  });

  it('PX4: has the bit of the checks in health alone', async () => {
    await using sim = await SimProcess.start('--firmware', 'px4');
    const client = await sim.ready();
    const healthy = client.next(common.SysStatus, (status) => bits(status)[2] === true);
    expect(bits(await healthy)).to.deep.equal([false, false, true]);
    expect(await client.command(511, FENCE, 100_000)).to.not.equal(ACCEPTED); // it does not know the message
  });

  for (const firmware of ['ardupilot', 'px4'])
    it(`${firmware}: its receiver hears other aircraft, one a message`, async () => {
      await using sim = await SimProcess.start('--firmware', firmware, '--adsb', '3');
      const client = await sim.connect();
      const third = client.next(common.AdsbVehicle, ({ callsign }) => callsign.startsWith('SIM3'));
      client.order(511, ADSB, 50_000);
      const { ICAOAddress, altitudeType, altitude, flags } = await third;
      expect({ ICAOAddress, altitudeType, altitude }).to.deep.equal({
        ICAOAddress: 0x7c_0003,
        altitudeType: 1,
        altitude: 784_000,
      });
      expect(flags & common.AdsbFlags.SIMULATED).to.not.equal(0);
    });

  it('ArduPilot: does not arm outside its fence, which may be stored polygons and circles', async () => {
    await using sim = await SimProcess.start('--home', '48,11,500,0');
    const client = await sim.ready();
    client.order(511, FENCE, 50_000);
    const corner = (north: number, east: number): object => ({
      command: 5002,
      param1: 4,
      x: 48e7 + north * 1000,
      y: 11e7 + east * 1000,
    });
    const square = [corner(-1, -1), corner(-1, 1), corner(1, 1), corner(1, -1)];
    const away = { command: 5003, param1: 500, x: 48e7, y: 11e7 };
    for (const [items, breachStatus] of [
      [square, 1],
      [[away, ...square.map((item) => ({ ...item, command: 5001 }))], 0],
      [[{ ...away, x: 481e6 }], 1],
      [[away], 0],
    ] as const) {
      const seen = client.next(common.FenceStatus, (status) => status.breachStatus === breachStatus);
      expect(await upload(client, items, 1)).to.equal(ACCEPTED);
      set(client, 'FENCE_ENABLE', 1);
      expect((await seen).breachType).to.equal(
        breachStatus === 1 ? common.FenceBreach.BOUNDARY : common.FenceBreach.NONE,
      );
      const words = breachStatus === 1 ? client.text('PreArm: vehicle outside fence') : undefined;
      expect(await client.command(RUN)).to.equal(ACCEPTED);
      await words;
    }
  });

  it('ArduPilot: returns when it flies over the top of its fence, and says so', async () => {
    await using sim = await SimProcess.start('--speedup', '10', '--mode', '4');
    const client = await sim.ready();
    client.order(511, FENCE, 50_000);
    set(client, 'FENCE_ALT_MAX', 12);
    set(client, 'FENCE_ENABLE', 1);
    const inside = await client.next(common.FenceStatus);
    expect(inside).to.include({ breachStatus: 0, breachCount: 0, breachType: 0 });
    const words = client.text('Fence Breached', 20_000);
    const outside = client.next(common.FenceStatus, ({ breachStatus }) => breachStatus === 1, 20_000);
    const returning = client.next(minimal.Heartbeat, ({ customMode }) => customMode === RTL, 20_000);
    const over = client.next(common.FenceStatus, (s) => s.breachStatus === 0 && s.breachCount > 0, 60_000);
    expect(await client.command(400, 1)).to.equal(ACCEPTED);
    client.order(22, 0, 0, 0, 0, 0, 0, 30);
    await outside.then(({ breachType }) => expect(breachType).to.equal(common.FenceBreach.MAXALT));
    expect((await words).severity).to.equal(common.MavSeverity.NOTICE);
    await returning;
    await over;
  });
});
