/** svc-link: the composition root of the link. The only file of it that reads env and argv. */
import { mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { parseArgs } from 'node:util';
import { messageOf } from '../../shared/errors.ts';
import { runService, type Service } from '../../shared/ipc/child.ts';
import { RpcServer } from '../../shared/ipc/rpc.ts';
import { createLogger, type Logger } from '../../shared/logger.ts';
import { pathsFrom } from '../../shared/paths.ts';
import { type Clock, systemClock } from './clock.ts';
import { closedTransport } from './closed-transport.ts';
import { Link } from './link.ts';
import { parseSource } from './source.ts';
import { TcpTransport } from './tcp-transport.ts';
import type { Transport } from './transport.ts';

function openTransport(text: string, clock: Clock, log: Logger): Transport {
  const source = parseSource(text);
  if (source.kind === 'tcp') {
    const { host, port } = source;
    return new TcpTransport({ host, port, clock, log, connect });
  }
  log.error(`mavlink.source ${text}: ${source.kind} is not in this build yet; use tcp:host:port or sim`);
  return closedTransport();
}

async function start(log: Logger): Promise<Service> {
  const { values } = parseArgs({ options: { source: { type: 'string', default: 'auto' } } });
  const { source } = values;
  const paths = pathsFrom(process.env);
  const clock = systemClock();
  const transport = openTransport(source, clock, log);
  await mkdir(paths.run, { recursive: true, mode: 0o755 });
  const link = new Link({
    clock,
    log,
    transport,
    source,
    onState: (state) => server.broadcast('state', state),
  });
  const server = new RpcServer({
    path: paths.linkSocket,
    methods: {
      command: async (params, signal) => link.command(params, signal),
      params: () => link.params(),
    },
    greeting: () => [['state', link.state()]],
    onError: (error) => log.warn(`rpc: ${messageOf(error)}`),
  });
  await server.start();
  link.start();
  log.info(`serving ${paths.linkSocket}`, { source });
  return {
    info: { source },
    async stop() {
      await link.stop();
      await server.stop();
    },
  };
}

const log = createLogger('svc-link', process.env['SVC_LOG_LEVEL']);
await runService(log, async () => start(log));
