import { expect } from 'chai';
import { common } from 'node-mavlink';
import { ApiError } from '../../shared/errors.ts';
import type { MissionList, MissionWritten } from '../../shared/rpc/link-answers.ts';
import type { MissionItem, MissionPart } from '../../shared/schemas/mission-item.ts';
import { GroundStation } from '../link/ground-station.ts';
import { encodeAs } from '../link/mavlink-samples.ts';
import { refusal } from '../support/refusal.ts';
import { freePort } from '../support/temp.ts';
import { SimPair } from './sim-pair.ts';

const PLAIN = { param1: 0, param2: 0, param3: 0, param4: 0, autocontinue: 1 } as const;

function item(seq: number, command: number, more: Partial<MissionItem> = {}): MissionItem {
  return { ...PLAIN, seq, frame: 3, command, x: 0, y: 0, z: 0, ...more };
}

/** A survey: takeoff, lines with a camera distance between, home. */
function survey(count: number): MissionItem[] {
  return Array.from({ length: count }, (_, seq) => {
    if (seq === 0) return item(seq, 22, { x: -35.363, y: 149.165, z: 30, param4: null });
    if (seq === count - 1) return item(seq, 20, { frame: 2 });
    if (seq % 7 === 3) return item(seq, 206, { frame: 2, param1: 25, param3: 1 });
    return item(seq, 16, {
      x: -35.363 + seq * 1e-5,
      y: 149.165 - seq * 1e-5,
      z: 30 + (seq % 10) / 4,
      param4: null,
    });
  });
}

class Pair extends SimPair {
  static async start(...args: string[]): Promise<Pair> {
    return Pair.withEndpoint('[]', ...args);
  }

  /** @param endpoints YAML */
  static async withEndpoint(endpoints: string, ...args: string[]): Promise<Pair> {
    return new Pair(...(await SimPair.processes(args, endpoints)));
  }

  async write(part: MissionPart, items: readonly MissionItem[]): Promise<MissionWritten> {
    return this.link.calls.mission_write({ part, items, token: '' });
  }

  async read(part: MissionPart, refresh = false): Promise<MissionList> {
    return this.link.calls.mission_read({ part, refresh, token: '' });
  }
}

