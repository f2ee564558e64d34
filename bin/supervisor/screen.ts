import { relative } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { messageOf } from '../../shared/errors.ts';
import type { Paths } from '../../shared/paths.ts';
import type { Answer } from '../../shared/routes/typed-row.ts';
import { callNode } from '../client/local-client.ts';
import type { Supervisor } from './supervisor.ts';

const POLL_MS = 50;
const VEHICLE_WAIT_MS = 5000;

type NodeStatus = Answer<'status.get'>;

/**
 * Waits for the node and its vehicle, then prints the screen for a new user.
 * @param name of the demo node, for `svc --demo`; null for that of `npm start`
 */
export async function printScreen(
  supervisor: Supervisor,
  paths: Paths,
  name: string | null,
  signal: AbortSignal,
): Promise<void> {
  const svc = name === null ? 'npx svc' : `npx svc --demo ${name}`;
  try {
    while (!supervisor.allRunning) await wait(POLL_MS, undefined, { signal });
    const status = await vehicleStatus(paths, signal);
    const info = await callNode({ socketPath: paths.controlSocket }, 'GET /api/pairing/info');
    const port = supervisor.child('svc-control')?.info['port'];
    const lines = [
      '',
      `  svc ${status.version}   http://localhost:${String(port)}`,
      '',
      `  profile            ${status.profile}`,
      `  flight controller  ${vehicle(status)}`,
      ...(status.link_problems ?? []).map(({ detail }) => `  PROBLEM            ${detail}`),
      ...(await pairing(paths, svc, info.paired)),
      ...(status.config?.problem == null
        ? []
        : [`  config             BROKEN, running on the last good copy: ${status.config.problem}`]),
      `  log                ${relative(process.cwd(), paths.logDir)}/svc.log`,
      '',
      '  Ctrl-C stops everything.',
      '',
    ];
    process.stdout.write(`${lines.join('\n')}\n`);
  } catch (error) {
    if (!signal.aborted) process.stderr.write(`svc: ${messageOf(error)}\n`);
  }
}

async function vehicleStatus(paths: Paths, signal: AbortSignal): Promise<NodeStatus> {
  const until = performance.now() + VEHICLE_WAIT_MS;
  for (;;) {
    const status = await callNode({ socketPath: paths.controlSocket }, 'GET /api/status');
    if ((status.fc_connected && status.fc_simulated) || performance.now() > until) return status;
    await wait(POLL_MS, undefined, { signal });
  }
}

function vehicle(status: NodeStatus): string {
  if (!status.fc_connected) return 'not connected';
  const kind = status.fc_simulated ? 'SIMULATED' : 'real';
  const armed = status.armed === false ? 'disarmed' : status.armed === true ? 'ARMED' : 'armed state unknown';
  return `connected, ${kind}, ${status.fc_firmware ?? 'unknown firmware'}, ${armed} (${status.fc_port ?? ''})`;
}

async function pairing(paths: Paths, svc: string, paired: boolean): Promise<readonly string[]> {
  if (paired) return [`  pairing            paired; forget it with: ${svc} unpair`];
  const { code } = await callNode({ socketPath: paths.controlSocket }, 'GET /api/pairing/code');
  return [`  pairing code       ${code}   pair with: ${svc} pair`];
}
