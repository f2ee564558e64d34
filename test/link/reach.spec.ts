import { expect } from 'chai';
import { common } from 'node-mavlink';
import { RoutedPeer } from '../../front/link/endpoints/routed-peer.ts';
import type { FrameSink } from '../../front/link/router/router.ts';
import type { Scope } from '../../shared/auth/scopes.ts';
import { ApiError } from '../../shared/errors.ts';
import { crcExtraOf } from '../../shared/mavlink/dialect.ts';
import { MSG } from '../../shared/mavlink/messages.ts';
import { CMD } from '../../shared/mission/commands.ts';
import { checkReach, type Goal, type ReachFacts } from '../../shared/mission/reach.ts';
import type { CommandRequest } from '../../shared/rpc/link.ts';
import type { MissionItem } from '../../shared/schemas/mission-item.ts';
import { refusal } from '../support/refusal.ts';
import { commandAck, globalPosition, homePosition, paramValue, rawV2 } from './mavlink-samples.ts';
import { Rig, type RigOptions } from './rig.ts';

const REPOSITION = 192;
const ORBIT = 34;
/** MAV_PROTOCOL_CAPABILITY_MISSION_FENCE */
const FENCES = 16_384;
const HERE = { lat: 48, lon: 11 };
/** Degrees of latitude in a metre. */
const METRE = 1 / 111_195;

/** A vehicle at HERE, whose home is there too and whose parameters are these, that takes each command. */
async function at(
  params: Readonly<Record<string, number>> = {},
  options: RigOptions = { maxGotoM: 2000 },
): Promise<Rig> {
  const rig = new Rig(options);
  rig.onSent = ({ id, fields }) => {
    if ((id === 75 || id === 76) && fields['command'] !== 511)
      rig.say(commandAck(Number(fields['command']), 0, rig.system));
  };
  await rig.meet();
  rig.say(globalPosition(100, HERE.lat, HERE.lon));
  rig.say(homePosition(HERE.lat, HERE.lon));
  const names = Object.entries(params);
  for (const [index, [name, value]] of names.entries()) rig.say(paramValue(name, value, index, names.length));
  await rig.live(500);
  rig.sent.length = 0;
  return rig;
}

const north = (metres: number, alt = 20): number[] => [HERE.lat + metres * METRE, HERE.lon, alt];

