import { lstat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Paths } from '../../shared/paths.ts';
import { probeSocket, type SocketState } from '../../shared/rpc/probe.ts';
import { type Check, fail, guarded, ok, skip, warn } from './check.ts';

const CONNECT_MS = 2000;

type State = SocketState | 'open to everybody';

/** Whether somebody listens on each of the node's Unix sockets. Their file mode is the credential. */
export async function checkSockets(paths: Paths): Promise<readonly Check[]> {
  const needed = [
    paths.supervisorSocket,
    paths.controlSocket,
    paths.residualSocket,
    paths.linkSocket,
    paths.mavlinkSocket,
    paths.logSocket,
  ];
  // svc-video runs only if there is a source, svc-helper only if it was installed or the node is root; fleet.sock belongs to a
  // feature.
  const optional = [paths.helperSocket, paths.videoSocket, paths.fleetSocket];
  const states = new Map<string, State>();
  const failed: Check[] = [];
  for (const path of [...needed, ...optional]) {
    const check = await guarded(`socket ${basename(path)}`, async () => {
      states.set(path, await stateOf(path));
      return ok('', '');
    });
    if (check.result !== 'ok') failed.push(check);
  }
  // Not svc-helper's: systemd listens there whether the node runs or not.
  const runs = needed.some((path) => states.get(path) === 'live');
  const judged = [...states]
    .filter(([path, state]) => needed.includes(path) || state !== 'absent')
    .map(([path, state]) => judge(`socket ${basename(path)}`, path, state, runs));
  return [...failed, ...judged];
}

function judge(name: string, path: string, state: State, runs: boolean): Check {
  if (state === 'live') return ok(name, 'A process listens.');
  if (state === 'closed') return skip(name, 'You have no permission. Use sudo, or join the group svc.');
  if (state === 'other') return fail(name, `${path} is not a socket.`, `Run: sudo rm ${path}`);
  if (state === 'open to everybody')
    return fail(name, `${path} is open to everybody on this machine.`, `Run: sudo chmod 660 ${path}`);
  if (!runs)
    return state === 'dead'
      ? skip(name, 'Left over from an earlier run; the next start replaces it.')
      : skip(name, 'Not there: the node does not run.');
  return state === 'silent'
    ? warn(name, 'It does not take connections in time.', 'See svc top; restart its process.')
    : fail(name, state === 'dead' ? 'No process listens.' : 'It does not exist.', 'See svc services list.');
}

async function stateOf(path: string): Promise<State> {
  const state = await probeSocket(path, CONNECT_MS);
  if (state === 'absent' || state === 'other') return state;
  if (((await lstat(path)).mode & 0o007) !== 0) return 'open to everybody';
  return state;
}
