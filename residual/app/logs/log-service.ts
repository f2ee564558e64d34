import { DatabaseSync } from 'node:sqlite';
import { every } from '../../../shared/async/every.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import type { Paths } from '../../../shared/paths.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { HandlersOf } from '../../../shared/routes/handler.ts';
import { logsRows } from '../../../shared/routes/logs.ts';
import { FlightRecorder } from './flight-recorder.ts';
import { logHandlers } from './handlers.ts';
import { openLogDatabase } from './log-database.ts';
import { LogIngest } from './log-ingest.ts';
import { LogQuery } from './log-query.ts';
import { LogStore } from './log-store.ts';
import { LogTail } from './log-tail.ts';

const RETAIN_MS = 5 * 60_000;
const MB = 1024 * 1024;

export interface LogServiceOptions {
  readonly paths: Paths;
  readonly limits: { readonly enabled: boolean; readonly max_mb: number; readonly max_age_days: number };
  /** Names this run of the node. */
  readonly bootId: string;
  readonly profile: string;
  readonly log: Logger;
}

export interface LogService {
  readonly handlers: HandlersOf<typeof logsRows, 'residual'>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** The log store with its routes; if it is disabled or cannot be opened, the routes say so. */
export function openLogService(options: LogServiceOptions): LogService {
  if (!options.limits.enabled)
    return absent(new ApiError('E_NOT_IMPLEMENTED', 'The log store is switched off: logging.store.enabled.'));
  try {
    return open(options);
  } catch (error) {
    // Config, video and the rest of this process must work without it.
    options.log.error(`log store: ${messageOf(error)}`);
    return absent(new ApiError('E_STORE', `The log store cannot be opened: ${messageOf(error)}.`));
  }
}

function open({ paths, limits, bootId, profile, log }: LogServiceOptions): LogService {
  const { db, setAside } = openLogDatabase(paths.logStore, Date.now(), log);
  const nowUs = (): number => Math.round((performance.timeOrigin + performance.now()) * 1000);
  const store = new LogStore(
    db,
    paths.logStore,
    { maxBytes: limits.max_mb * MB, maxAgeDays: limits.max_age_days },
    nowUs,
  );
  const reader = new DatabaseSync(paths.logStore, { readOnly: true, timeout: 1000 });
  const tail = new LogTail();
  const ingest = new LogIngest({
    path: paths.logSocket,
    store,
    log,
    now: Date.now,
    onStored: (records) => tail.push(records),
  });
  const recorder = new FlightRecorder({
    linkSocket: paths.linkSocket,
    store,
    log,
    now: () => performance.now(),
  });
  let timer: NodeJS.Timeout | null = null;
  return {
    handlers: logHandlers({ query: new LogQuery(reader), store, tail, rows: logsRows, now: Date.now }),
    async start() {
      if (!store.resumeBoot(bootId)) store.beginSession('boot', 'node started', { boot: bootId, profile });
      if (setAside !== null) store.event('store_set_aside', 'svc-residual', 4, { file: setAside });
      await ingest.start();
      tail.start();
      recorder.start();
      timer = every(RETAIN_MS, 'log store', () => retain(store, log));
    },
    async stop() {
      if (timer !== null) clearInterval(timer);
      recorder.stop();
      tail.stop();
      await ingest.stop();
      reader.close();
      store.close();
    },
  };
}

function retain(store: LogStore, log: Logger): void {
  const { deleted } = store.retain();
  if (deleted > 0) log.debug(`log store: ${deleted} old records deleted`);
}

function absent(error: ApiError): LogService {
  const refuse = (): never => {
    throw error;
  };
  const built = logsRows.filter((row) => row.built).map(({ id }) => [id, refuse]);
  return {
    handlers: Object.fromEntries(built),
    start: async () => Promise.resolve(),
    stop: async () => Promise.resolve(),
  };
}
