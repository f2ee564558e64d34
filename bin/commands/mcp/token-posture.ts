import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, Flags } from '@oclif/core';
import { ApiError, codeOf } from '../../../shared/errors.ts';
import type { Paths } from '../../../shared/paths.ts';
import type { Restarted } from '../../../shared/rpc/supervisor.ts';
import { NodeCommand } from '../../cli/node-command.ts';
import { PACKAGE_ROOT } from '../../places.ts';

const KEY = 'mcp.token_accept_enabled';
const FRONT = 'svc-control';

/** The result of a change. */
interface PostureChange {
  readonly accept_enabled: boolean;
  /** `restarted`: in force; `left` (--no-restart) and `not-running`: from the next start of the front. */
  readonly front: 'restarted' | 'left' | 'not-running';
  readonly pid: number | null;
}

/**
 * Sets whether the node accepts scoped tokens, and restarts svc-control, which reads this only at its start; no other process
 * is restarted.
 *
 * Only root may do this, since it opens the node to a weaker credential. The demo node of a checkout (below `.svc/`) belongs to
 * the developer who runs it without root: there the owner of the config file may, too.
 * @throws ApiError E_ROOT_ONLY, E_INVALID_VALUE, E_STORE, E_TIMEOUT
 */
export async function setTokenPosture(
  paths: Paths,
  accept: boolean,
  restart: boolean,
): Promise<PostureChange> {
  requireRight(paths, accept ? 'enable' : 'disable');
  const { loadConfig } = await import('../../../shared/config/load.ts');
  const { config, text } = await loadConfig(paths);
  // A broken file is not in force: setting the key then reports the error.
  if (text === null || config.mcp.token_accept_enabled !== accept)
    await (await import('../../../shared/config/write.ts')).setConfigKey(paths, KEY, accept);
  if (!restart) return { accept_enabled: accept, front: 'left', pid: null };
  const restarted = await restartService(paths.supervisorSocket, FRONT);
  return {
    accept_enabled: accept,
    front: restarted === null ? 'not-running' : 'restarted',
    pid: restarted?.pid_after ?? null,
  };
}

/** `svc mcp enable` and `svc mcp disable`. */
export function postureCommand(accept: boolean): Command.Class {
  const verb = accept ? 'enable' : 'disable';
  return class PostureCommand extends NodeCommand {
    static override summary =
      `Let the node on this machine ${accept ? 'accept scoped tokens' : 'refuse every scoped token'}; needs root.`;
    static override description =
      'Writes mcp.token_accept_enabled into the config file and restarts svc-control, nothing else. In a checkout, where npm start runs the demo node without root, the owner of its config file may do it too.';
    static override examples = [
      `sudo <%= config.bin %> mcp ${verb}`,
      `sudo <%= config.bin %> mcp ${verb} --no-restart`,
    ];
    static override flags = {
      restart: Flags.boolean({
        summary: 'restart svc-control, so that it takes effect at once',
        default: true,
        allowNo: true,
      }),
    };

    async run(): Promise<PostureChange> {
      const { flags } = await this.parse(PostureCommand);
      const change = await setTokenPosture(this.paths, accept, flags.restart);
      this.log(postureText(change));
      return change;
    }
  };
}

/** The sentence for the user. */
function postureText({ accept_enabled: accept, front, pid }: PostureChange): string {
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

/**
 * Restarts one process of the node whose supervisor listens at `socketPath`; null if no node is running.
 * @throws ApiError the supervisor's own, E_UPSTREAM_DOWN without permission for its socket
 */
async function restartService(socketPath: string, name: string): Promise<Restarted | null> {
  const { clientOf } = await import('../../../shared/rpc/contract.ts');
  const { SUPERVISOR } = await import('../../../shared/rpc/supervisor.ts');
  const client = clientOf(SUPERVISOR, { path: socketPath });
  try {
    await client.connectOnce();
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return null;
    throw new ApiError(
      'E_UPSTREAM_DOWN',
      `The supervisor cannot be reached at ${socketPath} (${code ?? 'unknown'}).`,
    );
  }
  try {
    return await client.calls.restart({ name });
  } finally {
    client.stop();
  }
}
