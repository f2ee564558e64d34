import { expect } from 'chai';
import type { CommandName } from '../../shared/flight/command-catalogue.ts';
import { refusal } from '../support/refusal.ts';
import { attitude } from './mavlink-samples.ts';
import { Rig } from './rig.ts';

const NEUTRAL = { type: 'manual', x: 0, y: 0, z: 500, r: 0 } as const;
const MANUAL = 69;
const FORMER = { system: 5, component: 1, autopilot: 3, type: 2, armed: true } as const;

/** What takes energy out, with its arguments. */
const ENDS: readonly (readonly [CommandName, string[]])[] = [
  ['disarm', []],
  ['land', []],
  ['rtl', []],
  ['stop', []],
  ['killSwitch', ['KILL']],
];

/** Heartbeats stay away while everything else comes. */
async function withoutBeats(rig: Rig, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 100) {
    rig.say(attitude(rig.clock.now()));
    await rig.clock.advance(100);
  }
}

/** Commands that reached the vehicle since. */
const reached = (rig: Rig, since: number): unknown[] =>
  rig.sent
    .slice(since)
    .filter(({ id, fields }) => (id === 75 || id === 76) && ![511, 512].includes(Number(fields['command'])))
    .map(({ fields }) => [fields['targetSystem'], fields['command']]);

describe('a vehicle is there', () => {
  it('while anything of its autopilot comes; its armed state is known by heartbeats alone', async () => {
    const rig = await Rig.met();
    await withoutBeats(rig, 60_000);
    const state = rig.state();
    expect(state).to.include({ mavlink_alive: true, armed: 'unknown', guard: 'unknown' });
    expect(state.heartbeat_age_s).to.be.within(59, 61);
    expect(state.link_age_s).to.be.below(0.2);
    rig.say(attitude(1), 1, 191); // another component of its system
    await rig.clock.advance(3500);
    rig.say(attitude(1), 1, 191);
    expect(rig.state()).to.include({ mavlink_alive: false, guard: 'unknown' });
    await rig.link.stop();
  });

  it('and is commanded meanwhile', async () => {
    const rig = await Rig.met();
    await withoutBeats(rig, 4000);
    for (const [cmd, args] of ENDS) {
      const since = rig.sent.length;
      const running = rig.calls.command({ cmd, args, timeout_ms: 1000 });
      await withoutBeats(rig, 6000);
      const answer = await running;
      expect(reached(rig, since), cmd).to.not.deep.equal([]);
      expect(answer, cmd).to.not.have.property('silent_s');
    }
    await rig.link.stop();
  });

  it('what takes energy out is sent to one that is silent, and the answer says for how long', async () => {
    const rig = await Rig.met();
    await rig.clock.advance(20_000);
    for (const [cmd, args] of ENDS) {
      const since = rig.sent.length;
      const running = rig.calls.command({ cmd, args, timeout_ms: 1000 });
      await rig.clock.advance(6000);
      const { status, ack, silent_s: silent } = await running;
      expect(reached(rig, since)[0], cmd).to.include(1);
      expect(status).to.equal('no_ack');
      expect(silent).to.be.within(19, 60);
      expect(ack.hint).to.match(/Nothing was heard of the vehicle for \d+ s/);
    }
    rig.calls.manual({ holder: 'a', sticks: NEUTRAL });
    expect(rig.sent.at(-1)?.id).to.equal(MANUAL);
    await rig.link.stop();
  });

  it('everything else too while it was heard since the source was opened, and nothing where the source is closed', async () => {
    const rig = await Rig.met();
    await rig.clock.advance(20_000);
    const arming = rig.calls.command({ cmd: 'arm', args: [], timeout_ms: 1000 });
    await rig.clock.advance(3000);
    expect(await arming).to.include({ status: 'no_ack' });
    rig.transport.drop();
    for (const [cmd, args] of [...ENDS, ['arm', []] as const])
      expect((await refusal(rig.calls.command({ cmd, args: [...args] }))).code, cmd).to.equal('E_NO_FC');
    rig.transport.connect();
    expect((await refusal(rig.calls.command({ cmd: 'arm', args: [] }))).code).to.equal('E_NO_FC');
    const since = rig.sent.length;
    const landing = rig.calls.command({ cmd: 'land', args: [], timeout_ms: 1000 });
    await rig.clock.advance(3000);
    await landing;
    expect(reached(rig, since)).to.not.deep.equal([]);
    await rig.link.stop();
  });

  it('what takes energy out is sent to one that only the process before has heard; nobody that was ever known: E_NO_FC', async () => {
    const rig = new Rig({ chosen: { formerVehicle: FORMER } });
    rig.link.start();
    for (const [cmd, args] of ENDS) {
      const since = rig.sent.length;
      const running = rig.calls.command({ cmd, args, timeout_ms: 1000 });
      await rig.clock.advance(6000);
      const answer = await running;
      expect(answer, cmd).to.include({ silent_s: null });
      expect(answer.ack.hint).to.include('Nothing was heard of the vehicle since svc-link started');
      expect(reached(rig, since)[0], cmd).to.include(FORMER.system);
    }
    rig.calls.manual({ holder: 'a', sticks: NEUTRAL });
    expect(rig.sent.at(-1)).to.include({ id: MANUAL });
    expect((await refusal(rig.calls.command({ cmd: 'arm', args: [] }))).code).to.equal('E_NO_FC');
    const pushed = async (): Promise<unknown> =>
      rig.calls.manual({ holder: 'a', sticks: { ...NEUTRAL, x: 900 } });
    expect((await refusal(pushed())).code).to.equal('E_NO_FC');
    await rig.link.stop();
    const nobody = new Rig();
    nobody.link.start();
    for (const [cmd, args] of ENDS)
      expect((await refusal(nobody.calls.command({ cmd, args }))).code, cmd).to.equal('E_NO_FC');
    await nobody.link.stop();
  });
});
