import { expect } from 'chai';
import { common, type MavLinkData } from 'node-mavlink';
import { FrameStream } from '../../front/link/router/frame-stream.ts';
import type { Scope } from '../../shared/auth/scopes.ts';
import { ApiError } from '../../shared/errors.ts';
import { modeChoices } from '../../shared/flight/modes.ts';
import { needsSticks } from '../../shared/flight/stick-modes.ts';
import { MSG } from '../../shared/mavlink/messages.ts';
import type { MissionItem } from '../../shared/schemas/mission-item.ts';
import { refusal } from '../support/refusal.ts';
import { commandAck, encodeAs } from './mavlink-samples.ts';
import { Rig, type RigOptions } from './rig.ts';

const DO_SET_MODE = 176;
const PX4: RigOptions = { autopilot: 12 };
const PLANE: RigOptions = { type: 1 };
const ROVER: RigOptions = { type: 10 };
const ON_GROUND = 1;
const IN_AIR = 2;

const landed = (landedState: number): MavLinkData =>
  Object.assign(new common.ExtendedSysState(), { vtolState: 0, landedState });

function radio(count: number): MavLinkData {
  const channels = Array.from({ length: 18 }, (_, at) => [`chan${at + 1}Raw`, at < count ? 1500 : 65_535]);
  return Object.assign(
    new common.RcChannels(),
    { timeBootMs: 1000, chancount: count, rssi: 255 },
    Object.fromEntries(channels),
  );
}

/** One that takes each command, armed and in the air by its own word, and without a radio. */
async function flying(options: RigOptions = {}, where = IN_AIR, armed = true): Promise<Rig> {
  const rig = new Rig({ customMode: 4, ...options });
  rig.armed = armed;
  rig.onSent = ({ id, fields }) => {
    if ((id === 75 || id === 76) && fields['command'] === DO_SET_MODE)
      rig.say(commandAck(DO_SET_MODE, 0, rig.system));
  };
  await rig.meet();
  await rig.live(6000); // the first 5 s of a link count as armed
  rig.say(landed(where));
  rig.sent.length = 0;
  return rig;
}

/** Whether `mode` is refused, with nothing sent. */
async function isRefused(rig: Rig, mode: string): Promise<boolean> {
  rig.sent.length = 0;
  const given = rig.calls.command({ cmd: 'mode', args: [mode], timeout_ms: 500 });
  const settled = given.then(
    () => false,
    (error: unknown) => {
      if (!(error instanceof ApiError) || error.code !== 'E_STICKS') throw error;
      return true;
    },
  );
  await rig.clock.advance(600);
  const refused = await settled;
  expect(rig.commands(DO_SET_MODE).length > 0, mode).to.equal(!refused);
  return refused;
}

const CASES: readonly (readonly [string, RigOptions, falls: readonly string[], fine: readonly string[]])[] = [
  [
    'copter',
    {},
    [
      'STABILIZE',
      'ACRO',
      'alt_hold',
      'ALTHOLD',
      'LOITER',
      'POSHOLD',
      'SPORT',
      'DRIFT',
      'FLIP',
      'THROW',
      'AUTOTUNE',
    ],
    ['GUIDED', 'AUTO', 'RTL', 'SMART_RTL', 'LAND', 'BRAKE', 'AUTO_RTL'],
  ],
  ['plane', PLANE, ['MANUAL', 'FBWA', 'CRUISE', 'QLOITER'], ['GUIDED', 'LOITER', 'CIRCLE', 'QLAND', 'RTL']],
  ['rover', ROVER, [], ['MANUAL', 'HOLD']],
  [
    'PX4',
    PX4,
    ['MANUAL', 'ALTCTL', 'POSCTL', 'POSITION', 'ACRO', 'STABILIZED', 'RATTITUDE'],
    ['AUTO.LOITER', 'HOLD', 'AUTO.RTL', 'AUTO.LAND', 'OFFBOARD'],
  ],
];