describe('a place that is too far away', () => {
  it('further than flight.max_goto_m is refused with the distance, before anything is sent; allow_far sends it', async () => {
    const rig = await at();
    expect((await rig.command('goto', north(1999))).status).to.equal('accepted');
    rig.sent.length = 0;
    const { code, status, message, extras } = await refusal(rig.command('goto', north(2010)));
    expect([code, status]).to.deep.equal(['E_TOO_FAR', 422]);
    expect(message).to.match(/2010 m from the vehicle.*allows 2000 m.*allow_far: true/);
    expect(extras['distance_m']).to.be.closeTo(2010, 1);
    expect(extras).to.deep.include({
      bound: 'max_goto_m',
      limit_m: 2000,
      override: { body: { allow_far: true } },
    });
    const far: CommandRequest = { cmd: 'goto', args: [-48, -169, 20] };
    expect((await refusal(rig.calls.command(far))).message).to.include('20016 km from the vehicle');
    expect(rig.commands(REPOSITION)).to.deep.equal([]);
    const sent = rig.calls.command({ ...far, allow_far: true });
    await rig.live(500);
    expect((await sent).status).to.equal('accepted');
    await rig.link.stop();
  });

  it('dry_run says so, and sends nothing either way', async () => {
    const rig = await at();
    const { code } = await refusal(rig.calls.command({ cmd: 'goto', args: north(2010), dry_run: true }));
    expect(code).to.equal('E_TOO_FAR');
    const orders: readonly CommandRequest[] = [
      { cmd: 'goto', args: north(1999) },
      { cmd: 'goto', args: north(2010), allow_far: true },
      { cmd: 'arm', args: [] },
      { cmd: 'killSwitch', args: ['KILL'] },
    ];
    for (const order of orders)
      expect((await rig.calls.command({ ...order, dry_run: true })).status, order.cmd).to.equal('checked');
    const unknown = await refusal(rig.calls.command({ cmd: 'mode', args: ['HOVER'], dry_run: true }));
    expect(unknown.message).to.match(/^Unknown mode: HOVER\. This vehicle knows: /);
    expect(rig.sent.filter(({ id }) => id === 75 || id === 76)).to.deep.equal([]);
    await rig.link.stop();
  });

  it('is so for an orbit, with its radius, and for a set-point', async () => {
    const rig = await at({}, { maxGotoM: 2000, autopilot: 12 });
    const args = (radius: number): number[] => [radius, 5, ...north(1900)];
    expect((await rig.command('orbit', args(-50))).status).to.equal('accepted');
    expect(rig.commands(ORBIT)).to.have.length(1);
    expect((await refusal(rig.command('orbit', args(-150)))).extras['distance_m']).to.be.closeTo(2050, 1);
    const [lat = 0, lon = 0, alt = 0] = north(2010);
    const point = { type: 'position', lat, lon, alt } as const;
    expect(() => rig.calls.setpoint({ holder: 'a', point })).to.throw(
      ApiError,
      'set-point: the place is 2010 m',
    );
    expect(rig.calls.setpoint({ holder: 'a', point: { ...point, allow_far: true } }).holder).to.equal('a');
    await rig.link.stop();
  });

  it('is every place while the position is not known; nothing bounds it with 0', async () => {
    const rig = await at();
    rig.say(globalPosition(200, HERE.lat, HERE.lon));
    await rig.live(10_000);
    const near: CommandRequest = { cmd: 'goto', args: north(1) };
    const going = rig.calls.command(near);
    await rig.live(500);
    expect((await going).status, 'it was known 10 s ago').to.equal('accepted');
    const { message, extras } = await refusal(rig.command('goto', north(1)));
    expect(message).to.include('position is not known');
    expect(extras).to.include({ distance_m: null, bound: 'max_goto_m' });
    const free = await at({}, {});
    await free.live(11_000);
    expect((await free.command('goto', north(4_000_000))).status).to.equal('accepted');
    await Promise.all([rig.link.stop(), free.link.stop()]);
  });

  it('is for goto and orbit to refuse, and for no vehicle that cannot orbit; an orbit that is meant is flown', async () => {
    const rig = await at({}, { maxGotoM: 2000, autopilot: 12 });
    const far: CommandRequest = { cmd: 'orbit', args: [50, 5, ...north(18_000)] };
    const meant = rig.calls.command({ ...far, allow_far: true });
    await rig.live(4000);
    expect((await meant).status).to.equal('accepted');
    await rig.live(11_000); // it has no position any more
    expect((await rig.command('roi', north(18_000))).status).to.equal('accepted');
    const copter = await at();
    expect((await refusal(copter.command('orbit', far.args))).code).to.equal('E_BAD_REQUEST');
    await Promise.all([rig.link.stop(), copter.link.stop()]);
  });

  it('is not one by a home that is not known', async () => {
    const rig = new Rig({ maxGotoM: 2000 });
    await rig.meet();
    rig.onSent = ({ id, fields }) => {
      if ((id === 75 || id === 76) && fields['command'] !== 511)
        rig.say(commandAck(Number(fields['command']), 0, rig.system));
    };
    rig.say(globalPosition(100, HERE.lat, HERE.lon));
    const fence = { FENCE_ENABLE: 1, FENCE_TYPE: 2, FENCE_RADIUS: 300 };
    for (const [index, [name, value]] of Object.entries(fence).entries())
      rig.say(paramValue(name, value, index, 3));
    await rig.live(500);
    expect((await rig.command('goto', north(400))).status).to.equal('accepted');
    await rig.link.stop();
  });

  it("is one outside of the vehicle's own circle or heights, while its fence is on", async () => {
    const fence = { FENCE_TYPE: 11, FENCE_RADIUS: 300, FENCE_ALT_MAX: 100, FENCE_ALT_MIN: 5 };
    const off = await at({ ...fence, FENCE_ENABLE: 0 });
    expect((await off.command('goto', north(400, 150))).status).to.equal('accepted');
    for (const on of [{ FENCE_ENABLE: 1 }, { FENCE_ENABLE: 0, FENCE_AUTOENABLE: 1 }]) {
      const rig = await at({ ...fence, ...on });
      const cases: [place: number[], bound: string, limit: number, words: RegExp][] = [
        [north(310), 'fence_radius', 300, /310 m from home, 310 m from the vehicle.*FENCE_RADIUS/],
        [north(10, 101), 'fence_height', 100, /101 m above home is higher.*FENCE_ALT_MAX/],
        [north(10, 4), 'fence_height', 5, /lower.*FENCE_ALT_MIN/],
      ];
      for (const [place, bound, limit, words] of cases) {
        const { message, extras } = await refusal(rig.command('goto', place));
        expect(message).to.match(words);
        expect(extras).to.include({ bound, limit_m: limit });
      }
      expect((await rig.command('goto', north(290, 99))).status).to.equal('accepted');
      await rig.link.stop();
    }
    const px4 = await at({ GF_ACTION: 2, GF_MAX_HOR_DIST: 300, GF_MAX_VER_DIST: 0 }, { autopilot: 12 });
    expect((await refusal(px4.command('goto', north(310)))).message).to.include('GF_MAX_HOR_DIST');
    expect((await px4.command('goto', north(290, 400))).status).to.equal('accepted');
    await Promise.all([off.link.stop(), px4.link.stop()]);
  });

  it("is one outside of the vehicle's polygon, which is read where it is not known; without an answer the vehicle's own refusal must do", async () => {
    const on = { FENCE_ENABLE: 1, FENCE_TYPE: 4, FENCE_TOTAL: 3 };
    const rig = await at(on, { maxGotoM: 2000, version: { capabilities: FENCES } });
    const corners = [north(-100), [HERE.lat, HERE.lon - 0.01], [HERE.lat + 100 * METRE, HERE.lon + 0.001]];
    const answer = rig.onSent;
    rig.onSent = (sent) => {
      answer(sent);
      const to = { targetSystem: rig.system, targetComponent: 191, missionType: 1 };
      if (sent.id === 43) rig.say(Object.assign(new common.MissionCount(), { ...to, count: 3 }));
      if (sent.id !== 51) return;
      const seq = Number(sent.fields['seq']);
      const [lat = 0, lon = 0] = corners[seq] ?? [];
      const place = { x: Math.round(lat * 1e7), y: Math.round(lon * 1e7), z: 0, frame: 0 };
      const item = { ...to, ...place, seq, command: CMD.polygonInclusion, param1: 3 };
      rig.say(Object.assign(new common.MissionItemInt(), item));
    };
    const { extras, message } = await refusal(rig.command('goto', north(150)));
    expect(message).to.include("outside of the vehicle's fence, 150 m from the vehicle");
    expect(extras).to.include({ bound: 'fence_area', limit_m: null });
    const asked = (): number => rig.sent.filter(({ id }) => id === 43).length;
    expect(asked()).to.equal(1);
    expect((await rig.command('goto', north(10))).status).to.equal('accepted');
    expect(asked(), 'it is known by now').to.equal(1);
    const silent = await at(on, { maxGotoM: 2000, version: { capabilities: FENCES } });
    expect((await silent.command('goto', north(150))).status).to.equal('accepted');
    await Promise.all([rig.link.stop(), silent.link.stop()]);
  });

  it('does not end a command that is under way, and a stop that comes meanwhile is not flown over', async () => {
    const on = { FENCE_ENABLE: 1, FENCE_TYPE: 4, FENCE_TOTAL: 3 };
    const rig = await at(on, { maxGotoM: 2000, version: { capabilities: FENCES } });
    const going = rig.calls.command({ cmd: 'goto', args: north(150) });
    await rig.clock.advance(100); // it waits for the fence
    expect((await rig.command('stop')).status).to.equal('accepted');
    await rig.live(3000);
    expect((await going).status).to.equal('no_ack');
    expect(rig.commands(REPOSITION)).to.deep.equal([]);
    await rig.link.stop();
  });
});

