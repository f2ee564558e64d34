import { expect } from 'chai';
import { common, minimal, standard } from 'node-mavlink';
import { download, TARGET, upload } from './mission-client.ts';
import { SimClient } from './sim-client.ts';
import { SimProcess } from './sim-process.ts';

const { ACCEPTED, TEMPORARILY_REJECTED, DENIED, FAILED, UNSUPPORTED } = common.MavResult;
const { TAKEOFF } = common.MavLandedState;
const GROUND = 584;
const HOME = { lat: -35.3632621, lon: 149.1652374 };
const METRE = 1 / 111_319;
const AUTO = { takeoff: 2, loiter: 3, mission: 4, rtl: 5, land: 6 } as const;

function auto(sub: number): number {
  return ((4 << 16) | (sub << 24)) >>> 0;
}

async function inMode(client: SimClient, mode: number, ms?: number): Promise<minimal.Heartbeat> {
  return client.next(minimal.Heartbeat, ({ customMode }) => customMode === mode, ms);
}

async function flyUp(client: SimClient, height: number): Promise<void> {
  expect(await client.command(400, 1)).to.equal(ACCEPTED);
  expect(await client.command(22, NaN, 0, 0, NaN, NaN, NaN, GROUND + height)).to.equal(ACCEPTED);
  await client.height(height, 0.5);
  await inMode(client, auto(AUTO.loiter));
}