describe('a mode that needs sticks', () => {
  for (const [name, options, falls, fine] of CASES)
    it(`${name}: in the air it is refused, and nothing is sent; what flies itself is not`, async () => {
      const rig = await flying(options);
      for (const mode of falls) expect(await isRefused(rig, mode), mode).to.equal(true);
      for (const mode of fine) expect(await isRefused(rig, mode), mode).to.equal(false);
      await rig.link.stop();
    });

  it('the refusal is 409, names the mode and says what to do; manual: true sends it', async () => {
    const rig = await flying();
    const { status, message, extras } = await refusal(rig.command('mode', ['stabilize']));
    expect(status).to.equal(409);
    expect(message).to.match(/STABILIZE.*needs sticks.*manual: true/);
    expect(extras).to.deep.equal({ mode: 'STABILIZE', override: { body: { manual: true } } });
    const meant = rig.calls.command({ cmd: 'mode', args: ['STABILIZE'], manual: true });
    rig.customMode = 0;
    await rig.live(1000);
    expect((await meant).status).to.equal('accepted');
    await rig.link.stop();
  });

  it('is chosen on the ground as ever: disarmed, or armed where it says that it stands', async () => {
    for (const [where, armed, refused] of [
      [ON_GROUND, false, false],
      [IN_AIR, false, false],
      [ON_GROUND, true, false],
      [IN_AIR, true, true],
    ] as const) {
      const rig = await flying({}, where, armed);
      expect(await isRefused(rig, 'STABILIZE'), `${where} ${armed}`).to.equal(refused);
      await rig.link.stop();
    }
    const old = await flying({}, ON_GROUND);
    await old.live(6000);
    expect(await isRefused(old, 'STABILIZE'), 'it stood 6 s ago').to.equal(true);
    await old.link.stop();
  });

  it("passes while a pilot's radio is heard, and no longer; a radio without channels, or one that is lost, is none", async () => {
    const rig = await flying();
    rig.say(radio(8));
    expect(await isRefused(rig, 'STABILIZE'), 'heard').to.equal(false);
    await rig.live(1000);
    expect(await isRefused(rig, 'STABILIZE'), 'heard 1.6 s ago').to.equal(true);
    rig.say(radio(0));
    expect(await isRefused(rig, 'STABILIZE'), 'no channels').to.equal(true);
    const RECEIVER = 65_536;
    const bits = { onboardControlSensorsPresent: RECEIVER, onboardControlSensorsEnabled: RECEIVER };
    rig.say(Object.assign(new common.SysStatus(), bits, { onboardControlSensorsHealth: 0 }));
    rig.say(radio(8));
    expect(await isRefused(rig, 'STABILIZE'), 'ArduPilot repeats what it heard last').to.equal(true);
    rig.say(Object.assign(new common.SysStatus(), bits, { onboardControlSensorsHealth: RECEIVER }));
    expect(await isRefused(rig, 'STABILIZE'), 'healthy').to.equal(false);
    await rig.link.stop();
  });

  it('passes while somebody sends sticks by way of the node, and no longer', async () => {
    const rig = await flying();
    rig.calls.manual({ holder: 'page', sticks: { type: 'manual', x: 0, y: 0, z: 500, r: 0 } });
    expect(await isRefused(rig, 'LOITER'), 'the page').to.equal(false);
    await rig.live(500);
    expect(await isRefused(rig, 'LOITER'), 'it has let go').to.equal(true);
    const send = port(rig, null);
    send(Object.assign(new common.ManualControl(), { target: 1, x: 9, y: 0, z: 500, r: 0, buttons: 0 }));
    expect(await isRefused(rig, 'LOITER'), 'a ground station').to.equal(false);
    await rig.live(1000);
    expect(await isRefused(rig, 'LOITER'), '1.6 s ago').to.equal(true);
    await rig.link.stop();
  });

  const FRAMES: readonly (readonly [string, RigOptions, MavLinkData, passes: boolean])[] = [
    ['SET_MODE STABILIZE', {}, setMode(0), false],
    ['SET_MODE of a mode that nobody knows', {}, setMode(77), false],
    ['SET_MODE GUIDED', {}, setMode(4), true],
    ['DO_SET_MODE LOITER', {}, order(DO_SET_MODE, 1, 5), false],
    ['DO_SET_MODE LOITER, but for half a mode', {}, order(DO_SET_MODE, 1, 5.5), false],
    ['DO_SET_MODE RTL', {}, order(DO_SET_MODE, 1, 6), true],
    ['DO_AUX_FUNCTION STABILIZE', {}, order(218, 68, 2), false],
    ['DO_AUX_FUNCTION LOITER of a plane', PLANE, order(218, 56, 2), true],
    ['DO_AUX_FUNCTION RTL', {}, order(218, 4, 2), true],
    ['NAV_LOITER_UNLIM, which is LOITER', {}, order(17), false],
    ["the Solo's button, which is LOITER", {}, order(42_001), false],
    ['an item that chooses ACRO', {}, item(218, 52, 2), false],
    ['an item that stays at a place', {}, item(17), true],
    ['DO_SET_MODE POSCTL', PX4, order(DO_SET_MODE, 1, 3), false],
    ['DO_SET_MODE AUTO.LOITER', PX4, order(DO_SET_MODE, 1, 4, 3), true],
    ['DO_SET_MODE by flags alone: manual', PX4, order(DO_SET_MODE, 64), false],
    ['SET_MODE POSCTL', PX4, setMode(3 << 16), false],
    ['SET_MODE AUTO.RTL', PX4, setMode((4 << 16) | (5 << 24)), true],
    ['DO_SET_STANDARD_MODE ALTITUDE_HOLD', PX4, order(262, 4), false],
    ['DO_SET_STANDARD_MODE SAFE_RECOVERY', PX4, order(262, 5), true],
  ];
  for (const [name, options, message, passes] of FRAMES)
    it(`a token's frame, ${name}: ${passes ? 'passes' : 'is refused'}; a ground station's passes`, async () => {
      const rig = await flying(options);
      expect(port(rig, ['read', 'flight', 'admin', 'destructive'])(message), 'token').to.equal(passes);
      expect(port(rig, null)(message), 'station').to.equal(true);
      rig.say(radio(8));
      expect(port(rig, ['read', 'flight', 'admin', 'destructive'])(message), 'with a radio').to.equal(true);
      await rig.link.stop();
    });

  it('a mission that chooses one is refused by its item, also on the ground, unless manual is said', async () => {
    const rig = await flying({}, ON_GROUND, false);
    const items = [plain(16), plain(218, 68)];
    const asked = { part: 'mission', items, token: '', allow_far: true } as const;
    const { code, extras } = await refusal((async () => rig.calls.mission_reach(asked))());
    expect([code, extras['index'], extras['mode']]).to.deep.equal(['E_STICKS', 1, 'STABILIZE']);
    await rig.calls.mission_reach({ ...asked, manual: true });
    await rig.calls.mission_reach({ ...asked, items: [plain(16), plain(218, 9)] });
    await rig.link.stop();
  });

  it('is every mode that is not known to fly itself', () => {
    const free = (family: 'copter' | 'plane' | 'px4'): string[] =>
      modeChoices(family).filter((mode) => !needsSticks(family, mode));
    expect(free('copter')).to.deep.equal(
      [
        'AUTO',
        'GUIDED',
        'RTL',
        'LAND',
        'AVOID_ADSB',
        'BRAKE',
        'GUIDED_NOGPS',
        'SMART_RTL',
        'FOLLOW',
        'AUTO_RTL',
      ].toSorted((a, b) => modeChoices('copter').indexOf(a) - modeChoices('copter').indexOf(b)),
    );
    expect(free('px4').filter((mode) => !mode.startsWith('AUTO.'))).to.deep.equal([
      'POSCTL.ORBIT',
      'OFFBOARD',
    ]);
    expect(needsSticks('copter', 'MODE_77')).to.equal(true);
  });
});

