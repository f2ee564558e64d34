import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/process/logger.ts';
import type { Service } from '../../shared/process/services.ts';
import type { Principal } from '../principal.ts';
import { buildServer, type ServerDeps } from '../server.ts';

/** One client, over this process's own input and output; when it is gone, so is the connector. */
export function stdioService(deps: ServerDeps, principal: Principal, log: Logger, end: () => void): Service {
  let handle: ReturnType<typeof serveStdio> | null = null;
  return {
    name: 'stdio',
    start() {
      handle = serveStdio(() => buildServer(deps, 'stdio', principal), {
        onerror: (error) => log.debug(messageOf(error)),
      });
      process.stdin.once('end', end);
      process.stdin.once('close', end);
    },
    stop: async () => handle?.close(),
  };
}
