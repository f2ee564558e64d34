import { setTimeout as wait } from 'node:timers/promises';
import { loadConfig } from '../../shared/config/load.ts';
import { pathsFrom } from '../../shared/paths.ts';
import { callNode } from '../local-client.ts';
import { directoriesOf, type End, nameOf } from './layout.ts';

const POLL_MS = 100;
const VEHICLE_WAIT_MS = 15_000;

interface NodeStatus {
  readonly version: string;
  readonly fc_connected: boolean;
}

/** Waits until the drone's vehicle is seen on the ground, then says what there is to look at. */
export async function printPair(signal: AbortSignal): Promise<void> {
  const until = performance.now() + VEHICLE_WAIT_MS;
  let ground = await status('ground', signal);
  while (!ground.fc_connected && performance.now() < until) {
    await wait(POLL_MS, undefined, { signal });
    ground = await status('ground', signal);
  }
  const drone = await status('drone', signal);
  const { device_id: id } = await ask<{ readonly device_id: string }>('drone', '/api/pairing/info', signal);
  const lines = [
    '',
    `  svc ${drone.version}: a drone and its ground station, with a simulated radio between them`,
    '',
    `  drone           http://localhost:${await portOf('drone')}   simulated vehicle, test camera`,
    `  ground station  http://localhost:${await portOf('ground')}   what the radio brings: ${
      ground.fc_connected ? 'the picture and the vehicle' : 'the vehicle is not there yet'
    }`,
    '',
    '  radio           /api/wfb on either of them',
    `  relay           /api/v1/ground-station/relay-proxy/${id}/api/status`,
    '                  on the ground station, with its key, once both have theirs:',
    `                  npx svc --demo ${nameOf('drone')} pair; npx svc --demo ${nameOf('ground')} pair`,
    '',
    '  Loss on the radio: type a number from 0 to 100 and Enter, or npm run radio-loss -- 30',
    '  Ctrl-C stops everything.',
    '',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

async function ask<T>(end: End, path: string, signal: AbortSignal): Promise<T> {
  const { controlSocket: socketPath } = pathsFrom(directoriesOf(end));
  return (await callNode({ socketPath }, 'GET', path, undefined, signal)) as T;
}

async function status(end: End, signal: AbortSignal): Promise<NodeStatus> {
  return ask<NodeStatus>(end, '/api/status', signal);
}

async function portOf(end: End): Promise<number> {
  return (await loadConfig(pathsFrom(directoriesOf(end)))).config.api.port;
}