describe('sim PX4', () => {
  it('tells its texts only to a ground station, also those of the last seconds', async () => {
    await using sim = await SimProcess.start('--firmware', 'px4');
    const client = await SimClient.connect(sim.port);
    client.send(minimal.Heartbeat, { type: minimal.MavType.ONBOARD_CONTROLLER });
    expect(await client.command(176, 1, 4, 77)).to.equal(TEMPORARILY_REJECTED);
    expect(client.texts).to.deep.equal([]);
    client.standAsStation();
    await client.next(common.StatusText);
    client.close();
  });

  it('says that it is PX4, with its main and sub mode in custom_mode', async () => {
    await using sim = await SimProcess.start('--firmware', 'px4');
    const client = await sim.connect();
    const heartbeat = await client.next(minimal.Heartbeat, undefined, 1000);
    expect(heartbeat).to.include({ type: 2, autopilot: 12, customMode: 0x0304_0000, systemStatus: 3 });
    expect(heartbeat.baseMode & 0x81).to.equal(1);
  });

  it('streams unasked, by SET_MESSAGE_INTERVAL, and never by REQUEST_DATA_STREAM', async () => {
    await using sim = await SimProcess.start('--firmware', 'px4');
    const client = await sim.connect();
    await Promise.all([
      client.next(common.Attitude),
      client.next(common.GlobalPositionInt),
      client.next(common.VfrHud),
      client.next(common.SysStatus),
      client.next(common.GpsRawInt),
      client.next(common.BatteryStatus),
      client.next(common.ExtendedSysState),
      client.next(common.HomePosition),
      client.next(common.EstimatorStatus, ({ flags }) => (flags & 16) !== 0),
    ]);
    client.send(common.RequestDataStream, { ...TARGET, reqMessageRate: 50, startStop: 1 });
    const interval = client.next(common.MessageInterval);
    expect(await client.command(510, common.SysStatus.MSG_ID)).to.equal(ACCEPTED);
    expect((await interval).intervalUs).to.equal(1_000_000);
    expect(await client.command(511, common.SysStatus.MSG_ID, 20_000)).to.equal(ACCEPTED);
    const last = client.next(common.MessageInterval);
    await client.command(510, common.SysStatus.MSG_ID);
    expect((await last).intervalUs).to.equal(20_000);
    expect(await client.command(511, 164, 20_000)).to.equal(FAILED); // SIMSTATE is ArduPilot's
    expect(await client.command(512, 164)).to.equal(DENIED);
    const { MSG_ID } = common.MissionCurrent; // comes by itself, and is no stream
    expect(await client.command(511, MSG_ID, 20_000)).to.equal(FAILED);
    expect(await client.command(512, MSG_ID)).to.equal(DENIED);
    await client.next(common.MissionCurrent);
  });

  it('declares bytewise parameters and what else it has, and a unique id', async () => {
    await using sim = await SimProcess.start('--firmware', 'px4', '--uid', '77');
    const client = await sim.connect();
    const version = client.next(standard.AutopilotVersion);
    expect(await client.command(512, standard.AutopilotVersion.MSG_ID)).to.equal(ACCEPTED);
    const { capabilities, uid2, flightSwVersion } = await version;
    expect(BigInt(capabilities)).to.equal(4n | 8n | 16n | 32n | 256n | 8192n | 16_384n | 32_768n);
    expect(Buffer.from(uid2).toString('latin1')).to.equal('svc-sim-0000000077');
    expect(flightSwVersion >>> 16).to.equal(0x010f);
  });

  it('arms, takes off to a height above sea level, goes to a place, pauses, returns and disarms', async () => {
    await using sim = await SimProcess.start('--firmware', 'px4', '--speedup', '40');
    const client = await sim.ready();
    await flyUp(client, 12);
    const far = HOME.lat + 200 * METRE;
    const place = [far, HOME.lon, GROUND + 15] as const;
    const { GLOBAL, GLOBAL_INT, GLOBAL_RELATIVE_ALT_INT } = common.MavFrame;
    for (const frame of [GLOBAL, GLOBAL_RELATIVE_ALT_INT]) {
      const { COMMAND_UNSUPPORTED_MAV_FRAME } = common.MavResult;
      const result = await client.commandInt(192, place, [-1, 1, 0, NaN], frame);
      expect(result).to.equal(COMMAND_UNSUPPORTED_MAV_FRAME);
    }
    expect(await client.commandInt(192, place, [-1, 1, 0, NaN], GLOBAL_INT)).to.equal(ACCEPTED);
    await client.next(common.GlobalPositionInt, ({ vx }) => vx > 300);
    expect(await client.command(192, -1, 1, 0, NaN, NaN, NaN, NaN)).to.equal(ACCEPTED);
    await client.next(common.GlobalPositionInt, ({ vx }) => Math.abs(vx) < 20);
    expect(await client.command(192, -1, 0, 0, NaN, NaN, NaN, NaN)).to.equal(UNSUPPORTED);
    expect(await client.command(193, 0)).to.equal(UNSUPPORTED);
    const disarmed = client.text('Disarmed by landing', 10_000);
    expect(await client.command(20)).to.equal(ACCEPTED);
    await inMode(client, auto(AUTO.rtl));
    await disarmed;
    expect(
      client.texts.filter((text) => text.startsWith('SIM ')),
      'a word of ArduPilot’s simulator',
    ).to.deep.equal([]);
    await client.armed(false);
    await inMode(client, auto(AUTO.loiter)); // as PX4 does, so that it can be armed again
    expect(await client.command(176, 1, 4, AUTO.rtl)).to.equal(ACCEPTED);
    const denied = client.text('Arming denied: Resolve system health');
    expect(await client.command(400, 1)).to.equal(TEMPORARILY_REJECTED);
    await denied;
  });

  it('takes off in the mode itself to MIS_TAKEOFF_ALT, told before it is armed', async () => {
    await using sim = await SimProcess.start('--firmware', 'px4', '--speedup', '20');
    const client = await sim.ready();
    expect(await client.command(176, 1, 4, AUTO.takeoff)).to.equal(ACCEPTED);
    expect(await client.command(400, 1)).to.equal(ACCEPTED);
    await inMode(client, auto(AUTO.loiter));
    await client.height(2.5, 0.5);
    expect(await client.command(400, 0)).to.equal(TEMPORARILY_REJECTED);
    expect(client.texts).to.include('Disarming denied: not landed');
    expect(await client.command(21)).to.equal(ACCEPTED);
    await client.armed(false);
  });

  it('stays on the ground where the altitude was not meant above sea level, and takes MIS_TAKEOFF_ALT where there is none', async () => {
    await using sim = await SimProcess.start('--firmware', 'px4', '--speedup', '20');
    const client = await sim.ready();
    expect(await client.command(400, 1)).to.equal(ACCEPTED);
    const warned = client.text('Already higher than takeoff altitude');
    expect(await client.command(22, 0, 0, 0, NaN, NaN, NaN, 30)).to.equal(ACCEPTED);
    await warned;
    await client.armed(false); // COM_DISARM_PRFLT
    expect(await client.command(400, 1)).to.equal(ACCEPTED);
    const told = client.text('Using default takeoff altitude: 2.5 m');
    client.order(511, common.ExtendedSysState.MSG_ID, 20_000);
    const rising = client.next(common.ExtendedSysState, ({ landedState }) => landedState === TAKEOFF);
    expect(await client.command(22, 0, 0, 0, NaN, NaN, NaN, NaN)).to.equal(ACCEPTED);
    await Promise.all([told, rising]);
    await client.height(2.5, 0.5);
    await inMode(client, auto(AUTO.loiter));
  });

  it('denies arming with its reasons', async () => {
    await using sim = await SimProcess.start('--firmware', 'px4', '--arm-refuse', 'Compass 0 fault');
    const client = await sim.ready();
    const denied = client.text('Arming denied');
    expect(await client.command(400, 1)).to.equal(TEMPORARILY_REJECTED);
    expect((await denied).severity).to.equal(common.MavSeverity.CRITICAL);
    expect(client.texts).to.include('Preflight Fail: Compass 0 fault');
    // Forcing does not help: what comes by MAVLink is checked always.
    expect(await client.command(400, 1, 21196)).to.equal(TEMPORARILY_REJECTED);
    await sim.fault({ armRefuse: '' });
    expect(await client.command(400, 1)).to.equal(ACCEPTED);
  });

  it('rejects a mode that does not suit for now, and takes a mode by SET_MODE too', async () => {
    await using sim = await SimProcess.start('--firmware', 'px4', '--speedup', '40', '--no-mission');
    const client = await sim.ready();
    await flyUp(client, 5);
    const refused = client.text("Switching to mode 'Mission' is currently");
    expect(await client.command(176, 1, 4, AUTO.mission)).to.equal(TEMPORARILY_REJECTED);
    await refused;
    expect(await client.command(176, 1, 4, 77)).to.equal(TEMPORARILY_REJECTED);
    expect(client.texts).to.include('Unsupported auto mode');
    expect(await client.command(176, 1, 42)).to.equal(ACCEPTED); // and nothing changes
    await inMode(client, auto(AUTO.loiter));
    const node = new SimClient(client.socket, 1, 191); // it is not a ground station, and gets no reason
    const before = client.texts.length;
    expect(await node.command(176, 1, 4, AUTO.mission)).to.equal(TEMPORARILY_REJECTED);
    await client.next(minimal.Heartbeat);
    expect(client.texts.length).to.equal(before);
    expect(await client.command(300)).to.equal(DENIED);
    const ack = client.ack(176);
    const baseMode: number = 1;
    client.send(common.SetMode, { targetSystem: 1, baseMode, customMode: 3 << 16 });
    expect((await ack).result).to.equal(ACCEPTED);
    await inMode(client, 3 << 16);
  });

  it('acknowledges a mode change twice where that is asked for, and the second ack is the verdict', async () => {
    await using sim = await SimProcess.start('--firmware', 'px4', '--double-ack');
    const client = await sim.connect();
    for (const [mode, verdict] of [
      [[3], ACCEPTED],
      [[4, 77], TEMPORARILY_REJECTED],
    ] as const) {
      const acks: number[] = [];
      const both = client.next(common.CommandAck, ({ result }) => acks.push(result) === 2);
      client.order(176, 1, ...mode);
      await both;
      expect(acks).to.deep.equal([ACCEPTED, verdict]);
    }
  });

  it('flies a mission whose first item is number 0, arming by itself, and forgets it on a reboot', async () => {
    await using sim = await SimProcess.start('--firmware', 'px4', '--speedup', '40', '--no-mission');
    const client = await sim.ready();
    const x = Math.round((HOME.lat + 40 * METRE) * 1e7);
    const y = Math.round(HOME.lon * 1e7);
    const items = [
      { command: 22, x: Math.round(HOME.lat * 1e7), y, z: 10, param4: NaN },
      { command: 16, x, y, z: 12 },
      { command: 21, x, y, z: 0 },
    ];
    expect(await upload(client, items)).to.equal(common.MavMissionResult.ACCEPTED);
    expect((await download(client)).map(({ command, z }) => [command, z])).to.deep.equal([
      [22, 10],
      [16, 12],
      [21, 0],
    ]);
    client.order(511, common.MissionCurrent.MSG_ID, 20_000);
    const reached: number[] = [];
    const last = client.next(common.MissionItemReached, ({ seq }) => reached.push(seq) === 3, 10_000);
    const current = client.next(
      common.MissionCurrent,
      ({ seq, missionState }) => seq === 1 && missionState === common.MissionState.ACTIVE,
    );
    expect(await client.command(300, 0, 0)).to.equal(ACCEPTED);
    await inMode(client, auto(AUTO.mission));
    expect((await current).total).to.equal(3);
    await last;
    await client.armed(false);
    expect(reached).to.deep.equal([0, 1, 2]);
    const cleared = client.next(common.MissionAck);
    client.send(common.MissionClearAll, TARGET);
    expect((await cleared).type).to.equal(common.MavMissionResult.ACCEPTED);
    await upload(client, items);
    await sim.fault({ reboot: true });
    const again = await sim.connect();
    expect((await again.next(minimal.Heartbeat)).customMode).to.equal(auto(AUTO.loiter));
    expect(await download(again)).to.deep.equal([]);
  });
});
