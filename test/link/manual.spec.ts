import { expect } from 'chai';
import type { Sticks } from '../../shared/rpc/link-state.ts';
import { Rig, type RigOptions, type Sent } from './rig.ts';

const MANUAL_CONTROL = 69;
const REST: Sticks = { x: 0, y: 0, z: 500, r: 0 };
const LOITER: RigOptions = { type: 2, customMode: 5 };
const STABILIZE: RigOptions = { type: 2, customMode: 0 };

async function met(options: RigOptions = LOITER): Promise<Rig> {
  const rig = await Rig.met(options);
  rig.sent.length = 0;
  return rig;
}

const out = (rig: Rig): readonly Sent[] => rig.sent.filter(({ id }) => id === MANUAL_CONTROL);
const take = (rig: Rig, sticks: Partial<Sticks>, holder = 'a') =>
  rig.calls.manual({ holder, sticks: { type: 'manual', ...REST, ...sticks } });

async function refusalOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return (error as { readonly code?: unknown }).code;
  }
  return null;
}

describe('sticks', () => {
  it('go out as MANUAL_CONTROL of the ground station that the vehicle obeys, for this vehicle', async () => {
    const rig = await met();
    take(rig, {});
    await rig.live(20);
    take(rig, { x: 300.6, y: -1000, z: 1000, r: 12 });
    const [, sent] = out(rig);
    expect([sent?.system, sent?.component]).to.deep.equal([255, 190]);
    expect(sent?.fields).to.include({ target: 1, x: 301, y: -1000, z: 1000, r: 12, buttons: 0 });
    await rig.link.stop();
  });

  it('J13 are half a second of centred ones after the last, then nothing', async () => {
    const rig = await met();
    take(rig, {});
    await rig.live(50);
    take(rig, { x: 800 });
    rig.sent.length = 0;
    await rig.live(3000);
    const after = out(rig);
    expect(after.length).to.be.within(3, 5);
    for (const { fields } of after) expect(fields).to.include({ x: 0, y: 0, z: 500, r: 0 });
    expect(rig.calls.manual({ holder: 'b', sticks: { type: 'manual', ...REST } }).holder).to.equal('b');
    await rig.link.stop();
  });

  it('are let go at once when the client is gone', async () => {
    const rig = await met();
    take(rig, {});
    await rig.live(20);
    take(rig, { y: 900 });
    rig.sent.length = 0;
    rig.calls.manual_end({ holder: 'a' });
    expect(out(rig).map(({ fields }) => fields['y'])).to.deep.equal([0]);
    rig.calls.manual_end({ holder: 'somebody' });
    await rig.live(3000);
    expect(out(rig).length).to.be.within(3, 5);
    expect(rig.state().manual.holder).to.equal(null);
    await rig.link.stop();
  });

  it('keep the thrust where the throttle stick is the thrust: in the middle it would leap from the ground', async () => {
    const rig = await met(STABILIZE);
    take(rig, { z: 0 });
    rig.sent.length = 0;
    await rig.live(1000);
    expect(new Set(out(rig).map(({ fields }) => fields['z']))).to.deep.equal(new Set([0]));
    await rig.link.stop();
  });

  it('have the middle of a rover at its middle, which stands still', async () => {
    const rig = await met({ type: 10, customMode: 0 });
    take(rig, {});
    await rig.live(20);
    take(rig, { z: 750 });
    expect(out(rig).map(({ fields }) => fields['z'])).to.deep.equal([0, 500]);
    await rig.link.stop();
  });

  it('are not even let go while a killSwitch is under way', async () => {
    const rig = await met(STABILIZE);
    take(rig, { z: 0 });
    await rig.live(20);
    take(rig, { z: 900 });
    rig.sent.length = 0;
    const killing = rig.calls.command({ cmd: 'killSwitch', args: ['KILL'] });
    killing.catch(() => undefined); // this vehicle does not answer
    expect(await refusalOf(() => take(rig, {}))).to.equal('E_BUSY');
    await rig.clock.advance(450);
    expect(rig.commands(400).length, 'it is under way').to.be.above(0);
    expect(out(rig)).to.deep.equal([]);
    await rig.link.stop();
  });

  for (const [what, sticks] of [
    ['forward', { x: 101 }],
    ['to the left', { y: -500 }],
    ['turned', { r: 1000 }],
    ['thrust', { z: 800 }],
  ] as const)
    it(`whoever takes over with a stick ${what} is refused until it rests`, async () => {
      const rig = await met();
      expect(await refusalOf(() => take(rig, sticks))).to.equal('E_INVALID_VALUE');
      expect([out(rig).length, rig.state().manual.holder]).to.deep.equal([0, null]);
      take(rig, { x: 100, y: -100, z: 550 });
      await rig.live(20);
      take(rig, sticks);
      expect(out(rig)).to.have.length(2);
      await rig.link.stop();
    });

  it('are of one client: another waits until the first is silent', async () => {
    const rig = await met();
    take(rig, {});
    expect(await refusalOf(() => take(rig, {}, 'b'))).to.equal('E_BUSY');
    await rig.live(400);
    expect(await refusalOf(() => take(rig, {}, 'b'))).to.equal('E_BUSY');
    await rig.live(300);
    expect(take(rig, {}, 'b')).to.include({ holder: 'b' });
    await rig.link.stop();
  });

  it('more than 50 a second are left out and counted; buttons are ArduSub’s alone', async () => {
    const rig = await met();
    for (let count = 0; count < 100; count++) {
      take(rig, {});
      await rig.live(10);
    }
    expect(rig.state().manual).to.include({ sent: 50, dropped: 50 });
    expect(await refusalOf(() => take(rig, { buttons: 1 }))).to.equal('E_INVALID_VALUE');
    await rig.link.stop();
    const sub = await met({ type: 12, customMode: 19 });
    take(sub, { buttons: 5 });
    expect(out(sub)[0]?.fields).to.include({ buttons: 5 });
    await sub.link.stop();
  });

  it('go nowhere without a vehicle, and do not come back by themselves when it does', async () => {
    const rig = await met();
    take(rig, {});
    rig.sent.length = 0;
    await rig.clock.advance(4000);
    rig.transport.drop();
    expect(await refusalOf(() => take(rig, {}))).to.equal('E_NO_FC');
    rig.transport.connect();
    await rig.live(2000);
    expect(out(rig).filter(({ at }) => at > rig.clock.now() - 2000)).to.have.length(0);
    await rig.link.stop();
  });
});
