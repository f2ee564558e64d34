import { LinkProcess } from '../link/link-process.ts';
import { SimProcess } from '../sim/sim-process.ts';
import type { Result } from './result.ts';

const ITEMS = 700;
const LOSSES = [0, 0.2] as const;

const SURVEY = Array.from({ length: ITEMS }, (_, seq) => ({
  seq,
  frame: 3,
  command: 16,
  param1: 0,
  param2: 0,
  param3: 0,
  param4: 0,
  x: -35.3 - seq / 1e5,
  y: 149.1 + seq / 1e5,
  z: 40,
  autocontinue: 1,
}));

/** A survey sent to the vehicle and read back, and read again, by both firmwares, with and without loss both ways. */
export async function benchMissions(): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const firmware of ['ardupilot', 'px4']) {
    for (const loss of LOSSES) {
      await using sim = await SimProcess.start('--firmware', firmware, '--seed', '7');
      const link = await LinkProcess.start(`tcp:127.0.0.1:${sim.port}`);
      await link.until(({ firmware_version: version, params }) => version !== null && !params.priming);
      await sim.fault({ dropFrames: loss });
      const name = `${ITEMS} items, ${firmware}, ${loss * 100} % loss`;
      const started = performance.now();
      await link.calls.mission_write({ part: 'mission', items: SURVEY, token: '' });
      const written = performance.now();
      await link.calls.mission_read({ part: 'mission', refresh: true, token: '' });
      const read = performance.now();
      results.push(
        { name: `${name}: written and read back`, value: (written - started) / 1000, unit: 's' },
        { name: `${name}: read`, value: (read - written) / 1000, unit: 's' },
      );
      await link.stop();
    }
  }
  return results;
}
