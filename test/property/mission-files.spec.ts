import { expect } from 'chai';
import fc from 'fast-check';
import { ardupilotmega, common } from 'node-mavlink';
import { compare } from '../../front/link/missions/compare.ts';
import { fromWire, toWire } from '../../front/link/missions/wire.ts';
import { decodeMission, decodeMissionIds } from '../../shared/mavlink/decode-mission.ts';
import { Frame } from '../../shared/mavlink/frame.ts';
import { Payload } from '../../shared/mavlink/payload.ts';
import { checkItems, refusedByArduPilot } from '../../shared/mission/check.ts';
import { CMD, ITEM_COMMANDS, isPlace } from '../../shared/mission/commands.ts';
import { itemsIn } from '../../shared/mission/document.ts';
import { numberedFrom } from '../../shared/mission/numbered.ts';
import { makePlan } from '../../shared/mission/plan.ts';
import { writeWpl } from '../../shared/mission/wpl.ts';
import type { FirstItem, MissionItem, MissionPart } from '../../shared/schemas/mission-item.ts';
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

/** The numbers of ArduPilot and of PX4. */
const firsts = fc.constantFrom<FirstItem>(0, 1);

/** A mission; with a jump at its end, if there is where to. */
const mission = fc.tuple(fc.array(missionItem, { maxLength: 30 }), firsts).map(([items, first]) => {
  const jump = {
    ...items[0],
    command: CMD.jump,
    frame: 2,
    param1: first + items.length - 1,
    param2: 3,
    x: 0,
    y: 0,
    z: 0,
  };
  return checkItems(
    'mission',
    items.length < 3 ? items : [...items, { param3: 0, param4: 0, autocontinue: 1, ...jump }],
    first,
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
  .map(([polygons, circles]) => checkItems('fence', [...polygons, ...circles].flat(), 1));
const rally = fc
  .array(fc.record({ x: degrees(90), y: degrees(180), z: float }), { maxLength: 9 })
  .map((points) =>
    checkItems(
      'rally',
      points.map((point) => ({ ...point, command: CMD.rallyPoint, frame: 3 })),
      1,
    ),
  );

/** Of an empty list either. */
function firstOf([item]: readonly MissionItem[]): FirstItem {
  return item?.seq === 1 ? 1 : 0;
}

const NOWHERE = { lat: 0, lon: 0, alt_msl: 0 };
const SAME = { wrong: null, otherwise: [] };
const WAYPOINT: MissionItem = {
  seq: 0,
  frame: 3,
  command: CMD.waypoint,
  param1: 0,
  param2: 0,
  param3: 0,
  param4: 0,
  x: 1,
  y: 1,
  z: 10,
  autocontinue: 1,
};

describe('mission files and the wire (properties)', () => {
  it('QGC WPL 110 out and in gives the same items', () => {
    fc.assert(
      fc.property(mission, (items) => {
        const first = firstOf(items);
        const read = itemsIn(writeWpl(items, 'mission', null), 'mission', first);
        expect(read).to.deep.equal({ items, warnings: first === 1 ? refusedByArduPilot(items) : [] });
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
          expect(itemsIn(plan, part, firstOf(missionItems))?.items).to.deep.equal(items);
      }),
    );
  });

  it('to the wire and back gives the same items, with and without a home item, and is no difference', () => {
    fc.assert(
      fc.property(mission, fc.constantFrom('ardupilot', 'px4'), (items, firmware) => {
        const first = firmware === 'ardupilot' ? 1 : 0;
        const wire = toWire(items, first, { lat: 1, lon: 2, alt_msl: 3 });
        expect(wire.length).to.equal(items.length === 0 ? 0 : items.length + first);
        const told = fromWire(wire, first);
        expect(compare('mission', told, told)).to.deep.equal({ wrong: null, otherwise: [] });
        const close = told.map((item, n) => ({ ...item, ...shortened(item, items[n]) }));
        expect(close).to.deep.equal(numberedFrom(items, first));
      }),
    );
  });

  it('put(get(x)) is x; on a vehicle that counts otherwise it gets its numbers, jumps too, and comes back as it was', () => {
    fc.assert(
      fc.property(mission, firsts, (items, other) => {
        const first = firstOf(items);
        const put = (list: readonly unknown[], to: FirstItem | null) => checkItems('mission', list, to);
        expect(put(items, first)).to.deep.equal(items);
        expect(put(items, null)).to.deep.equal(items);
        const moved = put(items, other);
        expect(moved.map(({ seq }) => seq)).to.deep.equal(items.map((_, index) => other + index));
        for (const [index, { command, param1 }] of moved.entries())
          if (command === CMD.jump)
            expect((param1 ?? 0) - other, 'the same item').to.equal((items[index]?.param1 ?? 0) - first);
        expect(put(moved, first)).to.deep.equal(items);
        // Without numbers the list counts as the vehicle does.
        expect(
          put(
            items.map(({ seq: _seq, ...item }) => item),
            first,
          ),
        ).to.deep.equal(items);
      }),
    );
  });

  it('heights that are kept in whole centimetres and yaws that are kept in radians come back as they were sent', () => {
    const cm = (value: number): number =>
      Math.fround(Math.trunc(Math.fround(value * 100)) * Math.fround(0.01));
    const radians = (value: number): number =>
      Math.fround(Math.fround(value * (Math.PI / 180)) * (180 / Math.PI));
    const height = fc.record({
      z: fc.integer({ min: -1_000_000, max: 1_000_000 }),
      yaw: fc.integer({ min: 0, max: 3599 }),
    });
    fc.assert(
      fc.property(height, ({ z, yaw }) => {
        const sent = { ...WAYPOINT, seq: 1, z: z / 100 + 0, param4: yaw / 10 };
        const held = toWire([sent], 1, NOWHERE).map((item) => ({
          ...item,
          z: cm(item.z),
          param4: radians(item.param4),
        }));
        expect(fromWire(held, 1)).to.deep.equal([sent]);
      }),
    );
  });

  it('a list that differs in number, command, frame, place or height is another one, from its index on', () => {
    const items = [0, 1, 2].map((seq) => ({ ...WAYPOINT, seq, x: seq, y: seq }));
    const changed = (change: Partial<MissionItem>): readonly MissionItem[] =>
      items.map((item) => (item.seq === 1 ? { ...item, ...change } : item));
    for (const change of [{ x: 5 }, { y: 1.0000005 }, { z: 10.5 }, { command: 17 }, { frame: 0 }])
      expect(compare('mission', items, changed(change)).wrong?.index, JSON.stringify(change)).to.equal(1);
    for (const alike of [{ frame: 6 }, { z: 10.004 }, { param4: 360 }, { x: 1 + 1e-7 }])
      expect(compare('mission', items, changed(alike)), JSON.stringify(alike)).to.deep.equal(SAME);
    expect(compare('mission', items, items.slice(0, 2)).wrong?.index).to.equal(2);
    expect(compare('mission', items, []).wrong?.index).to.equal(0);
    const jump = { ...WAYPOINT, command: CMD.jump, frame: 2, param1: 0 };
    expect(compare('mission', [jump], [{ ...jump, param1: 1 }]).wrong?.index).to.equal(0);
    for (const command of [CMD.polygonInclusion, CMD.circleExclusion]) {
      const corner = { ...WAYPOINT, command, frame: 0, param1: 4 };
      expect(compare('fence', [corner], [{ ...corner, param1: 3 }]).wrong?.index).to.equal(0);
      expect(compare('fence', [{ ...corner, frame: 3 }], [corner])).to.deep.equal(SAME);
    }
  });

  it('another member that is held otherwise is named, with what was sent and what is held', () => {
    const otherwise = (
      sent: Partial<MissionItem>,
      held: Partial<MissionItem>,
      part: MissionPart = 'mission',
    ) => compare(part, [{ ...WAYPOINT, ...sent }], [{ ...WAYPOINT, ...sent, ...held }]);
    const named = (member: string, sent: number, held: number | null, part = 'mission') => ({
      wrong: null,
      otherwise: [{ part, index: 0, seq: 0, member, sent, held }],
    });
    expect(otherwise({ command: 19, param3: 0 }, { param3: 1 })).to.deep.equal(named('param3', 0, 1));
    expect(otherwise({ param1: 2.5 }, { param1: 2 })).to.deep.equal(named('param1', 2.5, 2));
    expect(otherwise({ param4: 90 }, { param4: 0 })).to.deep.equal(named('param4', 90, 0));
    expect(otherwise({ param2: 3 }, { param2: null })).to.deep.equal(named('param2', 3, null));
    expect(otherwise({ autocontinue: 0 }, { autocontinue: 1 })).to.deep.equal(named('autocontinue', 0, 1));
    // A command without a place has numbers in x, y and z.
    expect(otherwise({ command: 203, frame: 2, x: 7 }, { x: 0 })).to.deep.equal(named('x', 7, 0));
    // ArduPilot keeps the height of a rally point in whole metres.
    expect(otherwise({ command: 5100, z: 40.7 }, { z: 40 }, 'rally')).to.deep.equal(
      named('z', 40.7, 40, 'rally'),
    );
    // NaN was the vehicle's to choose, and 450 degrees are 90 where it is a yaw.
    expect(otherwise({ command: 21, param4: null }, { param4: 1 })).to.deep.equal(SAME);
    expect(otherwise({ param4: 450 }, { param4: 90 })).to.deep.equal(SAME);
    expect(otherwise({ command: 184, frame: 2, param4: 450 }, { param4: 90 }).otherwise).to.have.length(1);
    // Fences and rally points do not go on to another.
    expect(otherwise({ command: 5003, param1: 9 }, { autocontinue: 0 }, 'fence')).to.deep.equal(SAME);
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

/** A float32 is told by its shortest decimal number, or by one near it with few digits; the property's own are of any length. */
function shortened(told: MissionItem, sent: MissionItem | undefined): Partial<MissionItem> {
  const names = ['param1', 'param2', 'param3', 'param4', 'z'] as const;
  return Object.fromEntries(
    names.map((name) => {
      const [a, b] = [told[name], sent?.[name] ?? null];
      const close = a !== null && b !== null && Math.abs(a - b) <= Math.abs(b) * 2 ** -21;
      const same = close || (a !== null && b !== null && Math.fround(a) === Math.fround(b));
      return [name, same ? b : a];
    }),
  );
}