describe('the polygons and circles of a fence', () => {
  const item = (command: number, param1: number, x: number, y: number): MissionItem => ({
    seq: 0,
    frame: 0,
    command,
    param1,
    param2: null,
    param3: null,
    param4: null,
    x,
    y,
    z: 0,
    autocontinue: 1,
  });
  /** A square of degrees around a place. */
  const square = (command: number, lat: number, lon: number, half: number): readonly MissionItem[] =>
    [
      [-1, -1],
      [-1, 1],
      [1, 1],
      [1, -1],
    ].map(([a = 0, b = 0]) => item(command, 4, lat + a * half, lon + b * half));
  const allowed = (
    fence: readonly MissionItem[],
    goal: Goal,
    params: Record<string, number> = {},
  ): boolean => {
    const all: Record<string, number> = { FENCE_ENABLE: 1, FENCE_TYPE: 7, ...params };
    const known: ReachFacts = {
      maxM: 0,
      here: null,
      home: null,
      px4: params['GF_ACTION'] !== undefined,
      param: (name) => all[name] ?? null,
      fence,
    };
    try {
      checkReach('goto', goal, known);
      return true;
    } catch (error) {
      expect(error).to.include({ code: 'E_TOO_FAR' });
      return false;
    }
  };

  it('have a place inside or outside, also across 180 degrees', () => {
    const inside = square(CMD.polygonInclusion, 0, 180, 0.1);
    const keep = square(CMD.polygonExclusion, 0, 180, 0.01);
    expect(allowed(inside, { lat: 0.05, lon: -179.95, alt: 9 })).to.equal(true);
    expect(allowed(inside, { lat: 0.05, lon: 179.95, alt: 9 })).to.equal(true);
    expect(allowed(inside, { lat: 0.05, lon: 179.8, alt: 9 })).to.equal(false);
    expect(allowed([...inside, ...keep], { lat: 0.005, lon: -179.995, alt: 9 })).to.equal(false);
    const circle = [item(CMD.circleInclusion, 100, 47, 8), item(CMD.circleExclusion, 10, 47, 8)];
    expect(allowed(circle, { lat: 47 + 50 * METRE, lon: 8, alt: 9 })).to.equal(true);
    expect(allowed(circle, { lat: 47 + 5 * METRE, lon: 8, alt: 9 })).to.equal(false);
    expect(allowed(circle, { lat: 47 + 150 * METRE, lon: 8, alt: 9 })).to.equal(false);
  });

  it('of several inclusions all count for ArduPilot, unless it says that one is enough, and one for PX4', () => {
    const two = [
      ...square(CMD.polygonInclusion, 47, 8, 0.01),
      ...square(CMD.polygonInclusion, 47, 8.015, 0.01),
    ];
    const [both, one] = [
      { lat: 47, lon: 8.007, alt: 9 },
      { lat: 47, lon: 8, alt: 9 },
    ];
    expect(allowed(two, both)).to.equal(true);
    expect(allowed(two, one)).to.equal(false);
    expect(allowed(two, one, { FENCE_OPTIONS: 2 })).to.equal(true);
    expect(allowed(two, one, { GF_ACTION: 1 })).to.equal(true);
    expect(allowed(two, { lat: 40, lon: 8, alt: 9 }, { GF_ACTION: 1 })).to.equal(false);
    expect(allowed(two, { lat: 40, lon: 8, alt: 9 }, { GF_ACTION: 0 })).to.equal(true);
    expect(allowed(two, one, { FENCE_ENABLE: 0 })).to.equal(true);
  });
});