describe('missions, fences and rally points through svc-link', () => {
  for (const firmware of ['ardupilot', 'px4']) {
    // PX4 asks for one item after the other, and again after 250 ms: 700 take a minute and a half (npm run bench).
    const count = firmware === 'px4' ? 150 : 700;
    it(`${firmware}: ${count} items with a fifth of all frames lost, both ways, are held as they were sent`, async () => {
      await using pair = await Pair.start('--firmware', firmware);
      await pair.sim.fault({ dropFrames: 0.2 });
      const items = survey(count);
      const written = await pair.write('mission', items);
      expect(written).to.include({ count, from: 'vehicle' });
      for (const [seq, held] of written.items.entries()) {
        const sent = items[seq];
        expect([held.command, held.x, held.y, held.z], String(seq)).to.deep.equal(
          firmware === 'ardupilot' && held.command !== 16 && held.command !== 22
            ? [sent?.command, 0, 0, 0]
            : [sent?.command, ...places(sent), sent?.z],
        );
      }
      expect(written.id === null).to.equal(firmware === 'ardupilot');
    }).timeout(180_000);

    it(`${firmware}: three lists beside each other; the cache is told from the vehicle; clearing`, async () => {
      await using pair = await Pair.start('--firmware', firmware);
      const fence = [1, 2, 3].map((n, seq) =>
        item(seq, 5001, { param1: 3, x: -35 - n / 1000, y: 149 + (n % 2) / 1000 }),
      );
      expect((await pair.write('fence', fence)).count).to.equal(3);
      const rally = await pair.write('rally', [item(0, 5100, { x: -35.1, y: 149.1, z: 40 })]);
      expect(rally.warnings).to.deep.equal([]);
      expect((await pair.write('mission', survey(5))).count).to.equal(5);
      expect(await pair.read('fence')).to.include({ from: 'cache', count: 3 });
      expect(await pair.read('fence', true)).to.include({ from: 'vehicle', count: 3 });
      expect((await pair.read('rally', true)).items[0]).to.include({ command: 5100, z: 40, seq: 0 });
      expect((await pair.write('mission', [])).items).to.deep.equal([]);
      expect(await pair.read('mission', true)).to.include({ count: 0 });
    });

    it(`${firmware}: an item that it does not take is named, with what it holds now`, async () => {
      await using pair = await Pair.start('--firmware', firmware);
      await pair.write('mission', survey(4));
      const bad = survey(6).map((each) => (each.seq === 3 ? item(3, 31_010) : { ...each, z: 77 }));
      const error = await refusal(pair.write('mission', bad));
      expect(error.code).to.equal('E_MISSION_REJECTED');
      expect(error.extras).to.include({ index: 3, result: 'UNSUPPORTED' });
      expect(error.message).to.include(firmware === 'px4' ? 'refused item 3 ' : 'refused item 4 ');
      // PX4 keeps the old mission; ArduPilot has replaced it item by item up to there.
      const { items } = error.extras['held'] as MissionList;
      expect(items.map(({ z }) => z === 77)).to.deep.equal(
        firmware === 'px4' ? [false, false, false, false] : [true, true, true, false],
      );
    });
  }

  it('px4: the list before, told once more after the new one was taken, is not the answer', async () => {
    await using pair = await Pair.start('--firmware', 'px4');
    await pair.write('mission', survey(6));
    await pair.sim.fault({ loseLists: 1 });
    const items = [...survey(4), item(4, 16, { x: -35.3, y: 149.1, z: 9, param3: 1 })];
    const { count, warnings } = await pair.write('mission', items);
    expect(count).to.equal(5);
    expect(warnings).to.deep.equal([
      { part: 'mission', index: 4, seq: 4, member: 'param3', sent: 1, held: 0 },
    ]);
    // One that differs in parameters alone is told from it too.
    const delay = (seconds: number) => [item(0, 93, { frame: 2, param1: seconds })];
    await pair.write('mission', delay(7));
    await pair.sim.fault({ loseLists: 1 });
    expect((await pair.write('mission', delay(8))).warnings).to.deep.equal([]);
    expect((await pair.read('mission', true)).items[0]).to.include({ param1: 8 });
  });

  it('ardupilot: a fence that it took and lost is written once more; twice, and it is refused', async () => {
    await using pair = await Pair.start();
    const circle = [item(0, 5003, { frame: 0, param1: 100, x: -35.36, y: 149.16 })];
    await pair.sim.fault({ loseLists: 1 });
    expect(await pair.write('fence', circle)).to.include({ count: 1 });
    await pair.sim.fault({ loseLists: 2 });
    const error = await refusal(pair.write('fence', circle));
    expect(error.extras).to.deep.include({ result: 'DIFFERENT', index: 0, held: { items: [], count: 0 } });
  });

  it('one transfer at a time: the second is E_BUSY, the first goes on', async () => {
    await using pair = await Pair.start();
    const first = pair.write('mission', survey(300));
    const second = await refusal(pair.write('fence', []));
    expect(second.code).to.equal('E_BUSY');
    expect((await first).count).to.equal(300);
    const both = await Promise.all([pair.read('mission', true), pair.read('mission', true)]);
    expect(both.map(({ count }) => count)).to.deep.equal([300, 300]);
  });

  for (const firmware of ['ardupilot', 'px4']) {
    it(`${firmware}: a ground station that uploads at the same time: waits or E_BUSY, never a mix`, async () => {
      const port = await freePort();
      await using pair = await Pair.withEndpoint(`["tcp:127.0.0.1:${port}"]`, '--firmware', firmware);
      await pair.write('mission', survey(4));
      const station = await GroundStation.tcp(port);
      const question = firmware === 'px4' ? common.MissionRequestInt : common.MissionRequest;
      const asked = station.hears(1, 1, question.MSG_ID);
      station.send(encodeAs(missionCount(9), 'v2', 0, 255, 190));
      await asked;
      // It never sends an item: PX4 gives it up after 5 s, ArduPilot after 8 s.
      const outcome = await pair.write('mission', survey(6)).catch((error: unknown) => error);
      station.close();
      if (outcome instanceof ApiError) expect(outcome.code).to.equal('E_BUSY');
      else expect(outcome).to.include({ count: 6 });
      expect((await pair.write('mission', survey(7))).count).to.equal(7);
    }).timeout(120_000);
  }

  it('another station that clears the mission through our router: the cache is dropped', async () => {
    const port = await freePort();
    await using pair = await Pair.withEndpoint(`["tcp:127.0.0.1:${port}"]`);
    await pair.write('mission', survey(4));
    expect(await pair.read('mission')).to.include({ from: 'cache', count: 4 });
    const station = await GroundStation.tcp(port);
    const acked = station.hears(1, 1, common.MissionAck.MSG_ID);
    const clear = Object.assign(new common.MissionClearAll(), {
      targetSystem: 1,
      targetComponent: 1,
      missionType: 0,
    });
    station.send(encodeAs(clear, 'v2', 0, 255, 190));
    await acked;
    expect(await pair.read('mission')).to.include({ from: 'vehicle', count: 0 });
    station.close();
  });

  it('a vehicle that falls silent in the middle: E_TIMEOUT, and what it holds is not known', async () => {
    await using pair = await Pair.start();
    const running = refusal(pair.write('mission', survey(500)));
    await pair.sim.fault({ silence: true });
    const error = await running;
    expect(error.code).to.equal('E_TIMEOUT');
    expect(error.extras).to.have.property('held', null);
    expect((await refusal(pair.read('mission'))).code).to.equal('E_TIMEOUT');
  }).timeout(120_000);
});

function missionCount(count: number): common.MissionCount {
  return Object.assign(new common.MissionCount(), {
    count,
    targetSystem: 1,
    targetComponent: 1,
    missionType: 0,
  });
}

function places(sent: MissionItem | undefined): number[] {
  return [Math.round((sent?.x ?? 0) * 1e7) / 1e7, Math.round((sent?.y ?? 0) * 1e7) / 1e7];
}
