import { expect } from 'chai';
import { disarmHint } from '../../front/link/commands/disarm-hint.ts';
import type { CommandRequest } from '../../shared/rpc/link.ts';
import type { CommandResult } from '../../shared/rpc/link-answers.ts';
import { refusal } from '../support/refusal.ts';
import { settle } from './fake-clock.ts';
import { commandAck, globalPosition, statusText } from './mavlink-samples.ts';
import { Rig, type Sent } from './rig.ts';

const ARM = 400;
const SET_MODE = 176;
const TAKEOFF = 22;
const REPOSITION = 192;

const ACCEPTED = 0;
const DENIED = 2;
const UNSUPPORTED = 3;
const FAILED = 4;
const IN_PROGRESS = 5;

/** The vehicle answers each send of each command with `result`. */
function answering(rig: Rig, result: number | ((sent: Sent) => number | null)): void {
  rig.onSent = (sent) => {
    if ((sent.id !== 75 && sent.id !== 76) || sent.fields['command'] === 511) return;
    const verdict = typeof result === 'number' ? result : result(sent);
    if (verdict !== null) rig.say(commandAck(Number(sent.fields['command']), verdict, rig.system));
  };
}

const sentParams = ({ fields }: Sent): unknown[] => [1, 2, 3, 4, 5, 6, 7].map((n) => fields[`_param${n}`]);

