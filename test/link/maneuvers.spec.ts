import { expect } from 'chai';
import { ApiError } from '../../shared/errors.ts';
import type { CommandRequest } from '../../shared/rpc/link.ts';
import { commandAck, globalPosition, missionCurrent, paramValue } from './mavlink-samples.ts';
import { Rig, type RigOptions, type Sent } from './rig.ts';

const UNSUPPORTED = 3;
const SET_MODE = 176;
const px4Mode = (main: number, sub = 0): number => ((main << 16) | (sub << 24)) >>> 0;

const COPTER: RigOptions = { type: 2, customMode: 5 };
const PLANE: RigOptions = { type: 1, customMode: 12 };
const VTOL: RigOptions = { type: 21, customMode: 19 };
const ROVER: RigOptions = { type: 10, customMode: 0 };
const SUB: RigOptions = { type: 12, customMode: 0 };
const PX4: RigOptions = { type: 2, autopilot: 12, customMode: px4Mode(4, 3) };

async function met(options: RigOptions, unsupported: readonly number[] = []): Promise<Rig> {
  const rig = await Rig.met(options);
  rig.onSent = ({ id, fields }: Sent) => {
    const command = Number(fields['command']);
    if ((id !== 75 && id !== 76) || command === 511 || command === 512) return;
    rig.say(commandAck(command, unsupported.includes(command) ? UNSUPPORTED : 0, rig.system));
  };
  return rig;
}

/** What goes out for a command: [MAV_CMD, first parameters]. */
async function sentFor(
  rig: Rig,
  cmd: CommandRequest['cmd'],
  args: CommandRequest['args'] = [],
): Promise<unknown[]> {
  rig.sent.length = 0;
  const { status } = await rig.command(cmd, args);
  expect(status, cmd).to.be.oneOf(['accepted', 'no_ack']);
  return rig.sent
    .filter(({ id }) => id === 75 || id === 76)
    .map(({ fields }) => [fields['command'], fields['_param1'], fields['_param2'], fields['_param3']]);
}

async function refusal(
  rig: Rig,
  cmd: CommandRequest['cmd'],
  args: CommandRequest['args'] = [],
): Promise<string> {
  rig.sent.length = 0;
  try {
    await rig.command(cmd, args);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect(error.code).to.equal('E_BAD_REQUEST');
    expect(rig.sent.filter(({ id }) => id === 75 || id === 76)).to.deep.equal([]);
    return error.message;
  }
  throw new Error(`${cmd} was sent`);
}

