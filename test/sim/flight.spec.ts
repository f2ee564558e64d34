import { once } from 'node:events';
import { expect } from 'chai';
import { common, minimal } from 'node-mavlink';
import type { SimClient } from './sim-client.ts';
import { SimProcess } from './sim-process.ts';

const { ACCEPTED, DENIED, FAILED, UNSUPPORTED } = common.MavResult;
const HOME = { lat: -35.3632621, lon: 149.1652374 };
const METRE = 1 / 111_319;

async function near(client: SimClient, lat: number, lon: number): Promise<common.GlobalPositionInt> {
  return client.next(
    common.GlobalPositionInt,
    (p) => Math.hypot(p.lat / 1e7 - lat, (p.lon / 1e7 - lon) * 0.815) < 1 * METRE,
    8000,
  );
}

describe('sim flight', () => {
  it('refuses to take off before it is armed, and says why', async () => {
    await using sim = await SimProcess.start();
    const client = await sim.ready();
    const wrongMode = client.text('Takeoff: not possible in STABILIZE mode');
    expect(await client.command(22, 0, 0, 0, 0, 0, 0, 10)).to.equal(FAILED);
    await wrongMode;
    expect(await client.command(176, 1, 4)).to.equal(ACCEPTED);
    const notArmed = client.text('Takeoff: vehicle is not armed');
    expect(await client.command(22, 0, 0, 0, 0, 0, 0, 10)).to.equal(FAILED);
    await notArmed;
  });

  it('arms, takes off, goes to two places, lands and disarms', async () => {
    await using sim = await SimProcess.start('--speedup', '40');
    const client = await sim.ready();
    await client.flyUp(10);
    await client.armed(true);

    expect(await client.commandInt(192, [HOME.lat + 30 * METRE, HOME.lon, 12], [-1, 1])).to.equal(ACCEPTED);
    const there = await near(client, HOME.lat + 30 * METRE, HOME.lon);
    expect(there.relativeAlt / 1000).to.be.within(9.5, 12.5);

    const typeMask: number = 0b1101_1111_1000; // position only
    client.send(common.SetPositionTargetGlobalInt, {
      targetSystem: 1,
      targetComponent: 1,
      coordinateFrame: common.MavFrame.GLOBAL_RELATIVE_ALT_INT,
      typeMask,
      latInt: Math.round(HOME.lat * 1e7),
      lonInt: Math.round((HOME.lon + 30 * METRE) * 1e7),
      alt: 8,
    });
    await near(client, HOME.lat, HOME.lon + 30 * METRE);
    await client.height(8, 0.5);

    const disarmed = client.armed(false, 8000);
    const hit = client.text('SIM Hit ground at 0.5', 8000);
    expect(await client.command(21)).to.equal(ACCEPTED);
    await hit;
    await disarmed;
    expect(client.texts).to.include.members(['Arming motors', 'Disarming motors']);
  });

  it('does not disarm in the air unless forced, and then falls', async () => {
    await using sim = await SimProcess.start('--speedup', '40');
    const client = await sim.ready();
    await client.flyUp(20);
    expect(await client.command(400, 0)).to.equal(FAILED);
    const hit = client.text('SIM Hit ground at 1'); // 10..20 m/s
    expect(await client.command(400, 0, 21196)).to.equal(ACCEPTED);
    await client.armed(false);
    await hit;
  });

  it('comes home by RTL at RTL_ALT, and flies on while no client is there', async () => {
    await using sim = await SimProcess.start('--speedup', '40');
    const first = await sim.ready();
    await first.flyUp(10);
    await first.commandInt(192, [HOME.lat, HOME.lon + 40 * METRE, 10], [-1, 1]);
    await near(first, HOME.lat, HOME.lon + 40 * METRE);
    expect(await first.command(20)).to.equal(ACCEPTED);
    first.close();
    await once(first.socket, 'close');
    await sim.fault({});
    const client = await sim.connect(); // the intervals that the first one asked for still hold
    const highest: number[] = [];
    const down = client.next(
      common.GlobalPositionInt,
      ({ relativeAlt }) => {
        highest.push(relativeAlt / 1000);
        return relativeAlt < 100;
      },
      8000,
    );
    const { customMode } = await client.armed(true);
    expect(customMode).to.equal(6);
    const { lon } = await down;
    expect(Math.max(...highest)).to.be.within(14.5, 15.6);
    expect(Math.abs(lon / 1e7 - HOME.lon)).to.be.lessThan(1.5 * METRE);
    await client.armed(false);
  });

  it('arms only when the checks pass, with the reason in ArduPilot words', async () => {
    await using sim = await SimProcess.start('--settle', '60000', '--mode', '4');
    const client = await sim.connect();
    const noPosition = client.text('Arm: Need Position Estimate');
    expect(await client.command(400, 1)).to.equal(FAILED);
    await noPosition;
    expect(await client.command(400, 1, 2989)).to.equal(ACCEPTED);
  });

  it('does not arm in LAND or on a low battery; forces need no reason', async () => {
    await using sim = await SimProcess.start();
    const client = await sim.ready();
    await client.command(176, 1, 9);
    const land = client.text('Arm: LAND mode not armable');
    expect(await client.command(400, 1)).to.equal(FAILED);
    await land;
    await client.command(176, 1, 0);
    const set = {
      targetSystem: 1,
      targetComponent: 1,
      paramId: 'SIM_BATT_VOLTAGE',
      paramValue: 9.9,
      paramType: 9,
    };
    client.send(common.ParamSet, set);
    const low = client.text('Arm: Battery 1 low voltage failsafe');
    expect(await client.command(400, 1)).to.equal(FAILED);
    await low;
    expect(await client.command(400, 1, 21196)).to.equal(ACCEPTED);
    await client.armed(true);
  });

  it('disarms by itself when nobody takes off; the time that it stood armed does not count for the next time', async () => {
    await using sim = await SimProcess.start();
    const client = await sim.ready();
    const delay = {
      targetSystem: 1,
      targetComponent: 1,
      paramId: 'DISARM_DELAY',
      paramValue: 2,
      paramType: 2,
    };
    client.send(common.ParamSet, delay);
    for (const time of ['first', 'second', 'third']) {
      expect(await client.command(400, 1), time).to.equal(ACCEPTED);
      await client.armed(true, 1900); // a heartbeat comes each second
      await client.armed(false);
    }
  });

  it('refuses what ArduCopter refuses: unknown modes, other mode kinds, places that are none, unknown commands and items', async () => {
    await using sim = await SimProcess.start();
    const client = await sim.ready();
    const noMode = client.text('No such mode 99');
    expect(await client.command(176, 1, 99)).to.equal(FAILED);
    await noMode;
    expect(await client.command(176, 0, 4)).to.equal(DENIED);
    expect(await client.commandInt(192, [0, 0, 10], [-1, 1])).to.equal(DENIED);
    expect(await client.command(192, -1, 1, 0, 0, HOME.lat, HOME.lon, 10)).to.equal(UNSUPPORTED); // COMMAND_INT alone
    expect(await client.command(224, 77)).to.equal(DENIED);
    expect(await client.command(34, 30, 5)).to.equal(UNSUPPORTED);
    const ack = client.ack(11);
    const baseMode: number = 1;
    client.send(common.SetMode, { targetSystem: 1, baseMode, customMode: 5 });
    expect((await ack).result).to.equal(ACCEPTED);
    await client.next(minimal.Heartbeat, ({ customMode }) => customMode === 5);
  });

  it('holds a velocity in GUIDED, and stops when no new one comes', async () => {
    await using sim = await SimProcess.start('--speedup', '10');
    const client = await sim.ready();
    await client.flyUp(10);
    const typeMask: number = 0b1101_1100_0111; // velocity only
    client.send(common.SetPositionTargetGlobalInt, {
      targetSystem: 1,
      targetComponent: 1,
      coordinateFrame: common.MavFrame.GLOBAL_RELATIVE_ALT_INT,
      typeMask,
      vy: 4,
      vz: -1,
    });
    await client.next(common.GlobalPositionInt, ({ vy, vz }) => vy === 400 && vz === -100);
    await client.next(common.GlobalPositionInt, ({ vy, vz }) => Math.abs(vy) < 10 && Math.abs(vz) < 10);
  });

  it('pauses and resumes in GUIDED', async () => {
    await using sim = await SimProcess.start('--speedup', '10');
    const client = await sim.ready();
    await client.flyUp(10);
    await client.commandInt(192, [HOME.lat + 200 * METRE, HOME.lon, 10], [-1, 1]);
    await client.next(common.GlobalPositionInt, ({ vx }) => vx > 500);
    expect(await client.command(193, 0)).to.equal(ACCEPTED);
    await client.next(common.GlobalPositionInt, ({ vx }) => Math.abs(vx) < 20);
    expect(await client.command(193, 1)).to.equal(ACCEPTED);
    await client.next(common.GlobalPositionInt, ({ vx }) => vx > 500);
  });

  it('returns when the ground station falls silent and FS_GCS_ENABLE asks for it', async () => {
    await using sim = await SimProcess.start('--speedup', '40');
    const client = await sim.ready();
    for (const [paramId, paramValue] of [
      ['FS_GCS_ENABLE', 1],
      ['FS_GCS_TIMEOUT', 0.5],
    ] as const) {
      client.send(common.ParamSet, {
        targetSystem: 1,
        targetComponent: 1,
        paramId,
        paramValue,
        paramType: 9,
      });
    }
    await client.flyUp(10);
    const failsafe = client.text('GCS Failsafe');
    client.send(minimal.Heartbeat, { type: minimal.MavType.GCS, autopilot: minimal.MavAutopilot.INVALID });
    await failsafe;
    await client.next(
      minimal.Heartbeat,
      (h) => h.customMode === 6 && h.systemStatus === minimal.MavState.CRITICAL,
    );
  });
});
