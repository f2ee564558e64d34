import { expect } from 'chai';
import { Precedence, type Turn } from '../../front/link/commands/precedence.ts';
import { COMMAND_NAMES, type CommandName } from '../../shared/flight/command-catalogue.ts';

/** What each command is about; a newer command about the same thing cancels an older one. */
const SUBJECT: Readonly<Record<CommandName, string>> = {
  arm: 'motors',
  disarm: 'motors',
  killSwitch: 'motors',
  takeoff: 'course',
  land: 'course',
  rtl: 'course',
  mode: 'course',
  goto: 'course',
  stop: 'course',
  missionStart: 'course',
  pauseMission: 'course',
  resumeMission: 'course',
  missionSetCurrent: 'course',
  orbit: 'course',
  yaw: 'course',
  speed: 'speed',
  roi: 'camera',
  roiClear: 'camera',
  photo: 'payload',
  gimbal: 'camera',
  servo: 'servo',
  relay: 'relay',
  parachute: 'parachute',
  setHome: 'home',
  runPrearmChecks: 'checks',
  motorTest: 'motors',
  rebootAutopilot: 'reboot',
};

const STARTS_MOTORS: readonly CommandName[] = ['arm', 'missionStart', 'motorTest'];

function begun(precedence: Precedence, cmd: CommandName, args: readonly (number | string)[] = [1]): Turn {
  return precedence.begin(cmd, args, undefined);
}

describe('which command counts', () => {
  for (const newer of COMMAND_NAMES)
    it(`${newer} ends exactly what is about the same thing`, () => {
      for (const older of COMMAND_NAMES) {
        const precedence = new Precedence();
        if (older === 'killSwitch' && STARTS_MOTORS.includes(newer)) continue;
        const first = begun(precedence, older, [1]);
        begun(precedence, newer, [1, 2]).claim(); // the same servo or relay, another request
        const all = ['disarm', 'killSwitch'].includes(newer);
        const subject = SUBJECT[older];
        const ends =
          older !== 'killSwitch' &&
          (all ? ['motors', 'course'].includes(subject) : subject === SUBJECT[newer]);
        expect(first.signal.aborted, older).to.equal(ends);
      }
    });

  it('one servo does not cancel another, nor a relay of the same number', () => {
    const precedence = new Precedence();
    const [first, relay] = [begun(precedence, 'servo', [1, 1000]), begun(precedence, 'relay', [1, 1])];
    begun(precedence, 'servo', [2, 1000]).claim();
    expect([first.signal.aborted, relay.signal.aborted]).to.deep.equal([false, false]);
    begun(precedence, 'servo', [1, 1500]).claim();
    expect([first.signal.aborted, relay.signal.aborted]).to.deep.equal([true, false]);
    const release = begun(precedence, 'parachute', []);
    begun(precedence, 'parachute', []).claim();
    expect(release.signal.aborted, 'the same again').to.equal(false);
  });

  it('the same request again cancels nothing; other arguments do, however they are cut', () => {
    const precedence = new Precedence();
    const first = begun(precedence, 'goto', [1, 23]);
    begun(precedence, 'goto', [1, 23]).claim();
    expect(first.signal.aborted).to.equal(false);
    begun(precedence, 'goto', [12, 3]).claim();
    expect(first.signal.aborted).to.equal(true);
  });

  it('cancels when it is sent, not when it is asked for, and never what came after it', () => {
    const precedence = new Precedence();
    const older = begun(precedence, 'goto', [1]);
    const own = begun(precedence, 'goto', [2]);
    const newer = begun(precedence, 'goto', [3]);
    expect(older.signal.aborted, 'not by being asked for').to.equal(false);
    own.claim();
    expect([older.signal.aborted, own.signal.aborted, newer.signal.aborted]).to.deep.equal([
      true,
      false,
      false,
    ]);
  });

  it('a client that leaves ends its own, and no killSwitch', () => {
    const precedence = new Precedence();
    const [leaving, other] = [new AbortController(), new AbortController()];
    const goto = precedence.begin('goto', [], leaving.signal);
    const kill = precedence.begin('killSwitch', [], other.signal);
    leaving.abort();
    other.abort();
    expect([goto.signal.aborted, kill.signal.aborted]).to.deep.equal([true, false]);
  });

  it('while a killSwitch is under way nothing starts motors', () => {
    const precedence = new Precedence();
    expect(precedence.killing).to.equal(false);
    begun(precedence, 'land');
    expect(precedence.killing).to.equal(false);
    const kill = begun(precedence, 'killSwitch');
    expect(precedence.killing).to.equal(true);
    for (const cmd of COMMAND_NAMES) {
      const begin = () => begun(precedence, cmd).end();
      if (STARTS_MOTORS.includes(cmd))
        expect(begin, cmd).to.throw(`${cmd} was not sent`).with.property('code', 'E_BUSY');
      else expect(begin, cmd).to.not.throw();
    }
    kill.end();
    expect(precedence.killing).to.equal(false);
    begun(precedence, 'arm');
  });

  it('steers while a command about the course is under way', () => {
    for (const cmd of COMMAND_NAMES) {
      const precedence = new Precedence();
      expect(precedence.steering).to.equal(false);
      const turn = begun(precedence, cmd);
      expect(precedence.steering, cmd).to.equal(SUBJECT[cmd] === 'course');
      turn.end();
      expect(precedence.steering).to.equal(false);
    }
  });
});
