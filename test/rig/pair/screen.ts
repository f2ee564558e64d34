import { setTimeout as wait } from 'node:timers/promises';
import { callNode } from '../../../bin/client/local-client.ts';
import { loadConfig } from '../../../shared/config/load.ts';
import { pathsFrom } from '../../../shared/paths.ts';
import type { Answer, Route } from '../../../shared/routes/typed-row.ts';
import { directoriesOf, type End, nameOf } from './layout.ts';

const POLL_MS = 100;
const VEHICLE_WAIT_MS = 15_000;

/** Waits until the drone's vehicle is seen on the ground, then says what there is to look at. */
export async function printPair(signal: AbortSignal): Promise<void> {
  const until = performance.now() + VEHICLE_WAIT_MS;
  let ground = await ask('ground', 'GET /api/status', signal);
  while (!ground.fc_connected && performance.now() < until) {
    await wait(POLL_MS, undefined, { signal });
    ground = await ask('ground', 'GET /api/status', signal);
  }
  const drone = await ask('drone', 'GET /api/status', signal);
  const { device_id: id } = await ask('drone', 'GET /api/pairing/info', signal);
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

async function ask<R extends Route>(end: End, route: R, signal: AbortSignal): Promise<Answer<R>> {
  const { controlSocket: socketPath } = pathsFrom(directoriesOf(end));
  return callNode({ socketPath }, route, { signal });
}

async function portOf(end: End): Promise<number> {
  return (await loadConfig(pathsFrom(directoriesOf(end)))).config.api.port;
}
