import { expect } from 'chai';
import { common } from 'node-mavlink';
import { settle } from './fake-clock.ts';
import { commandAck, globalPosition } from './mavlink-samples.ts';
import { Rig, type Sent } from './rig.ts';

const ARM = 400;
const SET_MODE = 176;
const TAKEOFF = 22;
const MISSION_START = 300;
const REPOSITION = 192;

const ACCEPTED = 0;
const TEMPORARILY_REJECTED = 1;
const DENIED = 2;
const FAILED = 4;
const IN_PROGRESS = 5;

const isCommand = ({ id, fields }: Sent): boolean =>
  (id === 75 || id === 76) && fields['command'] !== 511 && fields['command'] !== 512;

function answering(rig: Rig, result: (sent: Sent) => number | null): void {
  rig.onSent = (sent) => {
    const verdict = isCommand(sent) ? result(sent) : null;
    if (verdict !== null) rig.say(commandAck(Number(sent.fields['command']), verdict, rig.system));
  };
}

const landed = (landedState: number): common.ExtendedSysState =>
  Object.assign(new common.ExtendedSysState(), { vtolState: 0, landedState });

const mission = (seq: number): common.MissionCurrent =>
  Object.assign(new common.MissionCurrent(), { seq, total: 4, missionState: 3, missionMode: 1 });

