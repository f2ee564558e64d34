/**
 * `npm run start:pair`: a drone and its ground station on this machine, with a simulated radio between them. Each is a whole
 * node with a supervisor of its own; this program prepares and starts them, says what to look at, and ends both.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { callNode } from '../../../bin/client/local-client.ts';
import { CODE_ROOT, demoFolder } from '../../../bin/places.ts';
import { checkOwner } from '../../../bin/supervisor/demo.ts';
import { onStopSignals } from '../../../bin/supervisor/stop-signals.ts';
import { messageOf } from '../../../shared/errors.ts';
import { pathsFrom } from '../../../shared/paths.ts';
import { RadioEnd } from '../radio-sim/radio-end.ts';
import { directoriesOf, ENDS, type End, LOSS_FILE, nameOf, type Ports, portsFrom } from './layout.ts';
import { printPair } from './screen.ts';
import { seedPair } from './seed.ts';
import { setLoss } from './set-loss.ts';

const POLL_MS = 100;

async function run(): Promise<void> {
  const ports = portsFrom(process.env['SVC_PAIR_PORT']);
  await checkOwner(demoFolder(null), process.getuid?.() ?? 0);
  if (await serves('drone')) throw new Error('a pair is running in this checkout already. Stop that one.');
  await mkdir(demoFolder('pair'), { recursive: true });
  await seedPair(ports, new Date());
  const asked = new AbortController();
  const nodes = ENDS.map((end) => startNode(end));
  const radios = ENDS.map((end) => new RadioEnd(directoriesOf(end), radioOf(end, ports)));
  const stop = (): void => {
    asked.abort();
    for (const node of nodes) node.kill('SIGTERM'); // a second one ends it at once
  };
  onStopSignals(stop);
  const ends = nodes.map(async (node) => {
    await once(node, 'exit');
    if (asked.signal.aborted) return;
    process.exitCode = 1; // it has said why
    stop();
  });
  await Promise.all([...ends, show(asked.signal)]);
  await Promise.all(radios.map(async (radio) => radio.stop()));
}

/** In a process group of its own: Ctrl-C is for this program, which asks each node once. */
function startNode(end: End): ChildProcess {
  return spawn(
    process.execPath,
    [join(CODE_ROOT, 'bin/supervisor/main.ts'), '--demo', '--name', nameOf(end)],
    { stdio: ['ignore', 'ignore', 'inherit'], detached: true },
  );
}

/** What the end of the radio beside that node is told: radio-sim/options.ts. */
function radioOf(end: End, ports: Ports): object {
  const { air, mavlink, video } = ports[end];
  return { air, peer: ports[end === 'drone' ? 'ground' : 'drone'].air, mavlink, video, loss_file: LOSS_FILE };
}

async function show(signal: AbortSignal): Promise<void> {
  try {
    for (const end of ENDS) await untilItServes(end, signal);
    await printPair(signal);
  } catch (error) {
    if (!signal.aborted) process.stderr.write(`svc: ${messageOf(error)}\n`);
    return;
  }
  const input = createInterface({ input: process.stdin });
  signal.addEventListener('abort', () => input.close(), { once: true });
  input.on('line', (line) => {
    setLoss(line).then(
      (words) => process.stdout.write(`  ${words}\n`),
      (error: unknown) => process.stdout.write(`  ${messageOf(error)}\n`),
    );
  });
}

async function untilItServes(end: End, signal: AbortSignal): Promise<void> {
  while (!(await serves(end, signal))) await wait(POLL_MS, undefined, { signal });
}

async function serves(end: End, signal?: AbortSignal): Promise<boolean> {
  const { controlSocket: socketPath } = pathsFrom(directoriesOf(end));
  return callNode({ socketPath }, 'GET /api/ping', { signal }).then(
    () => true,
    () => false, // nobody is there
  );
}

try {
  await run();
} catch (error) {
  process.stderr.write(`svc cannot start the pair: ${messageOf(error)}\n`);
  process.exitCode = 1;
}
process.exit();
