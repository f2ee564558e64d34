import { expect } from 'chai';
import { common, type MavLinkData } from 'node-mavlink';
import { FrameStream } from '../../front/link/router/frame-stream.ts';
import { encodeAs } from './mavlink-samples.ts';
import { Rig, type RigOptions } from './rig.ts';

const COPTER: RigOptions = {};
const PX4: RigOptions = { autopilot: 12, follows: false };

function commandLong(command: number, first = 0, second = 0, third = 0): MavLinkData {
  const message = new common.CommandLong();
  const params = { _param1: first, _param2: second, _param3: third, _param4: 0, _param5: 0, _param6: 0 };
  return Object.assign(message, {
    targetSystem: 1,
    targetComponent: 1,
    command,
    ...params,
    _param7: 0,
    confirmation: 0,
  });
}

function commandInt(command: number, first = 0, second = 0, third = 0): MavLinkData {
  const message = new common.CommandInt();
  const params = { _param1: first, _param2: second, _param3: third, _param4: 0, x: 0, y: 0, z: 0 };
  return Object.assign(message, {
    targetSystem: 1,
    targetComponent: 1,
    command,
    ...params,
    frame: 0,
    current: 0,
    autocontinue: 0,
  });
}

function setMode(customMode: number): MavLinkData {
  return Object.assign(new common.SetMode(), { targetSystem: 1, baseMode: 1, customMode });
}

/** The same frame from another station would be an echo. */
let seq = 0;

/** A ground station, by the name of its client. */
function station(rig: Rig, clientId: string | null): (message: MavLinkData) => boolean {
  const policy = { mayWrite: true, force: false, serialControl: false, clientId };
  const port = rig.link.parts.router.attach('station', { queuedBytes: 0, send: () => undefined }, policy);
  const stream = new FrameStream(rig.clock, (frame) => port.receive(frame));
  return (message) => {
    const before = rig.sent.length;
    stream.push(encodeAs(message, 'v2', seq++ & 0xff, 255, 190));
    return rig.sent.length > before;
  };
}

const ARM = commandLong(400, 1);
/** Where a command has its number, an item has its own. */
const item = Object.assign(
  new common.MissionItemInt(),
  { targetSystem: 1, targetComponent: 1, seq: 176, command: 16, param1: 1, param2: 6, missionType: 0 },
  { param3: 0, param4: 0, x: 0, y: 0, z: 0, frame: 0, current: 0, autocontinue: 0 },
);

describe('frames of who is not the pilot in command', () => {
  const cases: readonly (readonly [string, RigOptions, MavLinkData, boolean])[] = [
    ['an arming', COPTER, ARM, false],
    ['a disarming', COPTER, commandLong(400, 0), true],
    ['a take-off', COPTER, commandLong(22), false],
    ['a take-off whose parameters are those of RTL', COPTER, commandLong(22, 1, 6), false],
    ['a return, as a command', COPTER, commandLong(20), true],
    ['an item of a mission that only looks like DO_SET_MODE RTL', COPTER, item, false],
    ['a question', COPTER, commandLong(512, 148), true],
    ['SET_MODE GUIDED', COPTER, setMode(4), false],
    ['SET_MODE AUTO', COPTER, setMode(3), false],
    ['SET_MODE of no mode of this vehicle', COPTER, setMode(999), false],
    ['SET_MODE RTL', COPTER, setMode(6), true],
    ['SET_MODE LAND', COPTER, setMode(9), true],
    ['SET_MODE LOITER', COPTER, setMode(5), true],
    ['SET_MODE BRAKE', COPTER, setMode(17), true],
    ['SET_MODE SMART_RTL', COPTER, setMode(21), true],
    ['DO_SET_MODE GUIDED', COPTER, commandLong(176, 1, 4), false],
    ['DO_SET_MODE RTL', COPTER, commandLong(176, 1, 6), true],
    ['DO_SET_MODE RTL, with a third parameter', COPTER, commandLong(176, 1, 6, 4), true],
    ['DO_SET_MODE RTL in a COMMAND_INT', COPTER, commandInt(176, 1, 6), true],
    ['DO_SET_MODE GUIDED in a COMMAND_INT', COPTER, commandInt(176, 1, 4), false],
    ['PX4: SET_MODE AUTO.RTL', PX4, setMode(0x0504_0000), true],
    ['PX4: SET_MODE AUTO.MISSION', PX4, setMode(0x0404_0000), false],
    ['PX4: DO_SET_MODE AUTO.RTL', PX4, commandLong(176, 1, 4, 5), true],
    ['PX4: DO_SET_MODE AUTO.LAND', PX4, commandLong(176, 1, 4, 6), true],
    ['PX4: DO_SET_MODE AUTO.LOITER', PX4, commandLong(176, 1, 4, 3), true],
    ['PX4: DO_SET_MODE AUTO.MISSION', PX4, commandLong(176, 1, 4, 4), false],
    ['PX4: DO_SET_MODE OFFBOARD', PX4, commandLong(176, 1, 6), false],
  ];
  for (const [name, options, message, passes] of cases)
    it(`${name} ${passes ? 'passes' : 'is refused'}; the pilot sends it`, async () => {
      const rig = await Rig.met(options);
      rig.calls.pilot({ client_id: 'pilot' });
      expect(station(rig, 'another')(message)).to.equal(passes);
      expect(station(rig, null)(message)).to.equal(passes);
      expect(station(rig, 'pilot')(message)).to.equal(true);
      await rig.link.stop();
    });

  it('pass while nobody is pilot, and again once svc-control has been silent for 7 s', async () => {
    const rig = await Rig.met();
    const says = station(rig, 'another');
    expect(says(ARM), 'nobody').to.equal(true);
    await rig.clock.advance(60_000);
    rig.calls.pilot({ client_id: 'pilot' });
    await rig.clock.advance(7000);
    expect(says(ARM), 'told 7 s ago').to.equal(false);
    await rig.clock.advance(1);
    expect(says(ARM), 'forgotten').to.equal(true);
    rig.calls.pilot({ client_id: 'pilot' });
    expect(says(ARM)).to.equal(false);
    rig.calls.pilot({ client_id: null });
    expect(says(ARM), 'given up').to.equal(true);
    await rig.link.stop();
  });

  it('a mode whose vehicle is not known flies', async () => {
    const rig = new Rig();
    rig.link.start();
    rig.calls.pilot({ client_id: 'pilot' });
    expect(station(rig, 'another')(setMode(6))).to.equal(false);
    expect(station(rig, 'pilot')(setMode(6))).to.equal(true);
    await rig.link.stop();
  });
});
