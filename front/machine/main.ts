/** svc-machine: the composition root. The only file of it that reads env. */
import { mkdir } from 'node:fs/promises';
import { configInForce } from '../../shared/config/in-force.ts';
import { ApiError, messageOf } from '../../shared/errors.ts';
import { pathsFrom } from '../../shared/paths.ts';
import { type Init, type Program, runProcess } from '../../shared/process/child.ts';
import { createLogger, type Logger } from '../../shared/process/logger.ts';
import { named, runServices } from '../../shared/process/services.ts';
import { clientOf, serverOf } from '../../shared/rpc/contract.ts';
import { MACHINE, type UplinkUse } from '../../shared/rpc/machine.ts';
import { SUPERVISOR } from '../../shared/rpc/supervisor.ts';
import { cardSetting, channelRules, noiseOf } from './iw.ts';
import { type NodeFacts, openMachine } from './machine.ts';

/** What a handler of this process looks at. */
type Answer = (asked: { readonly params: unknown; readonly body: unknown }) => Promise<unknown>;

async function build(_: Init, log: Logger): Promise<Program> {
  const paths = pathsFrom(process.env);
  await mkdir(paths.state, { recursive: true, mode: 0o755 });
  const inForce = await configInForce(paths, 'svc-machine', log);
  const supervisor = clientOf(SUPERVISOR, { path: paths.supervisorSocket });
  let uplink: UplinkUse | null = null;
  let node: NodeFacts | null = null;
  let machine: ReturnType<typeof openMachine> | null = null;
  const ending = new AbortController();
  let running: Promise<unknown> = Promise.resolve();

  const begin = (facts: NodeFacts): ReturnType<typeof openMachine> => {
    const opened = openMachine({
      env: process.env,
      paths,
      config: inForce.config,
      node: () => node ?? facts,
      supervisor: supervisor.calls,
      onUplink: (use) => {
        uplink = { ...use, change: null };
        server.tell('uplink', use);
      },
      log,
    });
    // A part that does not start ends the process, which is started again.
    running = runServices(
      opened.services,
      ending.signal,
      () => log.info('looks after the network of this machine'),
      (sentence) => log.error(sentence),
    );
    return opened;
  };
  const know = (facts: NodeFacts): ReturnType<typeof openMachine> => {
    node = facts;
    machine ??= begin(facts);
    return machine;
  };

  const server = serverOf(MACHINE, {
    path: paths.machineSocket,
    handlers: {
      know: (facts) => {
        know(facts);
        return {};
      },
      answer: async ({ row, params, body, node: facts }) => {
        // Each is called with what has passed the schemas of its own row.
        const handlers: Readonly<Record<string, unknown>> = know(facts).handlers;
        const handler = Object.hasOwn(handlers, row) ? (handlers[row] as Answer) : undefined;
        if (handler === undefined) throw new ApiError('E_NOT_FOUND', `svc-machine has no row ${row}.`);
        return handler({ params, body });
      },
      ground: async ({ node: facts }) => know(facts).ground(),
      card_setting: async ({ card }) => cardSetting(card),
      channel_rules: async ({ phy }) => channelRules(phy),
      noise: async ({ card }) => noiseOf(card),
    },
    greeting: () => (uplink === null ? [] : [['uplink', uplink]]),
    onError: (error) => log.warn(messageOf(error)),
  });
  return {
    services: [
      named('supervisor client', supervisor),
      {
        name: 'network',
        stop: async () => {
          ending.abort();
          await running;
        },
        stopMs: 7000,
      },
      named('server', server),
    ],
    config: inForce,
  };
}

const log = createLogger('svc-machine', process.env['SVC_LOG_LEVEL']);
await runProcess(log, async (init) => build(init, log));
