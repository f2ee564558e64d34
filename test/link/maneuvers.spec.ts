import { expect } from 'chai';
import { ApiError } from '../../shared/errors.ts';
import type { CommandRequest } from '../../shared/rpc/link.ts';
import { commandAck } from './mavlink-samples.ts';
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
  const rig = new Rig(options);
  await rig.meet();
  await rig.live(500);
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

  it("PX4's missionStart arms: from its acceptance on the vehicle counts as armed", async () => {
    const rig = await met(PX4);
    await sentFor(rig, 'arm');
    rig.beat(); // not yet
    expect(rig.link.state().armed).to.equal(false);
    rig.sent.length = 0;
    const running = rig.link.command({ cmd: 'missionStart', args: [] });
    await rig.clock.advance(10);
    expect((await running).status).to.equal('accepted');
    expect(rig.link.state().armed).to.equal(true);
    await rig.link.stop();
  });
});
