import { expect } from 'chai';
import { landingHint } from '../../front/link/commands/landing-hint.ts';
import type { MissionItem } from '../../shared/schemas/mission-item.ts';
import { SimProcess } from '../sim/sim-process.ts';
import { FakeClock } from './fake-clock.ts';
import { LinkProcess } from './link-process.ts';

const PARAMS = { param1: 0, param2: 0, param3: 0, param4: 0, autocontinue: 1 };

function item(seq: number, command: number, z: number): MissionItem {
  return { ...PARAMS, seq, command, frame: 3, x: -35.362 - seq / 1000, y: 149.165, z };
}

describe('land on a plane of ArduPilot without a landing sequence', () => {
  it('says that the mission has none, and what helps; with one it goes there', async () => {
    await using sim = await SimProcess.start('--vehicle', 'plane', '--no-mission', '--speedup', '10');
    const link = await LinkProcess.start(`tcp:127.0.0.1:${sim.port}`);
    try {
      await link.until(({ mavlink_alive: alive, firmware_version: version }) => alive && version !== null);
      await link.until(({ telemetry }) => telemetry.position.lat !== null);
      const refused = await link.command('land');
      expect(refused).to.include({ status: 'rejected' });
      expect(refused.ack).to.deep.include({
        result_name: 'FAILED',
        statustext: 'Unable to start landing sequence',
        reasons: ['Unable to start landing sequence'],
      });
      expect(refused.ack.hint).to.match(/^This plane has no landing sequence in its mission\. Use rtl, or/);

      const items = [item(1, 22, 30), item(2, 189, 30), item(3, 16, 20), item(4, 21, 0)];
      await link.calls.mission_write({ part: 'mission', items, token: '' });
      const accepted = await link.command('land');
      expect(accepted).to.include({ status: 'accepted' });
      expect(accepted.ack).not.to.have.property('hint');
      await link.until(({ telemetry }) => telemetry.mode === 'AUTO' && telemetry.mission.current === 2);
    } finally {
      await link.stop();
    }
  });

  it('says it also where the plane says nothing, because it does not know where it is', async () => {
    await using sim = await SimProcess.start('--vehicle', 'plane', '--no-mission', '--settle', '600000');
    const link = await LinkProcess.start(`tcp:127.0.0.1:${sim.port}`);
    try {
      await link.until(({ mavlink_alive: alive, firmware_version: version }) => alive && version !== null);
      const { ack } = await link.command('land');
      expect(ack).to.include({ result_name: 'FAILED' });
      expect(String(ack.statustext)).not.to.include('landing sequence'); // it may be saying something else just then
      expect(ack.hint).to.match(/^This plane has no landing sequence in its mission\./);
    } finally {
      await link.stop();
    }
  });

  it('a mission that cannot be read, or not in time, leaves a general sentence', async () => {
    const clock = new FakeClock();
    const unread = await landingHint(clock, Promise.reject(new Error('silent')));
    expect(unread).to.match(
      /^A plane lands by the landing sequence of its mission, and this one has started none\./,
    );
    const late = landingHint(clock, new Promise(() => undefined));
    await clock.advance(3000);
    expect(await late).to.equal(unread);
    expect(clock.pending).to.equal(0);
    const there = await landingHint(clock, Promise.resolve([item(0, 189, 0)]));
    expect(there).to.include('did not start the landing sequence of its mission');
  });
});