function setMode(customMode: number): MavLinkData {
  return Object.assign(new common.SetMode(), { targetSystem: 1, baseMode: 1, customMode: customMode >>> 0 });
}

function order(command: number, first = 0, second = 0, third = 0): MavLinkData {
  const params = { _param1: first, _param2: second, _param3: third, _param4: 0, _param5: 0, _param6: 0 };
  return Object.assign(new common.CommandLong(), {
    ...params,
    targetSystem: 1,
    targetComponent: 1,
    command,
    _param7: 0,
    confirmation: 0,
  });
}

function item(command: number, param1 = 0, param2 = 0): MavLinkData {
  return Object.assign(
    new common.MissionItemInt(),
    { targetSystem: 1, targetComponent: 1, seq: 0, command, param1, param2, missionType: 0 },
    { param3: 0, param4: 0, x: 0, y: 0, z: 0, frame: 3, current: 0, autocontinue: 1 },
  );
}

function plain(command: number, param1 = 0): MissionItem {
  return {
    seq: 0,
    frame: 3,
    command,
    param1,
    param2: 0,
    param3: 0,
    param4: 0,
    x: 48,
    y: 11,
    z: 20,
    autocontinue: 1,
  };
}

/** The same frame from another station would be an echo. */
let seq = 0;

/** @param scopes null: a ground station @returns whether the vehicle got the frame */
function port(rig: Rig, scopes: readonly Scope[] | null): (message: MavLinkData) => boolean {
  const policy = { mayWrite: true, force: true, serialControl: false, scopes };
  const said: Buffer[] = [];
  const sink = { queuedBytes: 0, send: (bytes: Buffer) => said.push(bytes) };
  const to = rig.link.parts.router.attach('frames', sink, policy);
  const stream = new FrameStream(rig.clock, (frame) => to.receive(frame));
  return (message) => {
    const before = rig.sent.length;
    stream.push(encodeAs(message, 'v2', seq++ & 0xff, 255, 190));
    const passed = rig.sent.length > before;
    const hasText = said.some((bytes) => bytes.readUIntLE(7, 3) === MSG.STATUSTEXT);
    expect(hasText, 'it is told why').to.equal(!passed);
    to.detach();
    return passed;
  };
}
