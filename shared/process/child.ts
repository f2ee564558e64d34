/**
 * The contract between the supervisor and the processes it runs, over Node's own IPC channel:
 *   supervisor -> child  {type: 'init', ...Init}     once, first: the per-boot secret never stands in an environment
 *   child -> supervisor  {type: 'ready', info}      once, when the child serves
 *   supervisor -> child  {type: 'ping', seq}        child -> supervisor {type: 'pong', seq}
 * SIGTERM means stop. A closed channel means that the supervisor is dead: the child stops too, so that nothing outlives it.
 */
import { uptime } from 'node:os';
import { messageOf } from '../errors.ts';
import type { Logger } from './logger.ts';

/** What every child is told before it starts. */
export interface Init {
  /** Shared by the processes of this run of the node; empty when a process runs alone. */
  readonly secret: string;
  /** `os.uptime()` of the moment the node started, seconds: a clock that every process shares and nobody can set. */
  readonly nodeStartedAt: number;
}

export type ToChild = ({ readonly type: 'init' } & Init) | { readonly type: 'ping'; readonly seq: number };
export type FromChild =
  | { readonly type: 'ready'; readonly info: Readonly<Record<string, unknown>> }
  | { readonly type: 'pong'; readonly seq: number };

/** A running service: what it tells the supervisor when ready, and how it stops. */
export interface Service {
  readonly info: Readonly<Record<string, unknown>>;
  stop(): Promise<void>;
}

const INIT_TIMEOUT_MS = 5000;
const STOP_TIMEOUT_MS = 8000;

/**
 * Runs one service of the node under the supervisor (or alone, with an empty secret, for a developer).
 * Exit codes: 0 stopped on request, 1 failed, 75 (EX_TEMPFAIL) a resource is taken and a retry may help.
 */
export async function runService(log: Logger, start: (init: Init) => Promise<Service>): Promise<void> {
  const supervised = process.send !== undefined;
  process.umask(0o077); // files and sockets are private until somebody widens them on purpose
  process.on('uncaughtException', (error) => die(log, error));
  process.on('unhandledRejection', (error) => die(log, error));
  // Ctrl-C reaches the whole foreground group; the supervisor decides the order in which its children stop.
  if (supervised) process.on('SIGINT', () => undefined);

  const stopping = new Promise<string>((resolve) => {
    process.once('SIGTERM', () => resolve('SIGTERM'));
    if (supervised) process.once('disconnect', () => resolve('supervisor gone'));
    else process.once('SIGINT', () => resolve('SIGINT'));
  });

  let service: Service;
  try {
    service = await start(supervised ? await receiveInit() : { secret: '', nodeStartedAt: uptime() });
  } catch (error) {
    log.error(`cannot start: ${messageOf(error)}`);
    process.exitCode = isTaken(error) ? 75 : 1;
    exitAfterFlush();
    return;
  }
  send({ type: 'ready', info: service.info });
  const reason = await stopping;
  log.info(`stopping: ${reason}`);
  const limit = setTimeout(() => {
    log.error(`did not stop within ${STOP_TIMEOUT_MS} ms`);
    process.exit(1);
  }, STOP_TIMEOUT_MS);
  process.once('SIGTERM', () => process.exit(1)); // a second one means now
  await service.stop();
  clearTimeout(limit);
  exitAfterFlush();
}

async function receiveInit(): Promise<Init> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the supervisor sent no init message')), INIT_TIMEOUT_MS);
    process.on('message', (message: ToChild) => {
      switch (message.type) {
        case 'init':
          clearTimeout(timer);
          resolve(message);
          break;
        case 'ping':
          send({ type: 'pong', seq: message.seq });
          break;
      }
    });
  });
}

function send(message: FromChild): void {
  if (process.send !== undefined && process.connected) process.send(message);
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && /in use|EADDRINUSE/.test(error.message);
}

function die(log: Logger, error: unknown): void {
  log.error(`crashed: ${messageOf(error)}`, { stack: error instanceof Error ? error.stack : undefined });
  process.exitCode = 1;
  exitAfterFlush();
}

// Lines still in the pipe would be lost by process.exit at once; stderr's own drain is the event to wait for.
function exitAfterFlush(): void {
  process.stderr.write('', () => process.exit());
}
