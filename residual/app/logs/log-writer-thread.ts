/**
 * The thread of log-writer.ts: it has the only writing connection to the log store, and all that writes to it. A disk that stands
 * still holds this thread; what comes meanwhile waits with its sender.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { every } from '../../../shared/async/every.ts';
import { toOwner } from '../../../shared/async/own-thread.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { LinkConnection } from '../link-connection.ts';
import { ClockWatch } from './clock-watch.ts';
import { FlightRecorder } from './flight-recorder.ts';
import { openLogDatabase } from './log-database.ts';
import { LogIngest } from './log-ingest.ts';
import { LogStore } from './log-store.ts';
import type { FromWriter, ToWriter, WriterData } from './log-writer.ts';
import type { Telling } from './telling.ts';

const RETAIN_MS = 5 * 60_000;
const CLOCK_MS = 1000;
type Follower = Parameters<LinkConnection['follow']>[0];

const SOURCE = 'svc-residual';
const SEVERITY = { warn: 3, error: 4 } as const;

const { path, socket, limits, bootId, profile }: WriterData = workerData;

const say: (message: FromWriter) => void = toOwner;

const log: Telling = {
  error: (text) => say({ kind: 'log', level: 'error', text }),
  warn: (text) => say({ kind: 'log', level: 'warn', text }),
  debug: (text) => say({ kind: 'log', level: 'debug', text }),
};

const { db, setAside } = openLogDatabase(path, Date.now(), log);
const store = new LogStore(db, path, limits, () => Date.now() * 1000);
if (!store.resumeBoot(bootId)) store.beginSession('boot', 'node started', { boot: bootId, profile });
if (setAside !== null) store.event('store_set_aside', SOURCE, SEVERITY.error, { file: setAside });
let followed = false;
const ingest = new LogIngest({
  path: socket,
  store,
  log,
  now: Date.now,
  followed: () => followed,
  onStored(records) {
    if (followed) say({ kind: 'stored', records });
  },
});
let recording: readonly string[] = [];
let followers: readonly Follower[] = [];
const recorder = new FlightRecorder({
  link: {
    follow(follower) {
      followers = [follower];
      return () => {
        followers = [];
      };
    },
  },
  store,
  recording: () => recording,
  log,
  now: () => performance.now(),
});
await ingest.start();
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
    retaining ??= retain().finally(() => {
      retaining = null;
    });
    return retaining;
  }),
];

async function retain(): Promise<void> {
  const { deleted } = await store.retain(stopped.signal);
  if (deleted > 0) log.debug(`log store: ${deleted} old records deleted`);
}

function flush(): void {
  ingest.flush();
  recorder.flush();
}

async function stop(): Promise<void> {
  for (const timer of timers) clearInterval(timer);
  stopped.abort();
  recorder.stop();
  await ingest.stop();
  await retaining?.catch(() => undefined); // its timer has told
  store.close();
}

function handle(message: ToWriter): void {
  switch (message.kind) {
    case 'state':
      ({ recording } = message);
      for (const follower of followers) follower.state?.(message.state);
      say({ kind: 'heard' });
      break;
    case 'flush':
      flush();
      say({ kind: 'flushed', id: message.id, accepted: store.accepted });
      break;
    case 'follow':
      followed = true;
      flush();
      say({ kind: 'following', id: message.id, newest: store.newestId() });
      break;
    case 'unfollow':
      followed = false;
      break;
    case 'stop':
      stop()
        .catch((error: unknown) => log.error(`log store: ${messageOf(error)}`))
        .finally(() => parentPort?.close());
      break;
  }
}

parentPort?.on('message', handle);
say({ kind: 'opened' });
