/**
 * The contract between the supervisor and the processes it runs, over Node's own IPC channel:
 *   supervisor -> child  {type: 'init', ...Init}     once, first: the per-boot secret is never in an environment variable
 *   child -> supervisor  {type: 'ready', info, config}  once, when the child serves
 *   supervisor -> child  {type: 'ping', seq}        child -> supervisor {type: 'pong', seq}
 *   child -> supervisor  {type: 'keep', armed, systems}  svc-link alone: what its next run is told as `Init.wasArmed`
 * SIGTERM means stop. A closed channel means that the supervisor is dead: the child stops too, so that nothing outlives it.
 */
import { uptime } from 'node:os';
import type { ConfigInForce } from '../config/in-force.ts';
import { messageOf } from '../errors.ts';
import type { JsonObject } from '../member.ts';
import type { Logger } from './logger.ts';
import { runServices, type Service } from './services.ts';

/** The message to every child before it starts. */
export interface Init {
  /** Shared by the processes of this run of the node; empty when a process runs alone. */
  readonly secret: string;
  /** `os.uptime()` of the moment the node started, seconds: a clock that all processes share and that cannot be set. */
  readonly nodeStartedAt: number;
  /** For svc-link: the run before it ended within 5 s of an armed vehicle (docs/contract/flight.md). */
  readonly wasArmed?: boolean;
  /** Which systems on its link those were. */
  readonly armedSystems?: readonly number[];
}

export type ToChild = ({ readonly type: 'init' } & Init) | { readonly type: 'ping'; readonly seq: number };
export type FromChild =
  | {
      readonly type: 'ready';
      readonly info: JsonObject;
      readonly config: ReportedConfig | null;
    }
  | { readonly type: 'pong'; readonly seq: number }
  | { readonly type: 'keep'; readonly armed: boolean; readonly systems: readonly number[] };

/** What a process with a config tells of the guarded keys (shared/config/in-force.ts). */
export type ReportedConfig = Pick<ConfigInForce, 'guarded' | 'waiting'>;

/** The parts of a process: its services in start order, and the message to the supervisor when all of them run. */
export interface Program {
  readonly services: readonly Service[];
  /** The config with which it started. */
  readonly config?: ReportedConfig;
  readonly info?: () => JsonObject;
}

const INIT_TIMEOUT_MS = 5000;
const STOP_TIMEOUT_MS = 8000;

/**
 * Runs one process of the node under the supervisor (or alone, with an empty secret, for a developer) until it is asked to
 * stop, which may be while it starts. Exit codes: 0 stopped on request, 1 failed, 75 (EX_TEMPFAIL) a resource is taken and a
 * retry may help.
 * @param build makes the parts; its list has everything that must be started and stopped
 */
export async function runProcess(log: Logger, build: (init: Init) => Promise<Program>): Promise<void> {
  const supervised = process.send !== undefined;
  process.umask(0o077); // files and sockets are private by default
  process.on('uncaughtException', (error) => die(log, error));
  process.on('unhandledRejection', (error) => die(log, error));
  // Ctrl-C reaches the whole foreground group; the supervisor decides the order in which its children stop.
  if (supervised) process.on('SIGINT', () => undefined);

  const asked = new AbortController();
  const { signal } = asked;
  const stop = (reason: string): void => {
    if (signal.aborted) return;
    log.info(`stopping: ${reason}`);
    setTimeout(() => {
      log.error(`did not stop within ${STOP_TIMEOUT_MS} ms`);
      process.exit(1);
    }, STOP_TIMEOUT_MS);
    process.once('SIGTERM', () => process.exit(1)); // a second one ends the process at once
    asked.abort(new Error(reason));
  };
  process.once('SIGTERM', () => stop('SIGTERM'));
  if (supervised) process.once('disconnect', () => stop('supervisor gone'));
  else process.once('SIGINT', () => stop('SIGINT'));

  try {
    const init = supervised ? await receiveInit(signal) : { secret: '', nodeStartedAt: uptime() };
    const { services, info, config } = await build(init);
    const reported = config === undefined ? null : { guarded: config.guarded, waiting: config.waiting };
    const onReady = (): void => send({ type: 'ready', info: info?.() ?? {}, config: reported });
    const ok = await runServices(services, signal, onReady, (sentence) => log.error(sentence));
    if (!ok) process.exitCode = 1;
  } catch (error) {
    if (!signal.aborted) {
      log.error(`cannot start: ${messageOf(error)}`);
      process.exitCode = isTaken(error) ? 75 : 1;
    }
  }
  exitAfterFlush();
}

/** Tells the supervisor whether a vehicle is armed, and which; it outlives this process. */
export function keepArmed({ armed, systems }: { armed: boolean; systems: readonly number[] }): void {
  send({ type: 'keep', armed, systems });
}

async function receiveInit(signal: AbortSignal): Promise<Init> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
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
