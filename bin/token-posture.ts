import { statSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../shared/config/load.ts';
import { setConfigKey } from '../shared/config/write.ts';
import { ApiError } from '../shared/errors.ts';
import type { Paths } from '../shared/paths.ts';
import { PACKAGE_ROOT } from './places.ts';
import { restartService } from './supervisor-client.ts';

const KEY = 'mcp.token_accept_enabled';
const FRONT = 'svc-control';

/** What became of a change of the posture. */
export interface PostureChange {
  readonly accept_enabled: boolean;
  /** `restarted`: in force; `left` (--no-restart) and `not-running`: from the next start of the front. */
  readonly front: 'restarted' | 'left' | 'not-running';
  readonly pid: number | null;
}

/**
 * Sets whether the node honours scoped tokens, and restarts the front, which reads that only when it starts; no other
 * process is touched.
 *
 * Only root may, for it opens the node to a weaker credential. The demo node of a checkout (below `.svc/`) belongs to the
 * developer who runs it without root: there the owner of the config file may, too.
 * @throws ApiError E_ROOT_ONLY, E_INVALID_VALUE, E_STORE, E_TIMEOUT
 */
export async function setTokenPosture(
  paths: Paths,
  accept: boolean,
  restart: boolean,
): Promise<PostureChange> {
  requireRight(paths, accept ? 'enable' : 'disable');
  const { config, text } = await loadConfig(paths);
  // A file that is broken is not in force: setting the key then says what is wrong with it.
  if (text === null || config.mcp.token_accept_enabled !== accept) await setConfigKey(paths, KEY, accept);
  if (!restart) return { accept_enabled: accept, front: 'left', pid: null };
  const restarted = await restartService(paths.supervisorSocket, FRONT);
  return {
    accept_enabled: accept,
    front: restarted === null ? 'not-running' : 'restarted',
    pid: restarted?.pid_after ?? null,
  };
}

/** The sentences that a person gets to read. */
export function postureText({ accept_enabled: accept, front, pid }: PostureChange): string {
  const what = `Scoped tokens are ${accept ? 'accepted' : 'refused'}`;
  switch (front) {
    case 'restarted':
      return `${what}: ${FRONT} was restarted (pid ${pid}).`;
    case 'left':
      return `${what} from the next start of ${FRONT}; it was not restarted.`;
    case 'not-running':
      return `${what} from the next start of the node; none is running here.`;
  }
}

/** @throws ApiError E_ROOT_ONLY */
function requireRight(paths: Paths, verb: string): void {
  const uid = process.getuid?.();
  if (uid === 0) return;
  const demo = paths.config.startsWith(join(PACKAGE_ROOT, '.svc', '/'));
  if (demo && uid !== undefined && statSync(paths.config, { throwIfNoEntry: false })?.uid === uid) return;
  throw new ApiError('E_ROOT_ONLY', `Only root changes whether tokens are accepted: sudo svc mcp ${verb}`);
}
