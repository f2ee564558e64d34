import { expect } from 'chai';
import type { CommandResult } from '../../shared/rpc/link-answers.ts';
import { refusal } from '../support/refusal.ts';
import { attitude, commandAck } from './mavlink-samples.ts';
import { Rig } from './rig.ts';

const REBOOT = 246;

async function met(): Promise<Rig> {
  const rig = new Rig();
  await rig.meet();
  rig.say(attitude(100_000));
  await rig.live(500);
  return rig;
}

/** The answer to a reboot during which the vehicle says nothing by itself. */
async function reboot(rig: Rig): Promise<CommandResult> {
  let over = false;
  const running = rig.calls.command({ cmd: 'rebootAutopilot', args: [] }).finally(() => {
    over = true;
  });
  const isOver = (): boolean => over;
  for (let waited = 0; waited < 80_000 && !isOver(); waited += 50) await rig.clock.advance(50);
  return running;
}

const reboots = (rig: Rig): number =>
  rig.sent.filter(({ id, fields }) => id === 76 && fields['command'] === REBOOT).length;

describe('rebooting the flight controller', () => {
  it('ends when its boot time has begun anew, and says after how long', async () => {
    const rig = await met();
    rig.onSent = ({ id, fields }) => {
      if (id !== 76 || fields['command'] !== REBOOT) return;
      expect(fields['_param1']).to.equal(1);
      rig.say(commandAck(REBOOT, 0));
      rig.clock.after(5000, () => {
        rig.beat();
        rig.say(attitude(300));
      });
    };
    const answer = await reboot(rig);
    expect(answer).to.deep.include({ status: 'accepted' });
    expect(answer.back_after_s).to.be.within(5, 5.3);
    expect(reboots(rig)).to.equal(1);
    await rig.link.stop();
  });

  it('one whose answer was lost is not sent again to a vehicle that is silent, and counts once it is back', async () => {
    const rig = await met();
    rig.onSent = ({ id, fields }) => {
      if (id !== 76 || fields['command'] !== REBOOT) return;
      rig.clock.after(4000, () => {
        rig.beat();
        rig.say(attitude(300));
      });
    };
    const answer = await reboot(rig);
    expect(answer.status).to.equal('accepted');
    expect(answer.back_after_s).to.be.within(4, 4.3);
    expect(reboots(rig)).to.equal(1);
    await rig.link.stop();
  });

  it('one whose answer was lost is sent again to a vehicle that goes on speaking', async () => {
    const rig = await met();
    const running = rig.calls.command({ cmd: 'rebootAutopilot', args: [] });
    await rig.live(70_000);
    expect((await running).status).to.equal('no_ack');
    expect(reboots(rig)).to.equal(3);
    await rig.link.stop();
  });

  it('says so when it does not come back within 60 s, and the refusal of one that does not reboot', async () => {
    const rig = await met();
    rig.onSent = ({ id, fields }) => {
      if (id === 76 && fields['command'] === REBOOT) rig.say(commandAck(REBOOT, 0));
    };
    const lost = await reboot(rig);
    expect(lost).to.deep.include({ status: 'accepted', back_after_s: null });
    rig.beat();
    rig.onSent = ({ id, fields }) => {
      if (id === 76 && fields['command'] === REBOOT) rig.say(commandAck(REBOOT, 4));
    };
    await rig.live(500);
    const began = rig.clock.now();
    const refused = await reboot(rig);
    expect(rig.clock.now() - began, 'it is not waited for').to.be.at.most(1000);
    expect(refused).to.include({ status: 'rejected' }).and.not.have.property('back_after_s');
    expect(refused.ack.result_name).to.equal('FAILED');
    // It is not awaited any more: one message that looks like a new life is none.
    const { vehicle } = rig.link.parts;
    const { boots } = vehicle;
    await rig.live(3000);
    rig.say(attitude(300));
    expect(vehicle.boots).to.equal(boots);
    await rig.link.stop();
  });

  it('is not sent while the vehicle is armed, or may be', async () => {
    const rig = await met();
    rig.armed = true;
    rig.beat();
    const { code, extras, message } = await refusal(rig.calls.command({ cmd: 'rebootAutopilot', args: [] }));
    expect(message).to.match(/nothing overrides/);
    expect([code, extras['action'], reboots(rig)]).to.deep.equal([
      'E_ARMED',
      'reboot the flight controller',
      0,
    ]);
    await rig.link.stop();
  });
});
