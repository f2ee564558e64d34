import { Retry } from '../../../shared/async/retry.ts';
import { within } from '../../../shared/async/within.ts';
import { bootTime } from '../../../shared/boot-clock.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import type { Paths } from '../../../shared/paths.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { type AnyHandler, type HandlersOf, handlerMap } from '../../../shared/routes/handler.ts';
import { logsRows } from '../../../shared/routes/logs.ts';
import type { Base } from '../base.ts';
import type { LinkConnection } from '../link-connection.ts';
import type { FlightFiles } from './flight-files.ts';
import { logHandlers } from './log-handlers.ts';
import { LogReader } from './log-reader.ts';
import { LogTail } from './log-tail.ts';
import { LogWriter } from './log-writer.ts';

const MB = 1024 * 1024;
const START_MS = 10_000;

interface LogServiceOptions {
  readonly paths: Paths;
  readonly link: LinkConnection;
  readonly limits: { readonly max_mb: number; readonly max_age_days: number };
  /** The kernel's: names this run of the machine. */
  readonly bootId: string;
  readonly profile: string;
  readonly files: FlightFiles;
  readonly log: Logger;
}

type LogHandlers = HandlersOf<typeof logsRows, 'residual'>;

interface LogService {
  readonly handlers: LogHandlers;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** The log store with its routes; if it is disabled or cannot be opened, the routes say so. */
export function openLogService({ config, paths, link, log }: Base, files: FlightFiles): LogService {
  const limits = config.logging.store;
  if (!limits.enabled) {
    const off = new ApiError('E_NOT_IMPLEMENTED', 'The log store is switched off: logging.store.enabled.');
    return {
      handlers: handlersBy(() => {
        throw off;
      }),
      start: async () => Promise.resolve(),
      stop: async () => Promise.resolve(),
    };
  }
  const { boot_id: bootId } = bootTime();
  return new RetriedLogService({
    paths,
    link,
    limits,
    bootId,
    profile: config.agent.profile,
    files,
    log,
  });
}

/** Opens the store again and again until it works: config, video and the rest of this process run without it. */
class RetriedLogService implements LogService {
  readonly handlers: LogHandlers;
  readonly #options: LogServiceOptions;
  readonly #retry = new Retry(
    () => {
      this.#attempt = this.#open();
    },
    { firstMs: 1000, capMs: 30_000 },
  );
  #attempt: Promise<void> = Promise.resolve();
  #opened: OpenedLogs | null = null;
  #problem = 'it is being opened';

  constructor(options: LogServiceOptions) {
    this.#options = options;
    this.handlers = handlersBy(() => {
      if (this.#opened !== null) return this.#opened.handlers;
      throw new ApiError('E_STORE', `The log store cannot be opened: ${this.#problem}.`);
    });
  }

  async start(): Promise<void> {
    this.#retry.start();
    // On a disk that stands still the rest of this process does not wait for it.
    await within(this.#attempt, START_MS, () => new Error(`it was not open within ${START_MS} ms`)).catch(
      (error: unknown) => this.#options.log.warn(`log store: ${messageOf(error)}`),
    );
  }

  async stop(): Promise<void> {
    this.#retry.stop();
    await this.#attempt;
    await this.#opened?.stop();
  }

  async #open(): Promise<void> {
    try {
      this.#opened = await openLogs(this.#options, (problem) => {
        const ended = this.#opened;
        this.#opened = null;
        void ended?.stop();
        this.#again(problem);
      });
    } catch (error) {
      this.#again(messageOf(error));
    }
  }

  #again(problem: string): void {
    if (problem !== this.#problem) this.#options.log.error(`log store: ${problem}; it is tried again`);
    this.#problem = problem;
    this.#retry.again();
  }
}

interface OpenedLogs {
  readonly handlers: LogHandlers;
  stop(): Promise<void>;
}

async function openLogs(
  { paths, link, limits, bootId, profile, files, log }: LogServiceOptions,
  onEnd: (problem: string) => void,
): Promise<OpenedLogs> {
  const tail = new LogTail();
  const writer = new LogWriter({
    path: paths.logStore,
    socket: paths.logSocket,
    limits: { maxBytes: limits.max_mb * MB, maxAgeDays: limits.max_age_days },
    bootId,
    profile,
    link,
    recording: files.recording,
    followed: () => tail.followed,
    onStored: (records) => tail.push(records),
    onEnd,
    log,
  });
  await writer.start();
  tail.start();
  const reader = new LogReader(paths.logStore);
  return {
    handlers: logHandlers({ reader, writer, kept: files.kept, tail, rows: logsRows, now: Date.now }),
    async stop() {
      tail.stop();
      await writer.stop();
      await reader.stop();
    },
  };
}

/** Handlers of all built rows that ask at each call who answers. */
function handlersBy(find: () => LogHandlers): LogHandlers {
  const built = logsRows.filter((row) => row.built);
  const handlers = built.map(({ id }): [string, AnyHandler] => [
    id,
    async (call) => handlerMap(find()).get(id)?.(call),
  ]);
  return Object.fromEntries(handlers) as LogHandlers;
}
