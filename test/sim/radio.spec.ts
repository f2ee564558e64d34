import { expect } from 'chai';
import { common, minimal } from 'node-mavlink';
import type { SimClient } from './sim-client.ts';
import { SimProcess } from './sim-process.ts';

const RC = common.RcChannels.MSG_ID;

async function set(client: SimClient, name: string, value: number, type = 9): Promise<void> {
  const told = client.next(common.ParamValue, ({ paramId }) => paramId === name);
  const fields = { paramId: name, paramValue: value, paramType: type, targetSystem: 1, targetComponent: 1 };
  client.send(common.ParamSet, fields);
  await told;
}

async function mode(client: SimClient, number: number): Promise<void> {
  await client.next(minimal.Heartbeat, ({ customMode }) => customMode === number);
}

/** The first channel that is heard from now on as `us`. */
async function heard(client: SimClient, us: number): Promise<common.RcChannels> {
  return client.next(common.RcChannels, ({ chan1Raw }) => chan1Raw === us);
}

describe('sim radio', () => {
  it('has sticks that a test moves, and none while no radio is heard', async () => {
    await using sim = await SimProcess.start();
    const client = await sim.ready();
    client.order(511, RC, 50_000);
    expect(await heard(client, 1500)).to.include({
      chancount: 8,
      chan3Raw: 1000,
      chan5Raw: 1800,
      chan9Raw: 65_535,
    });
    await sim.fault({ radio: [1100, 1900, 1000, 1500, 1800, 1000, 1000, 1800, 1200] });
    expect(await heard(client, 1100)).to.include({ chancount: 9, chan2Raw: 1900, chan9Raw: 1200 });
    await sim.fault({ radio: [], radioLost: true });
    expect(await heard(client, 65_535)).to.include({ chancount: 0 });
    await sim.fault({ radioLost: false });
    await heard(client, 1500);
    await set(client, 'SIM_RC_FAIL', 1);
    expect(await heard(client, 65_535)).to.include({ chancount: 0 });
  });

  it('a copter falls in STABILIZE, and sinks in ALT_HOLD, while nobody moves its throttle; centred, it holds; LOITER holds', async () => {
    await using sim = await SimProcess.start('--speedup', '20');
    const client = await sim.ready();
    client.order(511, common.GlobalPositionInt.MSG_ID, 20_000);
    const centred = [1500, 1500, 1500];
    /** m/s down, once it moves so fast or so slowly. */
    const sinking = async (least: number, most: number): Promise<unknown> =>
      client.next(common.GlobalPositionInt, ({ vz }) => vz / 100 >= least && vz / 100 <= most);
    await client.flyUp(100);
    await client.command(176, 1, 2);
    await sinking(2.4, 2.6); // PILOT_SPEED_UP
    await sim.fault({ radio: centred });
    await sinking(-0.1, 0.1);
    await sim.fault({ radio: [] });
    for (const number of [5, 16]) {
      await client.command(176, 1, number);
      await sinking(-0.1, 0.1);
    }
    await client.command(176, 1, 2);
    await sinking(2.4, 2.6);
    await sim.fault({ radio: [], radioLost: true });
    await sinking(-0.1, 0.1); // ArduCopter's get_pilot_desired_climb_rate
    await sim.fault({ radioLost: false, radio: centred });
    await client.command(176, 1, 0);
    await sinking(-0.1, 0.1);
    const hit = client.text('SIM Hit ground at');
    await sim.fault({ radio: [] });
    await sinking(10, 50);
    await hit;
  });

  it('ArduPilot changes the mode with the switch, by its own limits, and not at boot', async () => {
    await using sim = await SimProcess.start('--mode', '5');
    const client = await sim.ready();
    await mode(client, 5);
    const positions = [
      [1230, 7],
      [1231, 9],
      [1490, 6],
      [1620, 3],
      [1749, 5],
      [1750, 0],
    ] as const;
    for (const [us, number] of positions) {
      await sim.fault({ radio: [1500, 1500, 1000, 1500, us] });
      await mode(client, number);
    }
  });

  it('a rover has its switch by another name', async () => {
    await using sim = await SimProcess.start('--vehicle', 'rover');
    const client = await sim.ready();
    await set(client, 'MODE1', 4);
    await sim.fault({ radio: [1500, 1500, 1500, 1500, 1500, 1500, 1500, 1000] });
    await mode(client, 4);
  });

  it('PX4 changes the mode with the switch where the position has one', async () => {
    await using sim = await SimProcess.start('--firmware', 'px4');
    const client = await sim.ready();
    const bits = Buffer.alloc(4);
    bits.writeInt32LE(2);
    await set(client, 'COM_FLTMODE1', bits.readFloatLE(0), 6);
    await sim.fault({ radio: [1500, 1500, 1000, 1500, 1000] });
    await mode(client, 3 << 16);
  });

  it('does not arm with a trim that is not between the ends', async () => {
    await using sim = await SimProcess.start();
    const client = await sim.ready();
    await set(client, 'RC3_TRIM', 990);
    const said = client.text('Arm: RC3_MIN is greater than RC3_TRIM');
    expect(await client.command(400, 1)).to.equal(common.MavResult.FAILED);
    await said;
    await set(client, 'RC3_TRIM', 1000);
    expect(await client.command(400, 1)).to.equal(common.MavResult.ACCEPTED);
  });
});
