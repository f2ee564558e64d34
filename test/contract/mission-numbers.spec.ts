import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { common, type MavLinkData } from 'node-mavlink';
import { KeptPlan } from '../../front/control/stores/kept-plan.ts';
import { inserted, moved, newItem, removed } from '../../residual/web/src/pages/plan/list.ts';
import { checkItems } from '../../shared/mission/check.ts';
import { numberedFrom } from '../../shared/mission/numbered.ts';
import { createLogger } from '../../shared/process/logger.ts';
import type { MissionItem } from '../../shared/schemas/mission-item.ts';
import { GroundStation } from '../link/ground-station.ts';
import { encodeAs } from '../link/mavlink-samples.ts';
import { SimProcess } from '../sim/sim-process.ts';
import { KEY } from '../support/edge.ts';
import { known, telemetry } from '../support/events.ts';
import { TestNode } from '../support/node.ts';
import { svc } from '../support/svc.ts';
import { freePort, removeDir, tempDir } from '../support/temp.ts';

const key = { 'x-svc-key': KEY };
const place = { frame: 3, x: -35.3631, y: 149.1652, z: 20 };
const ITEMS = [
  { ...place, command: 22, param4: null },
  { ...place, command: 16, x: -35.362 },
  { ...place, command: 16, x: -35.361, z: 600 },
];

for (const [firmware, first] of [
  ['ardupilot', 1],
  ['px4', 0],
] as const) {
  describe(`the number of a mission's item: ${firmware}`, () => {
    const [second, last, jump] = [first + 1, first + 2, first + 3];
    let sim: SimProcess;
    let node: TestNode;
    let port: number;

    const send = async (method: 'GET' | 'PUT', path: string, items?: readonly object[]) => {
      const { status, body } = await node.json(path, {
        method,
        headers: { ...key, 'content-type': 'application/json' },
        ...(items === undefined ? {} : { body: JSON.stringify({ items }) }),
      });
      return { status, body, items: (body['items'] ?? []) as readonly MissionItem[] };
    };
    const setCurrent = async (seq: number) =>
      node.post('/api/command', { cmd: 'missionSetCurrent', args: [seq] }, key);

    before(async () => {
      port = await freePort();
      sim = await SimProcess.start('--no-mission', '--firmware', firmware);
      node = await TestNode.start({
        pairing: { key: KEY },
        simulated: false,
        config: `mavlink:\n  source: tcp:127.0.0.1:${sim.port}\n  endpoints: ["tcp:127.0.0.1:${port}"]\n`,
      });
      await known(node);
      const jumps = { frame: 2, command: 177, param1: second, param2: 1 };
      const { status, body } = await send('PUT', '/api/mission', [...ITEMS, jumps]);
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body['warnings']).to.deep.equal([`Item ${last} is 600 m high.`]);
    });

    after(async () => {
      await node?.stop();
      await sim?.[Symbol.asyncDispose]();
    });

    it("is the vehicle's own everywhere: in the list, on the wire, under way, as a command, for svc", async () => {
      const { items } = await send('GET', '/api/mission?refresh=1');
      expect(items.map(({ seq }) => seq)).to.deep.equal([first, second, last, jump]);
      expect(items[1]).to.include({ seq: second, x: -35.362 });
      expect(items[3]).to.include({ command: 177, param1: second });

      const station = await GroundStation.tcp(port);
      const tells = station.hears(
        1,
        1,
        common.MissionCurrent.MSG_ID,
        (payload) => payload.readUInt16LE(0) === second,
      );
      const shows = telemetry(
        node,
        ({ mission }) => (mission as { current: number | null }).current === second,
        key,
      );
      expect((await setCurrent(second)).body, 'set').to.include({ status: 'accepted' });
      await Promise.all([tells, shows]);

      const vehicle = { targetSystem: 1, targetComponent: 1, missionType: 0 };
      const ask = (message: MavLinkData): void =>
        station.send(encodeAs(Object.assign(message, vehicle), 'v2', 0, 255, 190));
      const counts = station.hears(1, 1, common.MissionCount.MSG_ID);
      ask(new common.MissionRequestList());
      await counts;
      // PX4 tells them in their order only, and waits for the end.
      for (let seq = 0; seq <= jump; seq++) {
        const told = station.hears(
          1,
          1,
          common.MissionItemInt.MSG_ID,
          (payload) => payload.readUInt16LE(28) === seq,
        );
        ask(Object.assign(new common.MissionRequestInt(), { seq }));
        const { payload } = await told;
        if (seq === second) expect(payload.readInt32LE(16), 'the same waypoint').to.equal(-353_620_000);
      }
      ask(Object.assign(new common.MissionAck(), { type: 0 }));
      station.close();

      const { stdout } = await svc(node.paths, 'mission', 'get');
      expect(stdout.split('\n')[1]).to.match(new RegExp(`^ +${second} NAV_WAYPOINT .*-35\\.3620000`));
      expect(stdout).to.include('4 items');
    });

    it('that the mission does not have is refused, with those that it has', async () => {
      const has = `its mission has the items ${first} to ${jump}.`;
      const { status, body } = await setCurrent(jump + 1);
      expect([status, body['detail']]).to.deep.equal([400, `missionSetCurrent: ${has}`]);
      if (first === 0) return;
      expect((await setCurrent(0)).body['detail']).to.equal(
        `missionSetCurrent: item 0 is the vehicle's home, and ${has}`,
      );
    });

    it('may be of another firmware in a list that is written: the vehicle gives its own, to jumps too', async () => {
      const { items: held } = await send('GET', '/api/mission');
      const other = 1 - first;
      const shift = other - first;
      const others = held.map((item) => ({
        ...item,
        seq: item.seq + shift,
        param1: item.command === 177 ? (item.param1 ?? 0) + shift : item.param1,
      }));
      expect(others[0]).to.include({ seq: other });
      for (const list of [held, others]) {
        const { status, items } = await send('PUT', '/api/mission', list);
        expect(status).to.equal(200);
        expect(items).to.deep.equal(held);
      }
    });

    it("of a wrong item: the vehicle's in words, the place in the list as index", async () => {
      const refused = async (items: readonly object[]): Promise<unknown[]> => {
        const { status, body } = await send('PUT', '/api/mission?dry_run=1', items);
        return [status, body['index'], body['detail']];
      };
      const [takeoff = {}, waypoint = {}] = ITEMS;
      const listed = (...numbers: number[]) => numbers.map((seq) => ({ ...waypoint, seq }));
      expect(await refused([takeoff, { ...waypoint, x: 95 }])).to.deep.equal([
        422,
        1,
        `Item ${second}: x is the latitude in degrees, -90 to 90, and is 95.`,
      ]);
      expect(await refused(listed(0, 1, 3))).to.deep.equal([
        422,
        2,
        `Item ${last}: seq is 3, and 2 is next in the list.`,
      ]);
      expect(await refused(listed(2, 3))).to.deep.equal([
        422,
        0,
        `Item ${first}: seq is 2, and the first one is 0 or 1.`,
      ]);
      const jumps = (target: number) => ({ frame: 2, command: 177, param1: target, param2: 1 });
      // A list without numbers counts as the vehicle does.
      expect(await refused([takeoff, jumps(second + 1)])).to.deep.equal([
        422,
        1,
        `Item ${second}: DO_JUMP to ${last}, and the items of the list are ${first} to ${second}.`,
      ]);
    });
  });
}

