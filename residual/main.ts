/** svc-residual: the composition root of the residual. The only file of the residual that reads env and argv. */
import { mkdir } from 'node:fs/promises';
import { markKey } from '../shared/auth/principal-mark.ts';
import { type Init, runService, type Service } from '../shared/ipc/child.ts';
import { listenUnix } from '../shared/ipc/socket-file.ts';
import { createLogger, type Logger } from '../shared/logger.ts';
import { pathsFrom } from '../shared/paths.ts';
import type { Handler } from '../shared/routes/handler.ts';
import type { Row } from '../shared/routes/row.ts';
import { compileTable, type ResidualRow, ROWS } from '../shared/routes/table.ts';
import { configHandlers } from './config/handlers.ts';
import { ConfigStore } from './config/store.ts';
import { createResidualServer } from './server.ts';

type ResidualHandlers = { readonly [R in ResidualRow as R['id']]: Handler<R> };

async function start({ secret }: Init, log: Logger): Promise<Service> {
  const paths = pathsFrom(process.env);
  const handlers: ResidualHandlers = { ...configHandlers(new ConfigStore(paths)) };
  const server = createResidualServer({
    matcher: compileTable(ROWS).matcher,
    // Each handler is typed by its own row; the server calls it with what that row's schemas let through.
    handlers: new Map(Object.entries(handlers) as unknown as [string, Handler<Row>][]),
    secret: markKey(secret),
    now: Date.now,
    log,
  });
  await mkdir(paths.run, { recursive: true, mode: 0o755 });
  await listenUnix(server, paths.residualSocket);
  return {
    info: {},
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      await closed;
    },
  };
}

const log = createLogger('svc-residual', process.env['SVC_LOG_LEVEL']);
await runService(log, async (init) => start(init, log));