describe('acknowledgements', () => {
  // We ask as component 191 of the vehicle's own system, 1; 0 is everybody.
  for (const [whose, system, component, counts] of [
    ['ourselves', 1, 191, true],
    ['everybody', 0, 0, true],
    ['everybody, whatever the component', 0, 7, true],
    ['all components of our system', 1, 0, true],
    ['another component of our system', 1, 190, false],
    ['another system', 255, 191, false],
    ['all components of another system', 255, 0, false],
  ] as const)
    it(`for ${whose}: it ${counts ? 'answers' : 'does not answer'} our command`, async () => {
      const rig = await Rig.met();
      const running = rig.calls.command({ cmd: 'arm', args: [] });
      await settle();
      rig.say(commandAck(ARM, DENIED, system, component));
      await settle();
      rig.say(commandAck(ARM, ACCEPTED));
      await rig.live(1000); // some of it for the vehicle's own words
      expect((await running).ack.result_name).to.equal(counts ? 'DENIED' : 'ACCEPTED');
      await rig.link.stop();
    });

  it('for another that says IN_PROGRESS does not lengthen the wait for ours', async () => {
    const rig = await Rig.met();
    const running = rig.calls.command({ cmd: 'arm', args: [] });
    await settle();
    rig.say(commandAck(ARM, IN_PROGRESS, 1, 190));
    await rig.live(4000);
    expect((await running).ack.result_name).to.equal(null);
    await rig.link.stop();
  });

  it("PX4's second ack of a mode does not answer the next mode, which waits a moment for it", async () => {
    const rig = await Rig.met({ autopilot: 12 });
    answering(rig, ({ fields }) => (fields['_param3'] === 5 ? TEMPORARILY_REJECTED : ACCEPTED));
    rig.customMode = 0x0304_0000; // it shows it at once
    expect((await rig.command('mode', ['LOITER'])).status).to.equal('accepted');
    const began = rig.clock.now();
    const running = rig.calls.command({ cmd: 'rtl', args: [] });
    rig.say(commandAck(SET_MODE, ACCEPTED)); // of the LOITER
    await rig.clock.advance(700); // 400 ms of it for the vehicle's own words
    expect((await running).ack).to.include({ result_name: 'TEMPORARILY_REJECTED', accepted: false });
    expect(rig.clock.now() - began).to.be.at.most(700);
    expect(rig.commands(SET_MODE).map(({ fields }) => fields['_param3'])).to.deep.equal([3, 5]);
    await rig.link.stop();
  });

  it('of a repetition that comes after the answer is not taken for the next command', async () => {
    const rig = await Rig.met();
    rig.onSent = () => undefined;
    rig.customMode = 5; // it shows it at once
    rig.beat();
    const first = rig.calls.command({ cmd: 'mode', args: ['LOITER'] });
    await rig.clock.advance(1250); // sent twice
    rig.say(commandAck(SET_MODE, ACCEPTED)); // of the first
    expect((await first).status).to.equal('accepted');
    const second = rig.calls.command({ cmd: 'mode', args: ['ALT_HOLD'] });
    await settle();
    rig.say(commandAck(SET_MODE, ACCEPTED)); // of the repetition
    answering(rig, () => DENIED);
    await rig.live(3000);
    expect((await second).ack).to.include({ result_name: 'DENIED' });
    await rig.link.stop();
  });

  it('that came late answers the same request made again', async () => {
    const rig = await Rig.met();
    expect((await rig.command('arm', [], 500)).status).to.equal('no_ack');
    const again = rig.calls.command({ cmd: 'arm', args: [] });
    await settle();
    rig.say(commandAck(ARM, ACCEPTED));
    expect((await again).status).to.equal('accepted');
    await rig.link.stop();
  });

  it('that says TEMPORARILY_REJECTED is the answer, and nothing is sent again', async () => {
    const rig = await Rig.met();
    answering(rig, () => TEMPORARILY_REJECTED);
    const result = await rig.command('arm');
    expect(result.status).to.equal('rejected');
    expect(result.ack).to.include({ observed: true, result: 1, result_name: 'TEMPORARILY_REJECTED' });
    expect(rig.commands(ARM)).to.have.length(1);
    await rig.link.stop();
  });

  it('that says IN_PROGRESS and no more leaves its end to nobody else', async () => {
    const rig = await Rig.met();
    answering(rig, () => IN_PROGRESS);
    expect((await rig.command('mode', ['LOITER'])).ack.result_name).to.equal('IN_PROGRESS');
    rig.onSent = () => undefined;
    const next = rig.calls.command({ cmd: 'mode', args: ['ALT_HOLD'] });
    await settle();
    rig.say(commandAck(SET_MODE, ACCEPTED)); // of the LOITER, at last
    await rig.live(8000);
    expect((await next).status).to.equal('no_ack');
    await rig.link.stop();
  });

  it('of a take-off that was lost: it is not sent again once it climbs', async () => {
    const rig = await Rig.met({ customMode: 4 });
    rig.armed = true;
    rig.beat();
    rig.say(landed(1));
    const running = rig.calls.command({ cmd: 'takeoff', args: [10] });
    await rig.clock.advance(600);
    rig.say(landed(2));
    await rig.live(3000);
    expect((await running).status).to.equal('no_ack');
    expect(rig.commands(TAKEOFF)).to.have.length(1);
    await rig.link.stop();
  });

  it('that refuses the repetition of a take-off which climbs is no answer', async () => {
    const rig = await Rig.met({ customMode: 4 });
    rig.armed = true;
    rig.beat();
    rig.say(globalPosition(100, 48, 11)); // 12 m
    const running = rig.calls.command({ cmd: 'takeoff', args: [30] });
    await rig.clock.advance(1250);
    const higher = Object.assign(globalPosition(200, 48, 11), { relativeAlt: 14_000 });
    rig.say(higher);
    rig.say(commandAck(TAKEOFF, FAILED));
    expect((await running).ack).to.include({ observed: false, result: null });
    expect(rig.commands(TAKEOFF)).to.have.length(2);
    // In the air the refusal is one.
    rig.say(landed(2));
    answering(rig, () => FAILED);
    expect((await rig.command('takeoff', [30])).status).to.equal('rejected');
    await rig.link.stop();
  });

  it("of PX4's missionStart that was lost: the mission is not thrown back to its first item", async () => {
    const px4Mission = (4 << 16) | (4 << 24);
    const rig = await Rig.met({ autopilot: 12, customMode: px4Mission });
    rig.say(mission(3));
    const running = rig.calls.command({ cmd: 'missionStart', args: [] });
    await rig.clock.advance(2000); // so long it waits for the items, to see how far they go
    await rig.clock.advance(1250);
    expect(rig.commands(MISSION_START)).to.have.length(2); // still at the third: it was not heard
    rig.say(mission(1));
    await rig.live(3000);
    expect(rig.commands(MISSION_START)).to.have.length(2);
    expect((await running).status).to.equal('no_ack');
    await rig.link.stop();
  });

  it('a newer command ends the repetitions of an older one', async () => {
    const rig = await Rig.met();
    const goto = rig.calls.command({ cmd: 'goto', args: [48, 11, 20] });
    await rig.clock.advance(500);
    // One that makes no sense changes nothing.
    await rig.calls.command({ cmd: 'mode', args: ['NOWHERE'] }).catch(() => undefined);
    await rig.clock.advance(750);
    expect(rig.commands(REPOSITION)).to.have.length(2);
    answering(rig, ({ fields }) => (fields['command'] === SET_MODE ? ACCEPTED : null));
    expect((await rig.command('stop')).status).to.equal('accepted');
    await rig.live(4000);
    expect((await goto).status).to.equal('no_ack');
    expect(rig.commands(REPOSITION)).to.have.length(2);
    // Arming is another matter; disarming ends both.
    rig.onSent = () => undefined;
    const arm = rig.calls.command({ cmd: 'arm', args: [] });
    const land = rig.calls.command({ cmd: 'land', args: [] });
    await rig.clock.advance(1250);
    expect(rig.commands(ARM)).to.have.length(2);
    const disarm = rig.calls.command({ cmd: 'disarm', args: [] });
    expect((await arm).status).to.equal('no_ack');
    expect((await land).status).to.equal('no_ack');
    answering(rig, () => ACCEPTED);
    await rig.live(3000);
    expect((await disarm).status).to.equal('accepted');
    expect(rig.commands(ARM).filter(({ fields }) => fields['_param1'] === 1)).to.have.length(2);
    await rig.link.stop();
  });
});