describe('a place that a token sends by frames', () => {
  const FAR = 18_000;
  const [HOME, SEA] = [3, 0];
  const at7 = (metres: number): readonly [number, number] => [
    Math.round((HERE.lat + metres * METRE) * 1e7),
    Math.round(HERE.lon * 1e7),
  ];
  /** @param offsets where command and frame stand */
  const placed = (
    id: number,
    command: number,
    offsets: readonly [number, number],
    metres: number,
  ): Buffer => {
    const payload = Buffer.alloc(38);
    const [lat, lon] = at7(metres);
    payload.writeInt32LE(lat, 16);
    payload.writeInt32LE(lon, 20);
    payload.writeFloatLE(20, 24);
    payload.writeUInt16LE(command, offsets[0]);
    payload.writeUInt8(HOME, offsets[1]);
    payload.set([1, 1], id === MSG.COMMAND_INT ? 30 : 32);
    return payload;
  };
  const long = (command: number, metres: number): Buffer => {
    const payload = Buffer.alloc(33);
    payload.writeFloatLE(HERE.lat + metres * METRE, 16);
    payload.writeFloatLE(HERE.lon, 20);
    payload.writeUInt16LE(command, 28);
    payload.set([1, 1], 30);
    return payload;
  };
  const setPoint = (metres: number, mask: number): Buffer => {
    const payload = Buffer.alloc(53);
    const [lat, lon] = at7(metres);
    payload.writeInt32LE(lat, 4);
    payload.writeInt32LE(lon, 8);
    payload.writeFloatLE(600, 12);
    payload.writeUInt16LE(mask, 48);
    payload.set([1, 1, SEA], 50);
    return payload;
  };
  /** @param frame MAV_FRAME_LOCAL_NED, or one that begins at the vehicle */
  const local = (metres: number, frame: number, mask = 0x0ff8, down = -20): Buffer => {
    const payload = Buffer.alloc(53);
    payload.writeFloatLE(metres, 4);
    payload.writeFloatLE(down, 12);
    payload.writeUInt16LE(mask, 48);
    payload.set([1, 1, frame], 50);
    return payload;
  };
  const LOCAL = MSG.SET_POSITION_TARGET_LOCAL_NED;
  const fence = placed(MSG.MISSION_ITEM_INT, CMD.polygonInclusion, [30, 34], FAR);
  fence.writeUInt8(1, 37);
  /** MISSION_ITEM, whose places are floats. */
  const older = (metres: number): Buffer => {
    const payload = placed(MSG.MISSION_ITEM, 16, [30, 34], metres);
    payload.writeFloatLE(HERE.lat + metres * METRE, 16);
    payload.writeFloatLE(HERE.lon, 20);
    return payload;
  };
  const table: readonly (readonly [string, number, Buffer, boolean])[] = [
    ['DO_REPOSITION', MSG.COMMAND_INT, placed(MSG.COMMAND_INT, 192, [28, 32], FAR), false],
    ['DO_REPOSITION near', MSG.COMMAND_INT, placed(MSG.COMMAND_INT, 192, [28, 32], 100), true],
    ['DO_REPOSITION as COMMAND_LONG', MSG.COMMAND_LONG, long(192, FAR), false],
    ['DO_ORBIT', MSG.COMMAND_INT, placed(MSG.COMMAND_INT, 34, [28, 32], FAR), false],
    ['a look there', MSG.COMMAND_INT, placed(MSG.COMMAND_INT, 195, [28, 32], FAR), true],
    ['a command whose fifth parameter is a number', MSG.COMMAND_LONG, long(205, FAR), true],
    ['an item', MSG.MISSION_ITEM_INT, placed(MSG.MISSION_ITEM_INT, 16, [30, 34], FAR), false],
    ['an item near', MSG.MISSION_ITEM_INT, placed(MSG.MISSION_ITEM_INT, 16, [30, 34], 100), true],
    ['an item of the older message', MSG.MISSION_ITEM, older(FAR), false],
    ['one of those near', MSG.MISSION_ITEM, older(100), true],
    ['a set-point', MSG.SET_POSITION_TARGET_GLOBAL_INT, setPoint(FAR, 0x0ff8), false],
    ['a set-point of speeds', MSG.SET_POSITION_TARGET_GLOBAL_INT, setPoint(FAR, 0x0fc7), true],
    ['a set-point in metres from home', LOCAL, local(FAR, 1), false],
    ['a set-point in metres from home, near', LOCAL, local(100, 1), true],
    ['a set-point in metres from home, below the ground', LOCAL, local(100, 1, 0x0ff8, 50), false],
    ['a set-point in metres from the vehicle', LOCAL, local(FAR, 7), false],
    ['a set-point in metres by the nose of the vehicle', LOCAL, local(-FAR, 9), false],
    ['a set-point in metres by the nose of the vehicle, near', LOCAL, local(100, 9), true],
    ['a set-point of speeds by the nose of the vehicle', LOCAL, local(FAR, 8, 0x0fc7), true],
    ['a corner of the fence', MSG.MISSION_ITEM_INT, fence, true],
  ];
  for (const [name, id, payload, passes] of table)
    it(`${name}: ${passes ? 'passes' : 'is refused, with a sentence; without a token it is the pilot’s decision'}`, async () => {
      const rig = await at();
      const answers: Buffer[] = [];
      let seq = 0;
      const { router } = rig.link.parts;
      const send = (scopes?: readonly Scope[] | null): void => {
        const sink: FrameSink = { queuedBytes: 0, send: (bytes) => void answers.push(Buffer.from(bytes)) };
        const policy = { mayWrite: true, force: false, serialControl: false, scopes };
        const peer = new RoutedPeer('test', rig.clock, router, sink, policy);
        peer.push(
          rawV2({ id, payload, extra: crcExtraOf(id) ?? 0, seq: seq++, system: 250, component: 190 }),
        );
        peer.detach();
      };
      send(['flight', 'destructive']);
      expect(rig.sent.some((sent) => sent.id === id)).to.equal(passes);
      expect(Buffer.concat(answers).includes('too far, or outside of the fence')).to.equal(!passes);
      for (const none of [null, undefined]) {
        rig.sent.length = 0;
        send(none);
        expect(rig.sent.some((sent) => sent.id === id)).to.equal(true);
      }
      await rig.link.stop();
    });
});

