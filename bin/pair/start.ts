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
import { messageOf } from '../../shared/errors.ts';
import { pathsFrom } from '../../shared/paths.ts';
import { callNode } from '../client/local-client.ts';
import { CODE_ROOT, demoFolder, EXTENSION } from '../places.ts';
import { checkOwner } from '../supervisor/demo.ts';
import { onStopSignals } from '../supervisor/stop-signals.ts';
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
  const nodes = ENDS.map((end) => startNode(end, ports));
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
}

/** In a process group of its own: Ctrl-C is for this program, which asks each node once. */
function startNode(end: End, ports: Ports): ChildProcess {
  const other = end === 'drone' ? 'ground' : 'drone';
  const { air, mavlink, video } = ports[end];
  const radio = { air, peer: ports[other].air, mavlink, video, loss_file: LOSS_FILE };
  return spawn(
    process.execPath,
    [join(CODE_ROOT, `bin/supervisor/main${EXTENSION}`), '--demo', '--name', nameOf(end)],
    {
      env: { ...process.env, SVC_RADIO_SIM: JSON.stringify(radio) },
      stdio: ['ignore', 'ignore', 'inherit'],
      detached: true,
    },
  );
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
