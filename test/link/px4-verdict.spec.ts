import { expect } from 'chai';
import type { CommandRequest } from '../../shared/rpc/link.ts';
import type { CommandResult } from '../../shared/rpc/link-answers.ts';
import { commandAck, globalPosition, statusText } from './mavlink-samples.ts';
import { Rig, type RigOptions, type Sent } from './rig.ts';

const PX4: RigOptions = { autopilot: 12, customMode: 0x0203_0000 };
const SET_MODE = 176;
const [ACCEPTED, TEMPORARILY_REJECTED] = [0, 1];

/** Each leads to another flight mode. */
const BY_MODE: readonly [cmd: CommandRequest['cmd'], args: (number | string)[]][] = [
  ['mode', ['AUTO.MISSION']],
  ['mode', ['POSCTL']],
  ['mode', ['OFFBOARD']],
  ['stop', []],
  ['rtl', []],
  ['pauseMission', []],
  ['resumeMission', []],
];
const BY_COMMAND: typeof BY_MODE = [
  ['land', []],
  ['takeoff', [10]],
  ['goto', [48.1, 11.5, 20]],
  ['orbit', [20, 5, 48.1, 11.5, 20]],
  ['yaw', [90]],
  ['missionStart', []],
];

/** A PX4: its receiver acknowledges a mode, then its commander; other commands have one ack. */
async function px4(verdict: number, follows: boolean, after?: (rig: Rig) => void): Promise<Rig> {
  const rig = await Rig.met({ ...PX4, follows });
  rig.say(globalPosition(100, 48, 11));
  rig.onSent = ({ id, fields, system }: Sent) => {
    const command = Number(fields['command']);
    if ((id !== 75 && id !== 76) || command === 511 || command === 512) return;
    const { customMode } = rig;
    if (command === SET_MODE) rig.say(commandAck(command, ACCEPTED, system));
    if (verdict !== ACCEPTED) rig.customMode = customMode;
    rig.say(commandAck(command, verdict, system));
    after?.(rig);
  };
  return rig;
}

async function answer(
  rig: Rig,
  cmd: CommandRequest['cmd'],
  args: (number | string)[],
): Promise<CommandResult> {
  const result = await rig.command(cmd, args);
  await rig.link.stop();
  return result;
}

describe('what PX4 acknowledges', () => {
  it('is refused by its second ack, whatever the first one said', async () => {
    for (const [cmd, args] of BY_MODE) {
      const { status, ack } = await answer(await px4(TEMPORARILY_REJECTED, false), cmd, args);
      expect(status, `${cmd} ${args.join()}`).to.equal('rejected');
      expect(ack).to.include({ observed: true, accepted: false, result_name: 'TEMPORARILY_REJECTED' });
    }
  });

  it('is not confirmed while its heartbeats show another mode, as in a failsafe', async () => {
    for (const [cmd, args] of [...BY_MODE, ...BY_COMMAND]) {
      const { status, ack } = await answer(await px4(ACCEPTED, false), cmd, args);
      expect(status, `${cmd} ${args.join()}`).to.equal('unconfirmed');
      expect(ack).to.include({ observed: true, accepted: false, result_name: 'ACCEPTED' });
      expect(ack.hint).to.include(`acknowledged ${cmd}, but does not show it: it is in`);
    }
  });

  it('is accepted once its heartbeat shows it', async () => {
    for (const [cmd, args] of [...BY_MODE, ...BY_COMMAND]) {
      const { status, ack } = await answer(await px4(ACCEPTED, true), cmd, args);
      expect(status, `${cmd} ${args.join()}`).to.equal('accepted');
      expect(ack).to.include({ accepted: true }).and.not.have.property('hint');
    }
  });

  it('of a take-off that arms, from a mode that does not: AUTO.LOITER, armed, off', async () => {
    const rig = await px4(ACCEPTED, true);
    rig.customMode = 0x0604_0000; // AUTO.LAND
    rig.beat();
    expect(rig.state().telemetry).to.include({ mode: 'AUTO.LAND' });
    expect(rig.state().telemetry.prearm.takeoff_mode).to.equal('AUTO.TAKEOFF');
    expect((await rig.command('takeoff', [10, 1])).status).to.equal('accepted');
    const sent = rig.sent.flatMap(({ id, fields }) => (id === 76 ? [Number(fields['command'])] : []));
    expect([...new Set(sent)].filter((command) => [SET_MODE, 400, 22].includes(command))).to.deep.equal([
      SET_MODE,
      400,
      22,
    ]);
    await rig.link.stop();
  });

  it('is not waited for longer than its client does', async () => {
    const rig = await px4(ACCEPTED, false);
    const began = rig.clock.now();
    expect((await rig.command('mode', ['POSCTL'], 500)).status).to.equal('unconfirmed');
    expect(rig.clock.now() - began).to.be.at.most(600);
    await rig.link.stop();
  });

  it('is refused by an error right after the ack where the mode does not tell: a place outside of its fence', async () => {
    const cases: [cmd: CommandRequest['cmd'], severity: number, text: string, status: string][] = [
      ['goto', 2, 'Reposition is outside geofence\t', 'rejected'],
      ['orbit', 3, 'Orbit is outside geofence', 'rejected'],
      ['goto', 4, 'Using minimum takeoff altitude', 'accepted'],
      ['rtl', 2, 'Failsafe activated', 'accepted'], // it is in AUTO.RTL
    ];
    for (const [cmd, severity, text, status] of cases) {
      const rig = await px4(ACCEPTED, true, (one) => {
        one.clock.after(80, () => one.say(statusText(severity, text)));
      });
      rig.say(statusText(2, 'Battery low'));
      const args = BY_COMMAND.find(([name]) => name === cmd)?.[1] ?? [];
      const result = await answer(rig, cmd, args);
      expect(result.status, text).to.equal(status);
      if (status === 'rejected')
        expect(result.ack).to.include({ accepted: false, statustext: text.trim(), result_name: 'ACCEPTED' });
    }
  });

  it('of ArduPilot is its ack, as before', async () => {
    const rig = await Rig.met();
    rig.onSent = ({ id, fields, system }: Sent) => {
      if (id === 76 && fields['command'] === SET_MODE) rig.say(commandAck(SET_MODE, ACCEPTED, system));
    };
    expect((await answer(rig, 'mode', ['RTL'])).status).to.equal('accepted');
  });
});