/** Command, metres to the north, m above home, and as a corner of a polygon how many it has. */
type Item = readonly [command: number, north: number, alt: number, corners?: number];

/** The vehicle has these lists, by MAV_MISSION_TYPE, and tells them to whoever asks. @returns of which type it was asked */
function holds(rig: Rig, lists: Readonly<Record<number, readonly Item[]>>): number[] {
  const asked: number[] = [];
  const answer = rig.onSent;
  rig.onSent = (sent) => {
    answer(sent);
    const missionType = Number(sent.fields['missionType']);
    const to = { targetSystem: rig.system, targetComponent: 191, missionType };
    const list = lists[missionType] ?? [];
    if (sent.id === 43) {
      asked.push(missionType);
      rig.say(Object.assign(new common.MissionCount(), { ...to, count: list.length }));
    }
    const seq = Number(sent.fields['seq']);
    const item = list[seq];
    if (sent.id !== 51 || item === undefined) return;
    const [command, metres, z, param1 = 0] = item;
    const x = Math.round((HERE.lat + metres * METRE) * 1e7);
    const y = Math.round((HERE.lon + (param1 === 0 ? 0 : (seq % 2) * 0.002 - 0.001)) * 1e7);
    rig.say(Object.assign(new common.MissionItemInt(), { ...to, x, y, z, frame: 3, seq, command, param1 }));
  };
  rig.say(Object.assign(new common.MissionCurrent(), { seq: 1, total: (lists[0]?.length ?? 1) - 1 }));
  return asked;
}