describe('a plan file that was kept while missions counted from 0', () => {
  it('is still given back, whatever the vehicle counts from', async () => {
    const dir = await tempDir();
    const file = join(dir, 'plan.json');
    const plan = { fileType: 'Plan', mission: { items: ['a survey'] } } as const;
    const items = checkItems('mission', [...ITEMS, { frame: 2, command: 177, param1: 1, param2: 1 }], 0);
    // As version 1.0.0 wrote it.
    await writeFile(file, JSON.stringify({ plan, held: { mission: JSON.stringify(items) } }), {
      mode: 0o600,
    });
    const kept = new KeptPlan(file, createLogger('test', 'silent'));
    const made = { fileType: 'Plan', mission: { items: [] } } as const;
    for (const first of [0, 1]) {
      const lists = { mission: numberedFrom(items, first), fence: [], rally: [] };
      expect((await kept.merged(made, lists))['mission'], String(first)).to.deep.equal(plan.mission);
    }
    const other = { mission: numberedFrom(items.slice(1), 1), fence: [], rally: [] };
    expect((await kept.merged(made, other))['mission']).to.deep.equal(made.mission);
    await removeDir(dir);
  });
});

describe('what the page does to a list', () => {
  it('goes on from the number of its first item, and jumps go on to the same item', () => {
    const [takeoff, first, second] = ITEMS;
    const jump = { frame: 2, command: 177, param1: 2, param2: 1 };
    const items = checkItems('mission', [takeoff, first, jump, second], 1);
    const numbers = (list: readonly MissionItem[]) =>
      list.map(({ seq, command, param1 }) => (command === 177 ? `${seq}>${param1}` : `${seq}`));
    expect(numbers(items)).to.deep.equal(['1', '2', '3>2', '4']);
    const waypoint = newItem(items, 1, 16, { lat: 1, lon: 2 });
    expect(numbers(inserted(items, 1, waypoint))).to.deep.equal(['1', '2', '3', '4>3', '5']);
    expect(numbers(moved(items, 1, 3))).to.deep.equal(['1', '2>4', '3', '4']);
    expect(numbers(removed(items, 0))).to.deep.equal(['1', '2>1', '3']);
    expect(numbers(removed(items, 1)), 'to none').to.deep.equal(['1', '2>-1', '3']);
    expect(newItem(items, 4, 177, { lat: 1, lon: 2 })).to.include({ seq: 5, param1: 1 });
  });
});