describe('manoeuvres', () => {
  it('go by the words of each family', async () => {
    const cases: [options: RigOptions, cmd: CommandRequest['cmd'], sent: unknown[]][] = [
      [COPTER, 'rtl', [SET_MODE, 1, 6, 0]],
      [COPTER, 'land', [21, 0, 0, 0]],
      [COPTER, 'stop', [SET_MODE, 1, 17, 0]],
      [COPTER, 'pauseMission', [193, 0, 0, 0]],
      [{ ...COPTER, customMode: 3 }, 'resumeMission', [193, 1, 0, 0]],
      [COPTER, 'resumeMission', [SET_MODE, 1, 3, 0]], // from LOITER
      [PLANE, 'rtl', [SET_MODE, 1, 11, 0]],
      [PLANE, 'land', [189, 0, 0, 0]],
      [PLANE, 'stop', [SET_MODE, 1, 12, 0]],
      [PLANE, 'pauseMission', [SET_MODE, 1, 12, 0]],
      [PLANE, 'resumeMission', [SET_MODE, 1, 10, 0]],
      [VTOL, 'land', [SET_MODE, 1, 20, 0]],
      [VTOL, 'stop', [SET_MODE, 1, 19, 0]], // hovering
      [{ ...VTOL, customMode: 10 }, 'stop', [SET_MODE, 1, 12, 0]], // in forward flight
      [ROVER, 'rtl', [SET_MODE, 1, 11, 0]],
      [ROVER, 'stop', [SET_MODE, 1, 4, 0]],
      [ROVER, 'pauseMission', [SET_MODE, 1, 4, 0]],
      [ROVER, 'resumeMission', [SET_MODE, 1, 10, 0]],
      [SUB, 'land', [SET_MODE, 1, 9, 0]],
      [SUB, 'stop', [SET_MODE, 1, 16, 0]],
      [SUB, 'pauseMission', [SET_MODE, 1, 16, 0]],
      [SUB, 'resumeMission', [SET_MODE, 1, 3, 0]],
      [PX4, 'rtl', [SET_MODE, 1, 4, 5]],
      [PX4, 'land', [21, 0, 0, 0]],
      [PX4, 'stop', [SET_MODE, 1, 4, 3]],
      [PX4, 'pauseMission', [SET_MODE, 1, 4, 3]],
      [PX4, 'resumeMission', [SET_MODE, 1, 4, 4]],
      [PX4, 'missionStart', [300, 0, 0, 0]],
      [PX4, 'setHome', [179, 1, 0, 0]],
      // A kind whose modes nobody knows gets MAVLink's plain commands.
      [{ type: 7 }, 'rtl', [20, 0, 0, 0]],
      [{ type: 7 }, 'land', [21, 0, 0, 0]],
      [{ type: 7 }, 'pauseMission', [193, 0, 0, 0]],
    ];
    for (const [options, cmd, sent] of cases) {
      const rig = await met(options);
      expect(await sentFor(rig, cmd), `${JSON.stringify(options)} ${cmd}`).to.deep.equal([sent]);
      await rig.link.stop();
    }
  });

  it('a copter without DO_PAUSE_CONTINUE pauses by mode', async () => {
    const rig = await met({ ...COPTER, customMode: 3 }, [193]);
    expect(await sentFor(rig, 'pauseMission')).to.deep.equal([
      [193, 0, 0, 0],
      [SET_MODE, 1, 17, 0],
    ]);
    await rig.link.stop();
  });

  it('a copter that refuses to pause is stopped by BRAKE, else by LOITER; the answer says by which', async () => {
    const FAILED = 4;
    const rig = new Rig({ ...COPTER, customMode: 3 });
    await rig.meet();
    await rig.live(500);
    let brakes = true;
    rig.onSent = ({ id, fields }: Sent) => {
      const command = Number(fields['command']);
      if ((id !== 75 && id !== 76) || command === 511 || command === 512) return;
      const refused = command === 193 || (fields['_param2'] === 17 && !brakes);
      rig.say(commandAck(command, refused ? FAILED : 0, rig.system));
    };
    expect(await rig.command('pauseMission')).to.include({ status: 'accepted', mode: 'BRAKE' });
    brakes = false;
    expect(await rig.command('pauseMission')).to.include({ status: 'accepted', mode: 'LOITER' });
    expect(await rig.command('stop')).to.include({ status: 'accepted', mode: 'LOITER' });
    rig.onSent = ({ id, fields }: Sent) => {
      if (id === 76 && fields['command'] !== 511) rig.say(commandAck(Number(fields['command']), FAILED));
    };
    const refused = await rig.command('pauseMission');
    expect(refused).to.include({ status: 'rejected' }).and.not.have.property('mode');
    await rig.link.stop();
  });

  it('that a kind of vehicle cannot do are refused with a sentence, and nothing is sent', async () => {
    const rover = await met(ROVER);
    expect(await refusal(rover, 'takeoff', [10])).to.equal('takeoff: a rover cannot take off.');
    expect(await refusal(rover, 'land')).to.include('a rover is on the ground');
    await rover.link.stop();
    const sub = await met(SUB);
    expect(await refusal(sub, 'takeoff')).to.equal('takeoff: a sub cannot take off.');
    expect(await refusal(sub, 'rtl')).to.include('no return mode');
    expect(await refusal(sub, 'goto', [48, 11, 5])).to.include('0 or below');
    expect(await sentFor(sub, 'goto', [48, 11, -5])).to.deep.equal([[192, -1, 1, 0]]);
    await sub.link.stop();
    const boat = await met({ type: 11, autopilot: 12 });
    expect(await refusal(boat, 'takeoff')).to.include('cannot take off');
    await boat.link.stop();
    const copter = await met(COPTER);
    expect(await refusal(copter, 'goto', [48, 11, 0])).to.include('from 1 to 500 m');
    await copter.link.stop();
  });

  it('speed, direction and payload go in the form of each firmware', async () => {
    const IN_GUIDED: RigOptions = { ...COPTER, customMode: 4 };
    const radians = Math.fround(-Math.PI / 2);
    const cases: [options: RigOptions, cmd: CommandRequest['cmd'], args: number[], sent: unknown[][]][] = [
      [IN_GUIDED, 'yaw', [-90], [[115, 270, 0, 0, 0]]],
      [IN_GUIDED, 'yaw', [-90, 20, 1], [[115, 90, 20, -1, 1]]],
      [PX4, 'yaw', [270], [[192, -1, 1, 0, radians, NaN, NaN, NaN]]],
      [COPTER, 'speed', [7], [[178, 1, 7, -1]]],
      [PLANE, 'speed', [20], [[178, 0, 20, -1]]],
      [PX4, 'speed', [7], [[178, 1, 7, -1]]],
      [COPTER, 'roi', [48.1, 11.5, 20], [[195, 0, 0, 0, 0, 481_000_000, 115_000_000, 20]]],
      [COPTER, 'roiClear', [], [[197, 0]]],
      [COPTER, 'photo', [], [[203, 0, 0, 0, 0, 1]]],
      [COPTER, 'gimbal', [-45, 10], [[1000, -45, 10, NaN, NaN, 12]]],
      [COPTER, 'servo', [9, 1200], [[183, 9, 1200]]],
      [COPTER, 'relay', [0, 1], [[181, 0, 1]]],
      [COPTER, 'parachute', [], [[208, 2]]],
      [COPTER, 'missionSetCurrent', [3], [[224, 3]]],
    ];
    for (const [options, cmd, args, sent] of cases) {
      const rig = await met(options);
      rig.sent.length = 0;
      expect((await rig.command(cmd, args)).status, cmd).to.equal('accepted');
      const params = rig.sent
        .filter(({ id }) => id === 75 || id === 76)
        .map(({ fields }) => [
          fields['command'],
          ...[1, 2, 3, 4, 5, 6, 7].map((number) => fields[`_param${number}`]),
        ]);
      expect(params.length, cmd).to.equal(sent.length);
      for (const [index, expected] of sent.entries())
        expect(params[index]?.slice(0, expected.length), cmd).to.deep.equal(expected);
      await rig.link.stop();
    }
  });

  it('PX4 takes altitudes above the sea, and whoever moves its gimbal controls it first', async () => {
    const rig = await met(PX4);
    rig.say(globalPosition(100, 48, 11)); // 500 m above the sea, 12 m above home
    const sentBy = async (cmd: CommandRequest['cmd'], args: number[]): Promise<unknown[][]> => {
      rig.sent.length = 0;
      await rig.command(cmd, args);
      return rig.sent
        .filter(({ id }) => id === 75 || id === 76)
        .map(({ fields }) => [fields['command'], fields['_param1'], fields['_param2'], fields['_param7']]);
    };
    expect(await sentBy('roi', [48.1, 11.5, 20])).to.deep.equal([[195, 0, 0, 508]]);
    expect(await sentBy('orbit', [-30, 5, 48.1, 11.5, 20])).to.deep.equal([[34, -30, 5, 508]]);
    expect(await sentBy('gimbal', [-45])).to.deep.equal([
      [1001, rig.system, 191, 0],
      [1000, -45, 0, 0],
    ]);
    await rig.link.stop();
  });

  it('a gimbal of the older protocol gets the older command', async () => {
    const rig = await met(COPTER, [1000]);
    expect(await sentFor(rig, 'gimbal', [-45, 10])).to.deep.equal([
      [1000, -45, 10, NaN],
      [205, -45, 0, 10],
    ]);
    await rig.link.stop();
  });

  it('a gimbal that nobody drives is named, where nobody answers', async () => {
    const rig = await met(PX4);
    rig.onSent = () => undefined;
    const { status, ack } = await rig.command('gimbal', [-45]);
    expect(status).to.equal('no_ack');
    expect(ack.hint).to.match(/may have no gimbal/);
    await rig.link.stop();
  });

  it("PX4's current item is set by a message without an ack: what it shows then is the answer", async () => {
    const rig = await met(PX4);
    rig.onSent = ({ id, fields }: Sent) => {
      if (id === 41) rig.say(missionCurrent(Number(fields['seq'])));
    };
    expect((await rig.command('missionSetCurrent', [2])).status).to.equal('accepted');
    rig.onSent = () => undefined;
    expect((await rig.command('missionSetCurrent', [3])).status).to.equal('no_ack');
    await rig.link.stop();
  });

  it('what a firmware cannot do is refused with a sentence that says what can', async () => {
    const cases: [options: RigOptions, cmd: CommandRequest['cmd'], args: number[], part: string][] = [
      [COPTER, 'yaw', [90], 'is in LOITER'],
      [PLANE, 'yaw', [90], 'Use goto'],
      [ROVER, 'yaw', [90], 'Use goto'],
      [PX4, 'yaw', [90, 10], 'at its own rate'],
      [PX4, 'yaw', [90, 0, 1], 'absolute'],
      [{ ...PX4, type: 1 }, 'yaw', [90], 'Use goto'],
      [COPTER, 'orbit', [30, 5, 48, 11, 20], 'mode CIRCLE'],
      [PX4, 'orbit', [0, 5, 48, 11, 20], 'radius'],
      [PX4, 'servo', [9, 1200], 'PX4 has no command'],
      [PX4, 'relay', [0, 1], 'PX4 has no relays'],
      [PX4, 'parachute', [], 'itself'],
      [ROVER, 'parachute', [], 'a rover has none'],
      [COPTER, 'servo', [1.5, 1200], 'a whole number from 1 to 32'],
    ];
    for (const [options, cmd, args, part] of cases) {
      const rig = await met(options);
      expect(await refusal(rig, cmd, args), cmd).to.include(part);
      await rig.link.stop();
    }
  });

  it('a parachute is not released where its parameter says that there is none', async () => {
    const rig = await met(COPTER);
    rig.say(paramValue('CHUTE_ENABLED', 0, 0, 1));
    expect(await refusal(rig, 'parachute', [])).to.include('CHUTE_ENABLED is 0');
    rig.say(paramValue('CHUTE_ENABLED', 1, 0, 1));
    expect((await rig.command('parachute')).status).to.equal('accepted');
    await rig.link.stop();
  });

  it("PX4's missionStart arms: from its acceptance on the vehicle counts as armed", async () => {
    const rig = await met(PX4);
    await sentFor(rig, 'arm');
    rig.beat(); // not yet
    expect(rig.state().armed).to.equal(false);
    rig.sent.length = 0;
    const running = rig.calls.command({ cmd: 'missionStart', args: [] });
    await rig.clock.advance(10);
    expect(rig.state().armed).to.equal(true);
    await rig.live(1000);
    expect((await running).status).to.equal('accepted');
    await rig.link.stop();
  });
});
