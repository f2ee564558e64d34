import { expect } from 'chai';
import { common, type MavLinkData } from 'node-mavlink';
import { FrameStream } from '../../front/link/router/frame-stream.ts';
import { commandAck, encodeAs, heartbeat } from './mavlink-samples.ts';
import { Rig } from './rig.ts';

const ARM = 400;
const FAILED = 4;
const ACCEPTED = 0;

/** Another program on this computer that is 1/191 too, at an endpoint. */
function twin({ link, clock }: Rig): (message: MavLinkData) => void {
  const policy = { mayWrite: true, force: false, serialControl: false };
  const port = link.parts.router.attach('twin', { queuedBytes: 0, send: () => undefined }, policy);
  const stream = new FrameStream(clock, (frame) => port.receive(frame));
  let seq = 100;
  return (message) => stream.push(encodeAs(message, 'v2', seq++ & 0xff, 1, 191));
}

const armCommand = (): MavLinkData => {
  const rest = { _param2: 0, _param3: 0, _param4: 0, _param5: 0, _param6: 0, _param7: 0, confirmation: 0 };
  return Object.assign(new common.CommandLong(), {
    targetSystem: 1,
    targetComponent: 1,
    command: ARM,
    _param1: 1,
    ...rest,
  });
};

describe('another program with the ids of this node', () => {
  it('is told as a problem while it is there', async () => {
    const rig = await Rig.met();
    const says = twin(rig);
    const codes = (): string[] => rig.state().problems.map(({ code }) => code);
    says(heartbeat({ type: 18, autopilot: 8 }));
    expect(codes(), 'one frame may be an echo').to.deep.equal([]);
    for (let beat = 0; beat < 3; beat++) {
      await rig.live(1000);
      says(heartbeat({ type: 18, autopilot: 8 }));
    }
    expect(codes()).to.deep.equal(['same_id']);
    await rig.live(31_000);
    rig.attitude(60_000);
    expect(codes()).to.deep.equal([]);
    await rig.link.stop();
  });

  it('gets answers that do not count as answers to ours', async () => {
    const rig = await Rig.met();
    const says = twin(rig);
    says(armCommand());
    const running = rig.calls.command({ cmd: 'arm', args: [] });
    await rig.clock.advance(50);
    rig.say(commandAck(ARM, FAILED, 1, 191)); // for the twin
    await rig.clock.advance(50);
    rig.say(commandAck(ARM, ACCEPTED, 1, 191));
    rig.armed = true;
    await rig.live(2000);
    expect((await running).status).to.equal('accepted');
    await rig.link.stop();
  });
});
