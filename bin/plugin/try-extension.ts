import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Topics } from '../../residual/app/plugins/ipc/topics.ts';
import type { Manifest } from '../../shared/plugins/manifest.ts';
import { AuthorHost } from './author-host.ts';
import { RunningExtension } from './run-extension.ts';
import { standingVehicle } from './standing-vehicle.ts';

/** A vehicle that stands on the ground, for extensions that are only tried. */
const TELEMETRY = {
  mavlink_alive: true,
  heartbeat_age_s: 0.1,
  armed: false,
  mode: 'STABILIZE',
  position: { lat: 47.3977, lon: 8.5456, alt_msl: 488, alt_rel: 0, heading: 90 },
  velocity: { vx: 0, vy: 0, vz: 0, groundspeed: 0, airspeed: 0, climb: 0 },
  attitude: { roll: 0, pitch: 0, yaw: 1.57 },
  battery: { voltage: 12.4, current: 0.5, remaining: 98, temperature: null, cell_voltages: [] },
  gps: { fix_type: 3, satellites: 14, eph: 0.9, epv: 1.2 },
} as const;

const TESTS_MS = 120_000;
const TOOL_MS = 5000;

export interface Step {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

/**
 * Starts the agent half against a host without a vehicle: it must say hello within 10 s, know its tools, and end within 5 s of
 * SIGTERM.
 */
export async function tryExtension(folder: string, manifest: Manifest): Promise<Step[]> {
  const base = await mkdtemp(join(tmpdir(), 'svc-try-'));
  const places = {
    folder,
    sockets: join(base, 'sockets'),
    dataDir: join(base, 'data'),
  };
  const output: string[] = [];
  const note = (line: string): void => {
    output.push(line);
    if (output.length > 100) output.shift();
  };
  await mkdir(places.dataDir);
  const host = new AuthorHost({
    manifest,
    folder: places.sockets,
    config: new Map(),
    topics: new Topics(),
    vehicle: standingVehicle(TELEMETRY),
    mavlinkSocket: null,
    nodeCalls: null,
    onEvent: note,
  });
  const steps: Step[] = [];
  try {
    await host.start();
    const extension = await RunningExtension.start(manifest, places, note);
    const hello = await Promise.race([
      host.greeted().then(
        () => null,
        (error: unknown) => String(error),
      ),
      extension.ended(),
    ]);
    steps.push({ name: 'it says hello', ok: hello === null, detail: hello ?? '' });
    if (hello === null) {
      for (const { name } of manifest.agent?.contributes.tools ?? []) {
        const refusal = await host.invoke(name, {}, TOOL_MS).then(
          () => '',
          (error: unknown) => String(error),
        );
        // Without arguments a tool may well refuse; it must only be there, and answer.
        const ok = !/tool_not_found|tool_timeout|plugin_disconnected/.test(refusal);
        steps.push({ name: `the tool ${name} answers`, ok, detail: refusal });
      }
    }
    const stopped = await extension.stop();
    steps.push({
      name: 'it ends within 5 s of SIGTERM',
      ok: stopped,
      detail: stopped ? '' : 'it had to be killed',
    });
    if (steps.some(({ ok }) => !ok))
      steps.push({ name: 'its last lines', ok: false, detail: output.slice(-20).join('\n') });
    return steps;
  } finally {
    await host.stop();
    await rm(base, { recursive: true, force: true });
  }
}

/** The author's own tests: node --test for the runtime node and everything else, unittest for Python. Null where there are none. */
export async function runOwnTests(
  folder: string,
  manifest: Manifest,
  testsDir: string,
  only: string | undefined,
): Promise<Step | null> {
  if (!existsSync(join(folder, testsDir))) return null;
  const isPython = manifest.agent?.runtime === 'python';
  const program = isPython ? 'python3' : process.execPath;
  const args = isPython
    ? ['-m', 'unittest', 'discover', '-s', testsDir, ...(only === undefined ? [] : ['-k', only])]
    : [
        '--test',
        ...(only === undefined ? [] : [`--test-name-pattern=${only}`]),
        `${testsDir}/**/*.{test,spec}.{js,mjs}`,
      ];
  // Its output is for the author; with --json, what the command prints must be JSON alone.
  const child = spawn(program, args, {
    cwd: folder,
    stdio: ['ignore', 2, 2],
    timeout: TESTS_MS,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', NODE_OPTIONS: '' },
  });
  const [code]: readonly unknown[] = await once(child, 'close');
  return {
    name: `its own tests in ${testsDir}`,
    ok: code === 0,
    detail:
      code === 0 ? '' : `ended with code ${typeof code === 'number' ? code : 'none: they were stopped'}`,
  };
}