describe('commands', () => {
  it('report the acceptance of the vehicle', async () => {
    const rig = await Rig.met({ system: 3 });
    answering(rig, ACCEPTED);
    expect(await rig.command('arm')).to.deep.equal({
      status: 'accepted',
      cmd: 'arm',
      ack: { observed: true, result: 0, result_name: 'ACCEPTED', accepted: true },
    });
    const [sent, ...more] = rig.commands(ARM);
    expect(more).to.deep.equal([]);
    expect(sent).to.include({ id: 76, system: 3, component: 191 });
    expect(sent?.fields).to.include({ targetSystem: 3, targetComponent: 1, _param1: 1, confirmation: 0 });
    await rig.link.stop();
  });

  it('say in the state who commands: whose was taken, from a minute before the flight to its end', async () => {
    const rig = await Rig.met();
    const commander = (): string | null => rig.state().commander;
    const command = async (cmd: 'arm' | 'land', by?: string): Promise<void> => {
      const running = rig.calls.command({ cmd, args: [], ...(by === undefined ? {} : { by }) });
      await rig.live(3000);
      await running;
    };
    answering(rig, DENIED);
    await command('arm', 'eve');
    expect(commander(), 'refused').to.equal(null);
    answering(rig, ACCEPTED);
    await command('land', 'ada');
    expect(commander()).to.equal('ada');
    await rig.live(61_000);
    expect(commander(), 'it did not arm').to.equal(null);
    rig.armed = true;
    await command('arm', 'ada');
    await rig.live(120_000);
    expect(commander()).to.equal('ada');
    await command('land');
    expect(commander(), 'nobody says').to.equal('ada');
    rig.calls.manual({
      holder: 'some socket',
      sticks: { type: 'manual', x: 0, y: 0, z: 500, r: 0 },
      by: 'grace',
    });
    expect(commander()).to.equal('grace');
    rig.armed = false;
    await rig.live(2000);
    expect(commander(), 'the flight is over').to.equal(null);
    await rig.link.stop();
  });

  it('a mode that was accepted is read back before the answer, for 1.5 s at most', async () => {
    const rig = new Rig({ customMode: 0 });
    await rig.meet();
    rig.onSent = ({ id, fields }) => {
      if (id !== 76 || fields['command'] !== 176) return;
      rig.say(commandAck(176, 0));
      rig.clock.after(700, () => {
        rig.customMode = 4;
        rig.beat();
      });
    };
    expect((await rig.command('mode', ['GUIDED'])).status).to.equal('accepted');
    expect(rig.state().telemetry.mode).to.equal('GUIDED');
    rig.onSent = ({ id, fields }) => {
      if (id === 76 && fields['command'] === 176) rig.say(commandAck(176, 0));
    };
    const began = rig.clock.now();
    expect((await rig.command('mode', ['RTL'])).status).to.equal('accepted');
    expect(rig.clock.now() - began).to.be.within(1500, 1700);
    expect(rig.state().telemetry.mode, 'what it says itself').to.equal('GUIDED');
    await rig.link.stop();
  });

  it('a vehicle that accepted an arming counts as armed before its next heartbeat', async () => {
    const rig = await Rig.met({ customMode: 0 });
    answering(rig, ACCEPTED);
    await rig.command('arm');
    expect(rig.state().armed).to.equal(true);
    await rig.command('takeoff', [10]);
    // STABILIZE cannot take off: GUIDED first, as for any armed vehicle.
    expect(rig.commands(SET_MODE).map(({ fields }) => fields['_param2'])).to.deep.equal([4]);
    expect(rig.commands(TAKEOFF)).to.have.length(1);
    await rig.link.stop();
  });

  it('are sent with the parameters that the vehicle expects', async () => {
    const rig = await Rig.met({ customMode: 4 });
    answering(rig, ACCEPTED);
    const cases: [
      cmd: CommandRequest['cmd'],
      args: CommandRequest['args'],
      command: number,
      params: unknown[],
    ][] = [
      ['disarm', [], ARM, [0, 0, 0, 0, 0, 0, 0]],
      ['runPrearmChecks', [], 401, [0, 0, 0, 0, 0, 0, 0]],
      ['killSwitch', ['KILL'], ARM, [0, 21_196, 0, 0, 0, 0, 0]],
      ['takeoff', [], TAKEOFF, [0, 0, 0, 0, 0, 0, 10]],
      ['takeoff', ['12.5'], TAKEOFF, [0, 0, 0, 0, 0, 0, 12.5]],
      ['land', [], 21, [0, 0, 0, 0, 0, 0, 0]],
      ['rtl', [], SET_MODE, [1, 6, 0, 0, 0, 0, 0]],
      ['mode', ['loiter'], SET_MODE, [1, 5, 0, 0, 0, 0, 0]],
      ['stop', [], SET_MODE, [1, 17, 0, 0, 0, 0, 0]],
      ['missionStart', [], 300, [0, 0, 0, 0, 0, 0, 0]],
      ['pauseMission', [], 193, [0, 0, 0, 0, 0, 0, 0]],
      ['resumeMission', [], 193, [1, 0, 0, 0, 0, 0, 0]],
      ['setHome', [], 179, [1, 0, 0, 0, 0, 0, 0]],
    ];
    for (const [cmd, args, command, params] of cases) {
      rig.sent.length = 0;
      expect((await rig.command(cmd, args)).status, cmd).to.equal('accepted');
      // A mode that it does not show is waited for, meanwhile streams are asked for anew.
      const streams = [511, 512];
      const commands = rig.sent.filter(
        ({ id, fields }) => id === 76 && !streams.includes(Number(fields['command'])),
      );
      expect(commands.length, cmd).to.equal(1);
      expect(commands[0]?.fields['command'], cmd).to.equal(command);
      expect(commands.map(sentParams)[0], cmd).to.deep.equal(params);
    }
    await rig.link.stop();
  });

  it('carry the refusal and the text that explains it, also when that comes after the ack', async () => {
    const rig = await Rig.met();
    answering(rig, FAILED);
    rig.say(statusText(2, 'an old line'));
    const running = rig.calls.command({ cmd: 'arm', args: [] });
    await rig.clock.advance(50);
    rig.say(statusText(6, 'chatter'));
    rig.say(statusText(2, 'PreArm: GPS 1: Bad fix'));
    await rig.clock.advance(0);
    expect(await running).to.deep.equal({
      status: 'rejected',
      cmd: 'arm',
      ack: {
        observed: true,
        result: FAILED,
        result_name: 'FAILED',
        accepted: false,
        statustext: 'PreArm: GPS 1: Bad fix',
        reasons: ['PreArm: GPS 1: Bad fix'],
      },
    });
    // Without a text the answer does not wait for long.
    const began = rig.clock.now();
    const { ack } = await rig.command('land');
    expect(Object.keys(ack)).to.not.include.members(['statustext']).and.not.include.members(['reasons']);
    expect(rig.clock.now() - began).to.be.at.most(450);
    await rig.link.stop();
  });

  it('of arming carry what the vehicle has told before of what keeps it from arming, as long as it holds', async () => {
    const rig = await Rig.met();
    answering(rig, FAILED);
    rig.say(statusText(2, 'PreArm: GPS 1: Bad fix'));
    rig.say(statusText(2, 'PreArm: Compass not calibrated'));
    rig.say(statusText(4, 'something else'));
    await rig.live(20_000);
    rig.say(statusText(2, 'PreArm: Compass not calibrated'));
    const first = await rig.command('arm');
    expect(first.ack.reasons).to.deep.equal(['PreArm: GPS 1: Bad fix', 'PreArm: Compass not calibrated']);
    expect(first.ack.statustext).to.equal('PreArm: Compass not calibrated');
    await rig.live(50_000); // the fix is there: it is not repeated
    const running = rig.calls.command({ cmd: 'arm', args: [] });
    await rig.clock.advance(300);
    rig.say(statusText(2, 'Arm: Throttle too high'));
    expect((await running).ack.reasons).to.deep.equal([
      'PreArm: Compass not calibrated',
      'Arm: Throttle too high',
    ]);
    // Of no use for what arming has nothing to do with, nor where the vehicle says nothing.
    expect((await rig.command('land')).ack).to.not.have.property('reasons');
    rig.onSent = () => undefined;
    expect((await rig.command('land')).ack).to.not.have.property('reasons');
    await rig.link.stop();
  });

  it('are sent up to three times, 1.2 s apart, with the confirmation counting; then the answer is no_ack', async () => {
    const rig = await Rig.met();
    const began = rig.clock.now();
    const result = await rig.command('arm');
    expect(result).to.deep.equal({
      status: 'no_ack',
      cmd: 'arm',
      ack: { observed: false, result: null, result_name: null, accepted: false },
    });
    const sends = rig.commands(ARM);
    expect(sends.map(({ fields }) => fields['confirmation'])).to.deep.equal([0, 1, 2]);
    expect(sends.map(({ at }) => at - began)).to.deep.equal([0, 1200, 2400]);
    expect(rig.clock.now() - began).to.be.within(3600, 3700);
    await rig.link.stop();
  });

  it('take an ack of any of their sends, once', async () => {
    const rig = await Rig.met();
    // The first is lost; the second is answered twice.
    answering(rig, ({ fields }) => {
      if (fields['confirmation'] === 0) return null;
      rig.say(commandAck(ARM, ACCEPTED, 1));
      return DENIED;
    });
    expect((await rig.command('arm')).status).to.equal('accepted');
    expect(rig.commands(ARM).length).to.equal(2);
    await rig.link.stop();
  });

  it('believe no ack of another vehicle, component or command, nor one for another ground station', async () => {
    const rig = await Rig.met();
    rig.onSent = ({ id, fields }) => {
      if (id !== 76 || fields['command'] !== ARM) return;
      rig.say(commandAck(ARM, ACCEPTED), 9); // another vehicle
      rig.say(commandAck(ARM, ACCEPTED), 1, 154); // its gimbal
      rig.say(commandAck(TAKEOFF, ACCEPTED));
      rig.say(commandAck(ARM, ACCEPTED, 255, 190)); // QGroundControl's
    };
    expect((await rig.command('arm')).status).to.equal('no_ack');
    rig.onSent = () => undefined;
    await rig.live(4000);
    answering(rig, () => null);
    const running = rig.calls.command({ cmd: 'arm', args: [] });
    await settle();
    rig.say(commandAck(ARM, ACCEPTED, 0, 0)); // an old firmware that does not fill it in
    expect((await running).status).to.equal('accepted');
    await rig.link.stop();
  });

  it('wait up to 8 s for a vehicle that says IN_PROGRESS, and do not send again meanwhile', async () => {
    const rig = await Rig.met();
    answering(rig, IN_PROGRESS);
    const began = rig.clock.now();
    const running = rig.calls.command({ cmd: 'land', args: [] });
    await rig.live(6000);
    rig.say(commandAck(21, ACCEPTED));
    expect((await running).status).to.equal('accepted');
    expect(rig.commands(21).length).to.equal(1);
    rig.sent.length = 0;
    const endless = await rig.command('land');
    expect(endless).to.deep.include({ status: 'no_ack' });
    expect(endless.ack).to.include({ observed: true, result_name: 'IN_PROGRESS', accepted: false });
    expect(rig.clock.now() - began).to.be.within(14_000, 14_500);
    await rig.link.stop();
  });

  it('end when timeout_ms says so', async () => {
    const rig = await Rig.met();
    const began = rig.clock.now();
    expect((await rig.command('arm', [], 500)).status).to.equal('no_ack');
    expect(rig.clock.now() - began).to.be.at.most(550);
    await rig.link.stop();
  });

  it('do not take the late ack of an unanswered one for their own', async () => {
    const rig = await Rig.met();
    expect((await rig.command('arm', [], 300)).status).to.equal('no_ack');
    const running = rig.calls.command({ cmd: 'disarm', args: [] });
    await settle();
    rig.say(commandAck(ARM, DENIED)); // of the arm, which was sent once
    await rig.clock.advance(1200);
    expect(rig.commands(ARM).map(({ fields }) => fields['_param1'])).to.deep.equal([1, 0, 0]);
    rig.say(commandAck(ARM, ACCEPTED));
    expect((await running).status).to.equal('accepted');
    await rig.link.stop();
  });

  it('an arming acknowledged 5 s late does not answer the disarming after it: the vehicle stays armed', async () => {
    const rig = await Rig.met();
    expect((await rig.command('arm')).status).to.equal('no_ack'); // sent at 0, 1.2 and 2.4 s
    rig.armed = true;
    let answer: CommandResult | null = null;
    const running = rig.calls.command({ cmd: 'disarm', args: [] }).then((result) => {
      answer = result;
    });
    await rig.live(1500);
    for (let count = 0; count < 3; count++) {
      rig.say(commandAck(ARM, ACCEPTED)); // of the arm
      await rig.live(1100);
      expect(answer).to.equal(null);
    }
    rig.say(commandAck(ARM, FAILED)); // of the disarm, in the air
    await rig.clock.advance(450);
    await running;
    expect(answer).to.have.nested.property('ack.result_name', 'FAILED');
    await rig.link.stop();
  });

  it('a disarming that the vehicle refuses says what helps, but on the ground', async () => {
    const rig = await Rig.met();
    answering(rig, FAILED);
    rig.armed = true;
    expect((await rig.command('disarm')).ack.hint).to.match(/does not say whether it flies: land it first/);
    expect((await rig.command('land')).ack.hint).to.equal(undefined);
    await rig.link.stop();
    for (const flying of ['in_air', 'takeoff', 'landing'] as const)
      expect(disarmHint({ landed_state: flying })).to.match(/^It is in the air: land it first/);
    expect(disarmHint({ landed_state: 'on_ground' })).to.equal(null);
  });

  it('where an ack may be of an older one, the next heartbeat says whether the vehicle has done it', async () => {
    const rig = await Rig.met();
    rig.armed = true;
    rig.beat();
    expect((await rig.command('arm')).status).to.equal('no_ack');
    const disarm = rig.calls.command({ cmd: 'disarm', args: [] });
    await rig.clock.advance(100);
    rig.armed = false;
    rig.say(commandAck(ARM, ACCEPTED));
    await rig.clock.advance(100);
    rig.beat();
    expect((await disarm).status).to.equal('accepted');
    // An arming likewise, and a killSwitch after it.
    expect((await rig.command('disarm')).status).to.equal('no_ack');
    const arm = rig.calls.command({ cmd: 'arm', args: [] });
    await rig.clock.advance(100);
    rig.armed = true;
    rig.say(commandAck(ARM, ACCEPTED));
    await rig.clock.advance(100);
    rig.beat();
    expect((await arm).status).to.equal('accepted');
    expect((await rig.command('arm')).status).to.equal('no_ack');
    let isOver = false;
    const kill = rig.calls.command({ cmd: 'killSwitch', args: ['KILL'] }).finally(() => {
      isOver = true;
    });
    await rig.clock.advance(100);
    rig.say(commandAck(ARM, ACCEPTED));
    rig.beat();
    await rig.clock.advance(100);
    expect(isOver, 'its motors run').to.equal(false);
    rig.armed = false;
    const sent = rig.commands(ARM).length;
    rig.beat();
    expect((await kill).status).to.equal('accepted');
    expect(rig.commands(ARM), 'at the first heartbeat').to.have.length(sent);
    // A mode likewise, a place not: nothing that it tells shows where it goes, until no older ack can come.
    expect((await rig.command('mode', ['GUIDED'])).status).to.equal('no_ack');
    const mode = rig.calls.command({ cmd: 'mode', args: ['BRAKE'] });
    await rig.clock.advance(100);
    rig.say(commandAck(SET_MODE, ACCEPTED));
    rig.customMode = 17;
    rig.beat();
    expect((await mode).status).to.equal('accepted');
    expect((await rig.command('goto', [48, 11, 30])).status).to.equal('no_ack');
    const goto = rig.calls.command({ cmd: 'goto', args: [49, 11, 30] });
    await rig.clock.advance(100);
    for (let count = 0; count < 3; count++) rig.say(commandAck(REPOSITION, ACCEPTED));
    await rig.live(500);
    rig.say(commandAck(REPOSITION, DENIED));
    await rig.live(1000);
    expect((await goto).ack.result_name).to.equal('DENIED');
    await rig.link.stop();
  });

  it('something else between a request and its repetition: the late ack of the first is not that of the second', async () => {
    const rig = await Rig.met();
    rig.armed = true;
    rig.beat();
    expect((await rig.command('arm', [], 500)).status).to.equal('no_ack');
    expect((await rig.command('disarm', [], 500)).status).to.equal('no_ack');
    rig.armed = false;
    rig.beat();
    const again = rig.calls.command({ cmd: 'arm', args: [], timeout_ms: 2000 });
    await settle();
    rig.say(commandAck(ARM, ACCEPTED));
    await rig.live(2500);
    expect((await again).status).to.equal('no_ack');
    await rig.link.stop();
  });

  it('of one id go one after the other, at most eight wait, other ids do not', async () => {
    const rig = await Rig.met();
    const waiting: Promise<CommandResult>[] = [];
    for (let count = 0; count < 9; count++) waiting.push(rig.calls.command({ cmd: 'arm', args: [] }));
    await settle();
    expect(rig.commands(ARM).length).to.equal(1);
    expect((await refusal(rig.calls.command({ cmd: 'arm', args: [] }))).code).to.equal('E_RATE_LIMITED');
    answering(rig, ACCEPTED);
    expect((await rig.command('land')).status).to.equal('accepted');
    await rig.live(2000);
    expect((await Promise.all(waiting)).every(({ status }) => status === 'accepted')).to.equal(true);
    await rig.link.stop();
  });

  it('that could not be sent before their time was over say so', async () => {
    const rig = await Rig.met();
    const first = rig.calls.command({ cmd: 'arm', args: [] });
    const second = refusal(rig.calls.command({ cmd: 'arm', args: [], timeout_ms: 400 }));
    await rig.live(4000);
    expect((await second).code).to.equal('E_TIMEOUT');
    expect((await first).status).to.equal('no_ack');
    expect(rig.commands(ARM).length).to.equal(3);
    await rig.link.stop();
  });

  it('killSwitch goes at once, before a command that waits for its ack', async () => {
    const rig = await Rig.met();
    const arm = rig.calls.command({ cmd: 'arm', args: [] });
    const queued = rig.calls.command({ cmd: 'arm', args: [] });
    await settle();
    const kill = rig.calls.command({ cmd: 'killSwitch', args: ['KILL'] });
    await settle();
    expect(rig.commands(ARM).map(({ fields }) => fields['_param2'])).to.deep.equal([0, 21_196]);
    expect((await arm).status).to.equal('no_ack');
    answering(rig, ACCEPTED);
    await rig.live(3000);
    expect((await kill).status).to.equal('accepted');
    // Nobody wants motors that start after they were cut.
    expect((await queued).status).to.equal('no_ack');
    expect(rig.commands(ARM).filter(({ fields }) => fields['_param1'] === 1)).to.have.length(1);
    await rig.link.stop();
  });

  it('a killSwitch without an ack is sent to its end: nothing takes its place, nothing arms meanwhile', async () => {
    const rig = await Rig.met({ autopilot: 12 });
    const gone = new AbortController();
    const kill = rig.calls.command({ cmd: 'killSwitch', args: ['KILL'], timeout_ms: 100 }, gone.signal);
    await settle();
    gone.abort(); // whoever pressed it may have crashed
    for (const cmd of ['arm', 'missionStart'] as const) {
      const refused = await refusal(rig.calls.command({ cmd, args: [] }));
      expect(refused.code, cmd).to.equal('E_BUSY');
      expect(refused.status).to.equal(409);
    }
    const disarm = rig.calls.command({ cmd: 'disarm', args: [] });
    const land = rig.calls.command({ cmd: 'land', args: [] });
    await rig.clock.advance(1250);
    // Pressed again: at once, and as often again.
    const again = rig.calls.command({ cmd: 'killSwitch', args: ['KILL'] });
    await rig.live(2500);
    const sent = rig.commands(ARM).map(({ fields }) => [fields['_param1'], fields['_param2']]);
    expect(sent).to.deep.equal(Array.from({ length: 5 }, () => [0, 21_196]));
    answering(rig, ACCEPTED);
    rig.say(commandAck(ARM, ACCEPTED));
    expect((await kill).status).to.equal('accepted');
    expect((await again).status).to.equal('accepted');
    expect((await disarm).status).to.equal('no_ack'); // the newer kill took its place
    expect((await land).status).to.equal('no_ack');
    // It has ended: arming goes again.
    expect((await rig.command('arm')).status).to.equal('accepted');
    await rig.link.stop();
  });

  it('take-off: as it is while disarmed, through GUIDED when armed in another mode', async () => {
    const rig = await Rig.met({ customMode: 0 });
    answering(rig, ({ fields }) => (fields['command'] === TAKEOFF ? FAILED : ACCEPTED));
    expect((await rig.command('takeoff', [5])).status).to.equal('rejected');
    expect(rig.commands(SET_MODE).length).to.equal(0);
    rig.armed = true;
    rig.beat();
    answering(rig, ACCEPTED);
    expect((await rig.command('takeoff', [5])).status).to.equal('accepted');
    expect(rig.commands(SET_MODE).map(({ fields }) => fields['_param2'])).to.deep.equal([4]);
    // A refused GUIDED is the answer, and nothing takes off.
    rig.sent.length = 0;
    answering(rig, DENIED);
    const refused = await rig.command('takeoff', [5]);
    expect(refused).to.deep.include({ status: 'rejected', cmd: 'takeoff' });
    expect(refused.ack.result_name).to.equal('DENIED');
    expect(rig.commands(TAKEOFF).length).to.equal(0);
    await rig.link.stop();
  });

  /** Mode numbers of the copter; the steps that are to be sent, and what is refused. */
  for (const [mode, number, steps] of [
    ['LAND', 9, ['mode 4', 'arm', 'takeoff']],
    ['RTL', 6, ['mode 4', 'arm', 'takeoff']],
    ['AUTO', 3, ['mode 4', 'arm', 'takeoff']],
    ['ACRO', 1, ['mode 4', 'arm', 'takeoff']],
    ['STABILIZE', 0, ['mode 4', 'arm', 'takeoff']],
    ['GUIDED', 4, ['arm', 'takeoff']],
  ] as const)
    it(`take-off that arms, of a copter on the ground in ${mode}: ${steps.join(', ')}`, async () => {
      const rig = await Rig.met({ customMode: number });
      const sent: string[] = [];
      const NAMES: Readonly<Record<number, string>> = { [ARM]: 'arm', [TAKEOFF]: 'takeoff' };
      answering(rig, ({ fields }) => {
        const command = Number(fields['command']);
        const name = NAMES[command] ?? `mode ${String(fields['_param2'])}`;
        sent.push(name);
        if (command === SET_MODE) {
          rig.customMode = Number(fields['_param2']);
          rig.beat();
        }
        return ACCEPTED;
      });
      expect(rig.state().telemetry.prearm.takeoff_mode).to.equal('GUIDED');
      const accepted = await rig.command('takeoff', [5, 1]);
      expect(accepted.status).to.equal('accepted');
      expect(accepted.mode).to.equal(mode === 'GUIDED' ? undefined : 'GUIDED');
      expect(sent).to.deep.equal(steps);
      // Refused by the vehicle: nothing after it.
      const again = await Rig.met({ customMode: 9 });
      answering(again, ({ fields }) => {
        if (fields['command'] === ARM) return DENIED;
        again.customMode = 4;
        again.beat();
        return ACCEPTED;
      });
      const refused = await again.command('takeoff', [5, 1]);
      // It does not tell to do what was done, but what has changed.
      expect(refused).to.include({ status: 'rejected', mode: 'GUIDED' });
      expect(refused.ack).to.not.have.property('hint');
      expect(again.commands(TAKEOFF)).to.have.length(0);
      await again.link.stop();
      await rig.link.stop();
    });

  it('goto: DO_REPOSITION with integer coordinates, relative to home', async () => {
    const rig = await Rig.met();
    answering(rig, ACCEPTED);
    expect((await rig.command('goto', [48.1234567, -11.7654321, 30])).status).to.equal('accepted');
    const [sent] = rig.commands(REPOSITION);
    expect(sent?.id).to.equal(75);
    expect(sent?.fields).to.include({
      frame: 6,
      _param1: -1,
      _param2: 1,
      _param5: 481_234_567,
      _param6: -117_654_321,
      _param7: 30,
    });
    await rig.link.stop();
  });

  it('goto of PX4: in the frame that it takes, else in the next form that MAVLink has for a place', async () => {
    const rig = await Rig.met({ autopilot: 12 });
    rig.say(globalPosition(100, 48, 11)); // 500 m above the sea, 12 m above home
    const forms = (): unknown[] =>
      rig.commands(REPOSITION).map(({ id, fields }) => (id === 75 ? fields['frame'] : 'long'));
    answering(rig, ACCEPTED);
    expect((await rig.command('goto', [48.1, 11.5, 30])).status).to.equal('accepted');
    expect(forms()).to.deep.equal([5]);
    expect(rig.commands(REPOSITION)[0]?.fields).to.include({ _param5: 481_000_000, _param7: 518 });
    const NO_FRAME = 9;
    const cases: [answers: number[], forms: unknown[], name: string][] = [
      [[NO_FRAME, ACCEPTED], [5, 0], 'ACCEPTED'],
      [[NO_FRAME, DENIED, ACCEPTED], [5, 0, 'long'], 'ACCEPTED'],
      [[UNSUPPORTED, ACCEPTED], [5, 0], 'ACCEPTED'],
      [[DENIED, NO_FRAME, NO_FRAME], [5, 0, 'long'], 'DENIED'],
      [[NO_FRAME, NO_FRAME, NO_FRAME], [5, 0, 'long'], 'COMMAND_UNSUPPORTED_MAV_FRAME'],
      [[1], [5], 'TEMPORARILY_REJECTED'],
    ];
    for (const [answers, expected, name] of cases) {
      rig.sent.length = 0;
      const rest = [...answers];
      answering(rig, ({ fields }) => (fields['command'] === REPOSITION ? (rest.shift() ?? null) : null));
      expect((await rig.command('goto', [48.1, 11.5, 30])).ack.result_name).to.equal(name);
      expect(forms(), String(answers)).to.deep.equal(expected);
    }
    const long = rig.commands(REPOSITION).at(-1);
    expect(long?.fields['_param1']).to.equal(-1);
    await rig.link.stop();
  });

  it('goto on a firmware without DO_REPOSITION: a position target in GUIDED, honestly without an ack', async () => {
    const rig = await Rig.met({ customMode: 5 });
    answering(rig, ({ fields }) => (fields['command'] === REPOSITION ? UNSUPPORTED : ACCEPTED));
    const result = await rig.command('goto', [48, 11, 30]);
    expect(result).to.deep.include({ status: 'no_ack' });
    expect(rig.commands(SET_MODE).length).to.equal(1);
    const targets = rig.sent.filter(({ id }) => id === 86);
    expect(targets.length).to.equal(3);
    expect(targets[0]?.fields).to.include({
      latInt: 480_000_000,
      alt: 30,
      coordinateFrame: 6,
      typeMask: 0xdf8,
    });
    await rig.link.stop();
  });

  it('goto on such a firmware sends no mode where it is in GUIDED, and nothing where GUIDED is refused or something newer came', async () => {
    const targets = (rig: Rig): number => rig.sent.filter(({ id }) => id === 86).length;
    const guided = await Rig.met({ customMode: 4 });
    answering(guided, ({ fields }) => (fields['command'] === REPOSITION ? UNSUPPORTED : ACCEPTED));
    expect((await guided.command('goto', [48, 11, 30])).status).to.equal('no_ack');
    expect([guided.commands(SET_MODE).length, targets(guided)]).to.deep.equal([0, 3]);
    const refusing = await Rig.met({ customMode: 5 });
    answering(refusing, ({ fields }) => (fields['command'] === REPOSITION ? UNSUPPORTED : DENIED));
    expect((await refusing.command('goto', [48, 11, 30])).ack.result_name).to.equal('DENIED');
    expect(targets(refusing)).to.equal(0);
    const stopped = await Rig.met({ customMode: 5 });
    answering(stopped, ({ fields }) => (fields['command'] === REPOSITION ? UNSUPPORTED : ACCEPTED));
    const going = stopped.calls.command({ cmd: 'goto', args: [48, 11, 30] });
    await stopped.clock.advance(500); // accepted, and not shown yet
    const stop = stopped.calls.command({ cmd: 'stop', args: [] });
    await stopped.live(3000);
    expect((await stop).status).to.equal('accepted');
    expect((await going).status).to.equal('no_ack');
    expect(targets(stopped)).to.equal(0);
    const px4 = await Rig.met({ autopilot: 12 });
    px4.say(globalPosition(100, 48, 11));
    answering(px4, UNSUPPORTED);
    expect((await px4.command('goto', [48, 11, 30])).ack.result_name).to.equal('UNSUPPORTED');
    expect([px4.commands(SET_MODE).length, targets(px4)]).to.deep.equal([0, 0]);
    await Promise.all([guided, refusing, stopped, px4].map(async ({ link }) => link.stop()));
  });

  it('goto leaves the yaw to a copter; a plane reads the direction of its circle there', async () => {
    for (const [type, yaw] of [
      [2, NaN],
      [1, 0],
    ] as const) {
      const rig = await Rig.met({ type });
      answering(rig, ACCEPTED);
      await rig.command('goto', [48, 11, 30]);
      expect(rig.commands(REPOSITION)[0]?.fields['_param4'], String(type)).to.deep.equal(yaw);
      await rig.link.stop();
    }
  });

  it('land that a plane of ArduPilot fails says what helps; no other command, vehicle or answer', async () => {
    const hint = async (type: number, cmd: 'land' | 'rtl', result: number): Promise<unknown> => {
      const rig = await Rig.met({ type });
      answering(rig, result);
      const { hint: said } = (await rig.command(cmd)).ack;
      await rig.link.stop();
      return said;
    };
    expect(await hint(1, 'land', FAILED)).to.match(/landing sequence/);
    expect(await hint(1, 'rtl', FAILED)).to.equal(undefined);
    expect(await hint(1, 'land', DENIED)).to.equal(undefined);
    expect(await hint(2, 'land', FAILED)).to.equal(undefined);
  });

  it('runPrearmChecks that is refused is answered without waiting for what the vehicle would tell', async () => {
    const rig = await Rig.met();
    answering(rig, DENIED);
    const began = rig.clock.now();
    expect((await rig.command('runPrearmChecks')).ack.result_name).to.equal('DENIED');
    expect(rig.clock.now() - began).to.be.at.most(600);
    await rig.link.stop();
  });

  it('modes of PX4 and of a plane go by their own numbers; an unknown one lists the known', async () => {
    const px4 = await Rig.met({ autopilot: 12 });
    answering(px4, ACCEPTED);
    for (const [cmd, args] of [
      ['stop', []],
      ['mode', ['Auto.Loiter']],
      ['mode', ['loiter']],
    ] as const) {
      px4.sent.length = 0;
      await px4.command(cmd, args);
      expect(px4.commands(SET_MODE).map(sentParams)).to.deep.equal([[1, 4, 3, 0, 0, 0, 0]]);
    }
    await px4.link.stop();
    const plane = await Rig.met({ type: 1 });
    answering(plane, ACCEPTED);
    await plane.command('mode', ['FBWA']);
    expect(plane.commands(SET_MODE).map(({ fields }) => fields['_param2'])).to.deep.equal([5]);
    const error = await refusal(plane.command('mode', ['BRAKE']));
    expect(error.code).to.equal('E_BAD_REQUEST');
    expect(error.message).to.include('BRAKE').and.include('FBWA, FBWB, CRUISE');
    await plane.link.stop();
  });

  it('need a live vehicle and a request that makes sense', async () => {
    const rig = new Rig();
    rig.link.start();
    expect((await refusal(rig.calls.command({ cmd: 'arm', args: [] }))).code).to.equal('E_NO_FC');
    await rig.meet();
    const bad: CommandRequest[] = [
      { cmd: 'takeoff', args: [9999] },
      { cmd: 'goto', args: [1, 2] },
      { cmd: 'killSwitch', args: [] },
    ];
    for (const request of bad) {
      expect((await refusal(rig.calls.command(request))).code, JSON.stringify(request)).to.equal(
        'E_BAD_REQUEST',
      );
    }
    expect(rig.commands(ARM).length).to.equal(0);
    rig.transport.drop();
    expect((await refusal(rig.calls.command({ cmd: 'arm', args: [] }))).code).to.equal('E_NO_FC');
    rig.transport.connect();
    expect((await refusal(rig.calls.command({ cmd: 'arm', args: [] }))).code, 'not heard yet').to.equal(
      'E_NO_FC',
    );
    await rig.link.stop();
  });

  it('of a client that went away are not sent again', async () => {
    const rig = await Rig.met();
    const gone = new AbortController();
    const running = rig.calls.command({ cmd: 'arm', args: [] }, gone.signal);
    await settle();
    gone.abort();
    await rig.live(3000);
    expect(rig.commands(ARM).length).to.equal(1);
    expect((await running).status).to.equal('no_ack');
    await rig.link.stop();
  });
});
