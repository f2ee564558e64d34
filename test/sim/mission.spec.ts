import { expect } from 'chai';
import { common } from 'node-mavlink';
import { download, TARGET, upload } from './mission-client.ts';
import { SimProcess } from './sim-process.ts';

const { ACCEPTED, FAILED } = common.MavResult;
const METRE = 1 / 111_319;

describe('sim mission', () => {
  it('flies the built-in mission and disarms at home', async () => {
    await using sim = await SimProcess.start('--speedup', '50');
    const client = await sim.ready();
    expect((await download(client)).map(({ command }) => command)).to.deep.equal([16, 22, 16, 16, 20]);
    expect(await client.command(176, 1, 4)).to.equal(ACCEPTED);
    expect(await client.command(400, 1)).to.equal(ACCEPTED);
    const reached: number[] = [];
    const last = client.next(
      common.MissionItemReached,
      ({ seq }) => {
        reached.push(seq);
        return seq === 4;
      },
      10_000,
    );
    expect(await client.command(300)).to.equal(ACCEPTED);
    await last;
    await client.armed(false);
    expect(reached).to.deep.equal([1, 2, 3, 4]);
    expect(client.texts).to.include.members(['Mission: 1 Takeoff', 'Reached command #2', 'Mission: 4 RTL']);
  });

  it('takes an uploaded mission, gives it back, flies it from the chosen item and pauses on the way', async () => {
    await using sim = await SimProcess.start('--speedup', '40', '--no-mission');
    const client = await sim.ready();
    expect(await download(client)).to.deep.equal([]);
    const lat = -35.3632621;
    const x = Math.round((lat + 150 * METRE) * 1e7);
    const y = Math.round(149.1652374 * 1e7);
    const items = [
      { command: 16, frame: 0, x: Math.round(lat * 1e7), y, z: 584 },
      { command: 22, z: 10 },
      { command: 178, param2: 5 },
      { command: 16, x, y, z: 10 },
      { command: 21 },
    ];
    const received = client.text('Flight plan received');
    expect(await upload(client, items)).to.equal(common.MavMissionResult.ACCEPTED);
    await received;
    const back = await download(client);
    expect(back.map(({ command, z }) => [command, z])).to.deep.equal([
      [16, 584],
      [22, 10],
      [178, 0],
      [16, 10],
      [21, 0],
    ]);
    expect(back[3]).to.include({ x, y, frame: 3 });

    await client.flyUp(10);
    const current = client.next(common.MissionCurrent, ({ seq }) => seq === 2);
    client.send(common.MissionSetCurrent, { ...TARGET, seq: 2 });
    await current;
    expect(await client.command(300)).to.equal(ACCEPTED);
    const { vx } = await client.next(common.GlobalPositionInt, (p) => p.vx > 400);
    expect(vx).to.be.lessThan(550); // the speed of item 2
    expect(await client.command(193, 0)).to.equal(ACCEPTED);
    await client.next(common.GlobalPositionInt, (p) => Math.abs(p.vx) < 20);
    expect(await client.command(193, 0)).to.equal(FAILED);
    expect(await client.command(193, 1)).to.equal(ACCEPTED);
    await client.next(common.MissionItemReached, ({ seq }) => seq === 3);
    await client.armed(false, 8000);
  });

  it('refuses AUTO in flight without a mission, an item that it cannot fly, and a list that nobody has', async () => {
    await using sim = await SimProcess.start('--speedup', '40');
    const client = await sim.ready();
    const cleared = client.next(common.MissionAck);
    client.send(common.MissionClearAll, TARGET);
    expect((await cleared).type).to.equal(common.MavMissionResult.ACCEPTED);
    await client.command(176, 1, 4);
    await client.command(400, 1);
    const refused = client.text('Mode change to AUTO failed: initialisation failed');
    expect(await client.command(300)).to.equal(FAILED);
    await refused;
    expect(await upload(client, [{ command: 16 }, { command: 530 }])).to.equal(
      common.MavMissionResult.UNSUPPORTED,
    );
    const other = client.next(common.MissionAck);
    client.send(common.MissionRequestList, { ...TARGET, missionType: common.MavMissionType.ALL });
    expect((await other).type).to.equal(common.MavMissionResult.UNSUPPORTED);
  });

  it('a jump goes back as often as it says, and what the vehicle has not is passed over', async () => {
    await using sim = await SimProcess.start('--speedup', '40', '--no-mission');
    const client = await sim.ready();
    const y = Math.round(149.1652374 * 1e7);
    const there = (north: number) => ({ x: Math.round((-35.3632621 + north * METRE) * 1e7), y, z: 10 });
    const items = [
      { command: 16, frame: 0 },
      { command: 22, z: 10 },
      { command: 16, ...there(10) },
      { command: 183, param1: 9, param2: 1500 },
      { command: 82, ...there(0) },
      { command: 177, param1: 2, param2: 1 },
      { command: 21 },
    ];
    expect(await upload(client, items)).to.equal(common.MavMissionResult.ACCEPTED);
    await client.flyUp(10);
    const reached: number[] = [];
    const landed = client.next(common.MissionItemReached, ({ seq }) => {
      reached.push(seq);
      return seq === 6;
    });
    expect(await client.command(300)).to.equal(ACCEPTED);
    await landed;
    expect(reached).to.deep.equal([1, 2, 4, 2, 4, 6]);
    // A target that is home, or no item.
    for (const target of [0, 7])
      expect(await upload(client, [{ command: 16 }, { command: 177, param1: target, param2: 1 }])).to.equal(
        common.MavMissionResult.ERROR,
      );
  });

  for (const firmware of ['ardupilot', 'px4']) {
    it(`${firmware} holds a fence and rally points beside the mission, in its own form`, async () => {
      await using sim = await SimProcess.start('--firmware', firmware, '--no-mission');
      const client = await sim.ready();
      const vertex = (x: number) => ({ command: 5001, param1: 3, x, y: 5e7, z: 9, frame: 3 });
      const fence = [vertex(1e7), vertex(2e7), vertex(3e7), { command: 5004, param1: 25.5, x: 1, y: 2 }];
      expect(await upload(client, fence, 1)).to.equal(common.MavMissionResult.ACCEPTED);
      expect(await upload(client, [{ command: 5100, x: 1e7, y: 2e7, z: 30 }], 2)).to.equal(0);
      const back = await download(client, 1);
      expect(back.map(({ command, param1, x }) => [command, param1, x])).to.deep.equal([
        [5001, 3, 1e7],
        [5001, 3, 2e7],
        [5001, 3, 3e7],
        [5004, 25.5, 1],
      ]);
      expect([back[0]?.frame, back[0]?.z]).to.deep.equal(firmware === 'px4' ? [5, 9] : [0, 0]);
      expect((await download(client, 2)).map(({ z }) => z)).to.deep.equal([30]);
      expect(await download(client)).to.deep.equal([]);
      expect(await upload(client, [{ command: 31_010 }], 1)).to.equal(common.MavMissionResult.UNSUPPORTED);
      expect(await download(client, 1)).to.have.length(4);
    });
  }
});
