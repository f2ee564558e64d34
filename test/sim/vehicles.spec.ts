import { expect } from 'chai';
import { common, minimal, standard } from 'node-mavlink';
import { SimProcess } from './sim-process.ts';

const { ACCEPTED, UNSUPPORTED } = common.MavResult;
const HOME = { lat: -35.3632621, lon: 149.1652374 };
const METRE = 1 / 111_319;

describe('sim vehicles', () => {
  for (const { vehicle, type, guided, title } of [
    { vehicle: 'copter', type: 2, guided: 4, title: 'ArduCopter' },
    { vehicle: 'plane', type: 1, guided: 15, title: 'ArduPlane' },
    { vehicle: 'rover', type: 10, guided: 15, title: 'ArduRover' },
    { vehicle: 'sub', type: 12, guided: 4, title: 'ArduSub' },
  ]) {
    it(`a ${vehicle} has its type, its name and its mode numbers`, async () => {
      await using sim = await SimProcess.start('--vehicle', vehicle);
      const client = await sim.ready();
      expect(await client.next(minimal.Heartbeat)).to.include({ type, autopilot: 3, customMode: 0 });
      const banner = client.text(`${title} V4.5.7`);
      await client.command(42428);
      await banner;
      expect(await client.command(176, 1, guided)).to.equal(ACCEPTED);
      await client.next(minimal.Heartbeat, ({ customMode }) => customMode === guided);
    });
  }

  for (const [vehicle, mode, arms] of [
    ['plane', 11, 'Arm: RTL mode not armable'],
    ['plane', 10, null],
    ['rover', 12, 'Arm: Mode not armable'],
    ['rover', 10, null],
    ['sub', 9, null],
  ] as const)
    it(`a ${vehicle} in mode ${mode}: ${arms ?? 'it arms'}`, async () => {
      await using sim = await SimProcess.start('--vehicle', vehicle);
      const client = await sim.ready();
      expect(await client.command(176, 1, mode)).to.equal(ACCEPTED);
      const words = arms === null ? null : client.text(arms);
      // As the real ones, they say it among the checks before arming too.
      const before = arms === null ? null : client.text(arms.replace('Arm:', 'PreArm:'));
      if (before !== null) expect(await client.command(401)).to.equal(ACCEPTED);
      await before;
      expect(await client.command(400, 1)).to.equal(arms === null ? ACCEPTED : common.MavResult.FAILED);
      await words;
    });

  it('a rover drives where it is sent without a takeoff, stays on the ground and disarms there', async () => {
    await using sim = await SimProcess.start('--vehicle', 'rover', '--speedup', '20');
    const client = await sim.ready();
    expect(await client.command(22, 0, 0, 0, 0, 0, 0, 10)).to.equal(UNSUPPORTED);
    expect(await client.command(176, 1, 15)).to.equal(ACCEPTED);
    expect(await client.command(400, 1)).to.equal(ACCEPTED);
    const north = HOME.lat + 30 * METRE;
    expect(await client.commandInt(192, [north, HOME.lon, 5], [-1, 1])).to.equal(ACCEPTED);
    const there = await client.next(
      common.GlobalPositionInt,
      ({ lat }) => Math.abs(lat / 1e7 - north) < METRE,
    );
    expect(there.relativeAlt).to.equal(0);
    expect(Math.min(there.hdg, 36_000 - there.hdg)).to.be.lessThan(200); // it has turned north
    expect(await client.command(400, 0)).to.equal(ACCEPTED);
    await client.armed(false);
  });

  it('a rover drives a mission to its end', async () => {
    await using sim = await SimProcess.start('--vehicle', 'rover', '--speedup', '40');
    const client = await sim.ready();
    expect(await client.command(176, 1, 15)).to.equal(ACCEPTED);
    expect(await client.command(400, 1)).to.equal(ACCEPTED);
    const last = client.next(common.MissionItemReached, ({ seq }) => seq === 3);
    expect(await client.command(300)).to.equal(ACCEPTED);
    await last;
  });

  it('keeps its unique id when its system id is changed, and takes another from the command line', async () => {
    await using sim = await SimProcess.start('--sysid', '1');
    const client = await sim.connect();
    const serial = async (): Promise<string> => {
      const version = client.next(standard.AutopilotVersion);
      client.target = 0; // whatever it is called by now
      client.order(520, 1);
      return Buffer.from((await version).uid2).toString('latin1');
    };
    const before = await serial();
    expect(before).to.equal('svc-sim-0000000001');
    const set = {
      targetSystem: 1,
      targetComponent: 1,
      paramId: 'SYSID_THISMAV',
      paramValue: 5,
      paramType: 4,
    };
    client.send(common.ParamSet, set);
    expect(await serial()).to.equal(before);
    await using other = await SimProcess.start('--uid', '4242');
    const second = await other.connect();
    const version = second.next(standard.AutopilotVersion);
    await second.command(520, 1);
    expect(Buffer.from((await version).uid2).toString('latin1')).to.equal('svc-sim-0000004242');
  });
});