/** MAV_CMD of whatever went out that flies or changes the mode. */
const flown = (rig: Rig, since: number): unknown[] =>
  rig.sent
    .slice(since)
    .filter(({ id, fields }) => id === 11 || ((id === 75 || id === 76) && fields['command'] !== 511))
    .map(({ fields }) => fields['command']);

const HOME_ITEM: Item = [16, 0, 0];

describe('a mission that the vehicle holds', () => {
  for (const [cmd, args, says] of [
    ['missionStart', [], 'missionStart'],
    ['resumeMission', [], 'resumeMission'],
    ['missionSetCurrent', [1], 'missionSetCurrent'],
    ['mode', ['AUTO'], 'mode AUTO'],
  ] as const)
    it(`is not flown by ${cmd} where goto may not go, unless that is meant`, async () => {
      const rig = await at();
      holds(rig, { 0: [HOME_ITEM, [16, 18_000, 20]] });
      await rig.live(500);
      const before = rig.sent.length;
      const { extras, message } = await refusal(rig.command(cmd, [...args]));
      expect(extras).to.include({ bound: 'max_goto_m', override: extras['override'] });
      expect(message).to.include(`${says}, item 1: the place is 18`);
      expect(flown(rig, before)).to.deep.equal([]);
      const meant = rig.calls.command({ cmd, args: [...args], allow_far: true });
      await rig.live(3000);
      await meant;
      expect(flown(rig, before)).to.have.length.above(0);
      await rig.link.stop();
    });

  it('does not keep the vehicle from a mode that does not fly it', async () => {
    const rig = await at();
    holds(rig, { 0: [HOME_ITEM, [16, 18_000, 20]] });
    await rig.live(500);
    expect((await rig.command('mode', ['GUIDED'])).status).to.equal('accepted');
    await rig.link.stop();
  });

  it('is not flown while the position is not known, nor below the ground by what flies', async () => {
    const lost = await at();
    holds(lost, { 0: [HOME_ITEM, [16, 100, 20]] });
    await lost.live(500);
    expect((await lost.command('missionStart')).status).to.equal('accepted');
    const nowhere = new Rig({ maxGotoM: 2000 });
    await nowhere.meet();
    holds(nowhere, { 0: [HOME_ITEM, [16, 100, 20]] });
    await nowhere.live(500);
    expect((await refusal(nowhere.command('missionStart'))).message).to.include('position is not known');
    const [copter, rover] = [await at(), await at({}, { maxGotoM: 2000, type: 10 })];
    for (const rig of [copter, rover]) {
      holds(rig, { 0: [HOME_ITEM, [16, 100, -50]] });
      await rig.live(500);
    }
    expect((await refusal(copter.command('missionStart'))).extras).to.include({ bound: 'ground' });
    expect((await rover.command('missionStart')).status).to.equal('accepted');
    await Promise.all([lost, nowhere, copter, rover].map(async ({ link }) => link.stop()));
  });

  it('is compared with a fence of polygons, which is read once where it is not known; without one nothing is asked', async () => {
    const square: readonly Item[] = [
      [CMD.polygonInclusion, -50, 0, 4],
      [CMD.polygonInclusion, -50, 0, 4],
      [CMD.polygonInclusion, 50, 0, 4],
      [CMD.polygonInclusion, 50, 0, 4],
    ];
    const on = { FENCE_ENABLE: 1, FENCE_TYPE: 4, FENCE_TOTAL: 4 };
    const options = { maxGotoM: 2000, version: { capabilities: FENCES } };
    const fenced = await at(on, options);
    const asked = holds(fenced, { 0: [HOME_ITEM, [16, 150, 20]], 1: square });
    await fenced.live(500);
    expect((await refusal(fenced.command('missionStart'))).extras).to.include({ bound: 'fence_area' });
    expect((await refusal(fenced.command('missionStart'))).extras).to.include({ bound: 'fence_area' });
    expect(asked).to.deep.equal([0, 1]);
    const free = await at({ ...on, FENCE_ENABLE: 0 }, options);
    const nothing = holds(free, { 0: [HOME_ITEM, [16, 150, 20]], 1: square });
    await free.live(500);
    expect((await free.command('missionStart')).status).to.equal('accepted');
    expect((await free.command('goto', north(150))).status).to.equal('accepted');
    expect(nothing).to.deep.equal([0]);
    await Promise.all([fenced.link.stop(), free.link.stop()]);
  });
});
