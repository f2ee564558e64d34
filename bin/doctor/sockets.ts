import { lstat } from 'node:fs/promises';
import { connect } from 'node:net';
import { basename } from 'node:path';
import type { Paths } from '../../shared/paths.ts';
import { type Check, codeOf, fail, guarded, ok, skip, warn } from './check.ts';

const CONNECT_MS = 2000;

type State = 'absent' | 'live' | 'dead' | 'closed to you' | 'silent' | 'no socket' | 'open to everybody';

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
  // svc-video runs only if there is a source, svc-helper only if it was installed or the node is root.
  const optional = [paths.helperSocket, paths.videoSocket, paths.videoMediaSocket];
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
  if (state === 'closed to you')
    return skip(name, 'You have no permission. Use sudo, or join the group svc.');
  if (state === 'no socket') return fail(name, `${path} is not a socket.`, `Run: sudo rm ${path}`);
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
  const found = await lstat(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (found === null) return 'absent';
  if (!found.isSocket()) return 'no socket';
  if ((found.mode & 0o007) !== 0) return 'open to everybody';
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    const end = (state: State): void => {
      socket.destroy();
      resolve(state);
    };
    socket.setTimeout(CONNECT_MS, () => end('silent'));
    socket.once('connect', () => end('live'));
    socket.once('error', (error) => {
      const code = codeOf(error);
      if (code === 'ECONNREFUSED' || code === 'ENOENT') end('dead');
      else if (code === 'EACCES') end('closed to you');
      else if (code === 'EAGAIN') end('silent');
      else reject(error);
    });
  });
}
