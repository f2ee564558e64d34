import type { DatabaseSync } from 'node:sqlite';
import { every } from '../../../shared/async/every.ts';
import { Retry } from '../../../shared/async/retry.ts';
import { bootTime } from '../../../shared/boot-clock.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import type { Paths } from '../../../shared/paths.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { type Handler, type HandlersOf, handlerMap } from '../../../shared/routes/handler.ts';
import { logsRows } from '../../../shared/routes/logs.ts';
import type { Row } from '../../../shared/routes/row.ts';
import type { Base } from '../base.ts';
import type { LinkConnection } from '../link-connection.ts';
import { ClockWatch } from './clock-watch.ts';
import type { FlightFiles } from './flight-files.ts';
import { FlightRecorder } from './flight-recorder.ts';
import { logHandlers } from './handlers.ts';
import { openLogDatabase } from './log-database.ts';
import { LogIngest } from './log-ingest.ts';
import { LogReader } from './log-reader.ts';
import { LogStore } from './log-store.ts';
import { LogTail } from './log-tail.ts';

const RETAIN_MS = 5 * 60_000;
const CLOCK_MS = 1000;
const MB = 1024 * 1024;
const SOURCE = 'svc-residual';
const SEVERITY = { warn: 3, error: 4 } as const;

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
    await this.#attempt;
  }

  async stop(): Promise<void> {
    this.#retry.stop();
    await this.#attempt;
    await this.#opened?.stop();
  }

  async #open(): Promise<void> {
    try {
      this.#opened = await openLogs(this.#options);
    } catch (error) {
      const problem = messageOf(error);
      if (problem !== this.#problem) this.#options.log.error(`log store: ${problem}; it is tried again`);
      this.#problem = problem;
      this.#retry.again();
    }
  }
}

interface OpenedLogs {
  readonly handlers: LogHandlers;
  stop(): Promise<void>;
}

async function openLogs(options: LogServiceOptions): Promise<OpenedLogs> {
  const { paths, log } = options;
  const { db, setAside } = openLogDatabase(paths.logStore, Date.now(), log);
  try {
    return await runLogs(options, db, setAside);
  } catch (error) {
    db.close();
    throw error;
  }
}

async function runLogs(
  { paths, link, limits, bootId, profile, files, log }: LogServiceOptions,
  db: DatabaseSync,
  setAside: string | null,
): Promise<OpenedLogs> {
  const store = new LogStore(
    db,
    paths.logStore,
    { maxBytes: limits.max_mb * MB, maxAgeDays: limits.max_age_days },
    () => Date.now() * 1000,
  );
  if (!store.resumeBoot(bootId)) store.beginSession('boot', 'node started', { boot: bootId, profile });
  if (setAside !== null) store.event('store_set_aside', SOURCE, SEVERITY.error, { file: setAside });
  const tail = new LogTail();
  const ingest = new LogIngest({
    path: paths.logSocket,
    store,
    log,
    now: Date.now,
    followed: () => tail.followed,
    onStored: (records) => tail.push(records),
  });
  const recorder = new FlightRecorder({
    link,
    store,
    recording: files.recording,
    log,
    now: () => performance.now(),
  });
  await ingest.start();
  tail.start();
  recorder.start();
  const clock = new ClockWatch(
    Date.now,
    () => performance.now(),
    (step) => store.event('clock_stepped', SOURCE, SEVERITY.warn, { ...step }),
  );
  const stopped = new AbortController();
  let retaining: Promise<void> | null = null;
  const timers = [
    every(CLOCK_MS, 'clock', () => clock.check()),
    every(RETAIN_MS, 'log store', async () => {
      retaining ??= retain(store, stopped.signal, log).finally(() => {
        retaining = null;
      });
      return retaining;
    }),
  ];
  const reader = new LogReader(paths.logStore);
  return {
    handlers: logHandlers({
      reader,
      store,
      kept: files.kept,
      tail,
      flush: () => {
        ingest.flush();
        recorder.flush();
      },
      rows: logsRows,
      now: Date.now,
    }),
    async stop() {
      for (const timer of timers) clearInterval(timer);
      stopped.abort();
      recorder.stop();
      tail.stop();
      await ingest.stop();
      await retaining?.catch(() => undefined); // its timer has told
      await reader.stop();
      store.close();
    },
  };
}

async function retain(store: LogStore, stopped: AbortSignal, log: Logger): Promise<void> {
  const { deleted } = await store.retain(stopped);
  if (deleted > 0) log.debug(`log store: ${deleted} old records deleted`);
}

/** Handlers of all built rows that ask at each call who answers. */
function handlersBy(find: () => LogHandlers): LogHandlers {
  const built = logsRows.filter((row) => row.built);
  const handlers = built.map(({ id }): [string, Handler<Row>] => [
    id,
    async (call) => handlerMap(find()).get(id)?.(call),
  ]);
  return Object.fromEntries(handlers) as LogHandlers;
}
