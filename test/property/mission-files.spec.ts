import { expect } from 'chai';
import fc from 'fast-check';
import { ardupilotmega, common } from 'node-mavlink';
import { compare, fromWire, toWire } from '../../front/link/missions/wire.ts';
import { decodeMission, decodeMissionIds } from '../../shared/mavlink/decode-mission.ts';
import { Frame } from '../../shared/mavlink/frame.ts';
import { Payload } from '../../shared/mavlink/payload.ts';
import { checkItems } from '../../shared/mission/check.ts';
import { CMD, ITEM_COMMANDS, isPlace } from '../../shared/mission/commands.ts';
import type { MissionItem, MissionPart } from '../../shared/mission/item.ts';
import { makePlan, readPlan } from '../../shared/mission/plan.ts';
import { readWpl, writeWpl } from '../../shared/mission/wpl.ts';
import { encodeAs } from '../link/mavlink-samples.ts';

const float = fc.float({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0); // no -0
const param = fc.oneof(float, fc.constant(null));
const degrees = (most: number) => fc.integer({ min: -most * 1e7, max: most * 1e7 }).map((n) => n / 1e7 + 0);
const commands = [...ITEM_COMMANDS.keys()].filter(
  (id) => (id < CMD.returnPoint || id > CMD.rallyPoint) && id !== CMD.jump,
);

const missionItem = fc
  .record({
    command: fc.constantFrom(...commands),
    frame: fc.constantFrom(0, 3, 10),
    param1: param,
    param2: param,
    param3: param,
    param4: param,
    x: degrees(90),
    y: degrees(180),
    z: float,
    autocontinue: fc.constantFrom(0, 1),
  })
  .map((item) => (isPlace(item.command) ? item : { ...item, frame: 2, x: 3, y: -4 }));

/** A mission; with a jump at its end, if there is where to. */
const mission = fc.array(missionItem, { maxLength: 30 }).map((items) => {
  const jump = {
    ...items[0],
    command: CMD.jump,
    frame: 2,
    param1: items.length - 1,
    param2: 3,
    x: 0,
    y: 0,
    z: 0,
  };
  return checkItems(
    'mission',
    items.length < 3 ? items : [...items, { param3: 0, param4: 0, autocontinue: 1, ...jump }],
  );
});

const polygon = fc
  .record({
    inside: fc.boolean(),
    points: fc.array(fc.tuple(degrees(90), degrees(180)), { minLength: 3, maxLength: 9 }),
  })
  .map(({ inside, points }) =>
    points.map(([x, y]) => ({
      command: inside ? CMD.polygonInclusion : CMD.polygonExclusion,
      frame: 0,
      param1: points.length,
      x,
      y,
    })),
  );
const circle = fc
  .record({
    inside: fc.boolean(),
    radius: fc.integer({ min: 1, max: 5000 }),
    x: degrees(90),
    y: degrees(180),
  })
  .map(({ inside, radius, x, y }) => [
    { command: inside ? CMD.circleInclusion : CMD.circleExclusion, frame: 0, param1: radius, x, y },
  ]);
const fence = fc
  .tuple(fc.array(polygon, { maxLength: 4 }), fc.array(circle, { maxLength: 4 }))
  .map(([polygons, circles]) => checkItems('fence', [...polygons, ...circles].flat()));
const rally = fc
  .array(fc.record({ x: degrees(90), y: degrees(180), z: float }), { maxLength: 9 })
  .map((points) =>
    checkItems(
      'rally',
      points.map((point) => ({ ...point, command: CMD.rallyPoint, frame: 3 })),
    ),
  );

describe('mission files and the wire (properties)', () => {
  it('QGC WPL 110 out and in gives the same items', () => {
    fc.assert(
      fc.property(mission, (items) => {
        expect(checkItems('mission', readWpl(writeWpl(items, null)))).to.deep.equal(items);
      }),
    );
  });

  it('a plan file out and in gives the same mission, fence and rally points', () => {
    fc.assert(
      fc.property(mission, fence, rally, (...lists) => {
        const [missionItems, fenceItems, rallyItems] = lists;
        const made = {
          mission: missionItems,
          fence: fenceItems,
          rally: rallyItems,
          home: null,
          firmware: 'px4',
        };
        const plan = JSON.parse(JSON.stringify(makePlan(made))) as ReturnType<typeof makePlan>;
        for (const [part, items] of [
          ['mission', missionItems],
          ['fence', fenceItems],
          ['rally', rallyItems],
        ] as [MissionPart, readonly MissionItem[]][])
          expect(checkItems(part, readPlan(plan, part) ?? [])).to.deep.equal(items);
      }),
    );
  });

  it('to the wire and back gives the same items, with and without a home item, and is no difference', () => {
    fc.assert(
      fc.property(mission, fc.constantFrom('ardupilot', 'px4'), (items, firmware) => {
        const first = firmware === 'ardupilot' ? 1 : 0;
        const wire = toWire(items, first, { lat: 1, lon: 2, alt_msl: 3 });
        expect(wire.length).to.equal(items.length === 0 ? 0 : items.length + first);
        expect(compare('mission', wire, wire, first)).to.deep.equal({ wrong: null, notes: [] });
        const close = fromWire(wire, first).map((item, n) => ({ ...item, ...shortened(item, items[n]) }));
        expect(close).to.deep.equal(items);
      }),
    );
  });

  it('a list that differs in place, height, command, or number is a difference, at its index', () => {
    const items = checkItems(
      'mission',
      [1, 2, 3].map((n) => ({ command: 16, frame: 3, x: n, y: n, z: 10 })),
    );
    const wire = toWire(items, 1, { lat: 1, lon: 2, alt_msl: 3 });
    const changed = (change: object) => wire.map((item) => (item.seq === 2 ? { ...item, ...change } : item));
    for (const change of [{ x: 5 }, { z: 10.5 }, { command: 17 }, { frame: 0 }, { param1: 7 }])
      expect(compare('mission', wire, changed(change), 1).wrong?.index, JSON.stringify(change)).to.equal(1);
    for (const alike of [{ frame: 6 }, { z: 10.004 }, { param4: 360 }])
      expect(compare('mission', wire, changed(alike), 1), JSON.stringify(alike)).to.deep.equal({
        wrong: null,
        notes: [],
      });
    expect(compare('mission', wire, wire.slice(0, 3), 1).wrong?.index).to.equal(2);
    const yawed = wire.map((item) => ({ ...item, param4: 90 }));
    expect(compare('mission', yawed, wire, 1).notes).to.have.length(3);
  });

  it('the names of commands are those of MAVLink', () => {
    for (const [id, { name }] of ITEM_COMMANDS)
      expect(common.MavCmd[id] ?? ardupilotmega.MavCmd[id], String(id)).to.equal(name);
  });

  it('the mission messages are decoded as node-mavlink encodes them', () => {
    const item = Object.assign(new common.MissionItemInt(), {
      param1: 1.5,
      param2: 2.5,
      param3: -3.5,
      param4: 4.5,
      x: -5,
      y: 6,
      z: 7.5,
      seq: 800,
      command: 42_600,
      targetSystem: 9,
      targetComponent: 191,
      frame: 11,
      current: 0,
      autocontinue: 1,
      missionType: 2,
    });
    const count = Object.assign(new common.MissionCount(), {
      count: 700,
      targetSystem: 9,
      targetComponent: 191,
      missionType: 1,
      opaqueId: 0xdeadbeef,
    });
    const ack = Object.assign(new common.MissionAck(), {
      targetSystem: 9,
      targetComponent: 191,
      type: 13,
      missionType: 1,
      opaqueId: 0x01020304,
    });
    const current = Object.assign(new common.MissionCurrent(), {
      seq: 1,
      total: 2,
      missionState: 3,
      missionMode: 1,
      missionId: 5,
      fenceId: 6,
      rallyPointsId: 7,
    });
    const load = (message: Parameters<typeof encodeAs>[0]): [Frame, Payload] => {
      const bytes = encodeAs(message, 'v2', 1, 1, 1);
      const frame = new Frame(bytes);
      frame.point(0, bytes.length, true);
      return [frame, new Payload().load(frame)];
    };
    const to = { targetSystem: 9, targetComponent: 191 };
    const { targetSystem, targetComponent, current: _current, missionType, ...fields } = item;
    expect([targetSystem, targetComponent, missionType]).to.deep.equal([9, 191, 2]);
    expect(decodeMission(...load(item))).to.deep.equal({
      kind: 'item',
      ...to,
      missionType: 2,
      item: { ...fields },
    });
    expect(decodeMission(...load(count))).to.deep.equal({
      kind: 'count',
      ...to,
      missionType: 1,
      count: 700,
      opaqueId: 0xdeadbeef,
    });
    expect(decodeMission(...load(ack))).to.deep.equal({
      kind: 'ack',
      ...to,
      missionType: 1,
      result: 13,
      opaqueId: 0x01020304,
    });
    expect(decodeMissionIds(load(current)[1])).to.deep.equal({ total: 2, mission: 5, fence: 6, rally: 7 });
  });
});

/** A float32 is told by its shortest decimal number; the property's own are of any length. */
function shortened(told: MissionItem, sent: MissionItem | undefined): Partial<MissionItem> {
  const names = ['param1', 'param2', 'param3', 'param4', 'z'] as const;
  return Object.fromEntries(
    names.map((name) => {
      const [a, b] = [told[name], sent?.[name] ?? null];
      return [name, a !== null && b !== null && Math.fround(a) === Math.fround(b) ? b : a];
    }),
  );
}
