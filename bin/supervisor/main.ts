/**
 * svc-supervisor: starts, watches and stops the processes of one node. With --demo (`npm start`) its files lie below `.svc/` in
 * the checkout, the flight controller is the simulated one unless the config says otherwise, and one short screen shows how to
 * use it.
 */

import { createSocket } from 'node:dgram';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { keepChecked, readChecked } from '../../shared/config/checked-copy.ts';
import { type ConfigInForce, configInForce } from '../../shared/config/in-force.ts';
import { type LoadedConfig, loadConfig } from '../../shared/config/load.ts';
import type { Config } from '../../shared/config/schema.ts';
import { messageOf } from '../../shared/errors.ts';
import { writeAtomic } from '../../shared/files/atomic-write.ts';
import { readPrivate } from '../../shared/files/private-file.ts';
import { parseJson, recordOf } from '../../shared/member.ts';
import { type Paths, pathsFrom } from '../../shared/paths.ts';
import { createLogger, type Logger } from '../../shared/process/logger.ts';
import { named, runServices } from '../../shared/process/services.ts';
import { CODE_ROOT, demoDirectories, demoFolder, EXTENSION, GROUND } from '../places.ts';
import { WATCH_LIMITS } from './child.ts';
import { openLogFile } from './log-file.ts';
import { LogShipper } from './log-shipper.ts';
import { planChildren } from './plan.ts';
import { onStopSignals } from './stop-signals.ts';
import { Supervisor } from './supervisor.ts';
import { SystemdNotify, withoutNotify } from './systemd-notify.ts';

const NAME = 'svc-supervisor';

// Linux keeps 108 bytes for the path of a Unix socket.
const MAX_SOCKET_PATH = 107;
const MAX_CONFIG_BYTES = 1024 * 1024;

const { values: flags } = parseArgs({
  options: {
    demo: { type: 'boolean', default: false },
    ground: { type: 'boolean', default: false },
    // The demo node in another folder below `.svc/`, whose config is there already.
    name: { type: 'string' },
    'no-residual': { type: 'boolean', default: false },
    // Run svc-helper too, as --demo does for root; otherwise systemd starts it.
    helper: { type: 'boolean', default: false },
    // For tests: times of the watch in ms, and memory ceilings in MiB, as JSON.
    'watch-limits': { type: 'string' },
    ceilings: { type: 'string' },
  },
});

async function anyFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

async function anyFreeUdpPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createSocket('udp4');
    probe.once('error', reject);
    probe.bind(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

async function makeDirectories(paths: Paths): Promise<void> {
  for (const path of [paths.etc, paths.run, paths.state, paths.logDir]) {
    await mkdir(path, { recursive: true, mode: 0o755 });
  }
  const longest = paths.residualSocket.length;
  if (longest > MAX_SOCKET_PATH) {
    throw new Error(
      `${paths.run} is ${longest - MAX_SOCKET_PATH} characters too long for a socket path. Set SVC_RUN_DIR to a shorter one.`,
    );
  }
}

/** Copies a config file that is in force as the last good copy, and what was made of it; the node also runs without them. */
async function rememberGoodConfig(paths: Paths, { text, config }: LoadedConfig, log: Logger): Promise<void> {
  const { configLastGood, configChecked } = paths;
  if (text === null) return;
  try {
    if (text.trim() !== '' && (await lastGood(configLastGood)) !== text)
      await writePrivate(configLastGood, text);
    if ((await readChecked(configChecked, text)) === null)
      await keepChecked(configChecked, text, config, writePrivate);
  } catch (error) {
    log.warn(`config: the last good copy could not be written: ${messageOf(error)}`);
  }
}

/** Null: there is none, or none that is believed; it is written again then. */
async function lastGood(file: string): Promise<string | null> {
  return readPrivate(file, MAX_CONFIG_BYTES).catch(() => null);
}

async function writePrivate(file: string, text: string): Promise<void> {
  await writeAtomic(file, text, 0o600);
}

/** The name of the demo node, for `svc --demo`; null for that of `npm start`. */
function nameOf(): string | null {
  return flags.name ?? (flags.ground ? GROUND : null);
}

/** Loaded here, since it loads HTTP with everything that belongs to it, before the first process is started. */
async function showScreen(supervisor: Supervisor, paths: Paths, signal: AbortSignal): Promise<void> {
  const { printScreen } = await import('./screen.ts');
  await printScreen(supervisor, paths, nameOf(), signal);
}

async function run(): Promise<void> {
  const name = nameOf();
  const env = flags.demo ? { ...process.env, ...demoDirectories(name) } : process.env;
  const paths = pathsFrom(env);
  const demo = flags.demo ? await import('./demo.ts') : null;
  await demo?.checkOwner(demoFolder(null), process.getuid?.() ?? 0);
  await makeDirectories(paths);
  await demo?.seedDemoConfig(paths, flags.ground);
  await demo?.seedDemoMap(paths);
  const loaded = await loadConfig(paths);
  const log = createLogger(NAME, loaded.config.logging.level);
  await rememberGoodConfig(paths, loaded, log);
  const { config } = await configInForce(paths, NAME, log);
  if (demo !== null && !(await demo.portFree(config.api.port))) {
    throw new Error(
      `Port ${config.api.port} is taken: another program listens on it, perhaps another \`npm start\`. ` +
        `Stop that one, or set api.port in ${paths.config}.`,
    );
  }
  await supervise(config, paths, env, log);
}

async function supervise(
  config: Config,
  paths: Paths,
  env: NodeJS.ProcessEnv,
  log: ReturnType<typeof createLogger>,
): Promise<void> {
  const sink = flags.demo ? openLogFile(paths.logDir) : null;
  const withResidual = !flags['no-residual'] && config.features.residual;
  const shipper = withResidual && config.logging.store.enabled ? new LogShipper(paths.logSocket) : null;
  const onLine = (line: string): void => {
    shipper?.write(line);
    if (sink === null) process.stderr.write(`${line}\n`);
    else sink.write(line);
  };
  let again = false;
  let planned: ConfigInForce | null = null;
  const asked = new AbortController();
  const askToStop = (reason: string): void => {
    if (asked.signal.aborted) return;
    // First, so that the children have all of the time. Not for a restart in place: systemd would kill the new process after
    // TimeoutStopSec.
    if (!again) systemd.stopping();
    if (!flags.demo) log.info(`stopping: ${reason}`);
    asked.abort();
  };
  onStopSignals((signal, atOnce) => {
    again = false; // a stop during a restart wins
    askToStop(signal);
    if (!atOnce) return;
    supervisor.kill();
    process.exit(1);
  });
  const systemd = new SystemdNotify({
    env: process.env,
    pid: process.pid,
    healthy: () => supervisor.linkHealthy,
    onProblem: (text) => log.warn(text),
  });
  const simPort = await anyFreePort();
  const cameraPort = await anyFreeUdpPort();
  const supervisor = new Supervisor({
    onArmed: (armed) => systemd.armed(armed),
    onRestartSelf: () => {
      again = true;
      askToStop('restart');
    },
    socketPath: paths.supervisorSocket,
    recordPath: join(paths.run, 'children.json'),
    heldPath: paths.heldConfig,
    planned: () => planned,
    plan: async () => {
      planned = await configInForce(paths, NAME, log);
      return planChildren({
        config: planned.config,
        paths,
        root: CODE_ROOT,
        extension: EXTENSION,
        env: withoutNotify(env),
        withResidual,
        enrolled: existsSync(paths.fleet),
        withHelper: flags.helper || (flags.demo && process.getuid?.() === 0),
        // A person who pressed Ctrl-C waits 3 s at most; a service has the time that its clients need.
        drainMs: flags.demo ? 1500 : 5000,
        simPort,
        cameraPort,
        ceilings: numbersIn(flags.ceilings),
        memoryMiB: memoryHere(),
      });
    },
    limits: { ...WATCH_LIMITS, ...numbersIn(flags['watch-limits']) },
    onLine,
    onState: (name, state) => {
      const time = new Date().toISOString();
      onLine(JSON.stringify({ time, level: 'info', service: 'svc-supervisor', msg: `${name} is ${state}` }));
      systemd.status(supervisor.summary);
      if (supervisor.settled) systemd.ready();
      if (flags.demo && (state === 'waiting' || state === 'parked')) complain(supervisor, name, state);
    },
  });
  let screen: Promise<void> | null = null;
  const services = [
    { name: 'systemd', start: () => systemd.start(), stop: async () => systemd.end() },
    { name: 'log file', stop: async () => sink?.close() },
    // It does not wait: the store ends with the others.
    { name: 'log shipper', start: () => shipper?.start(), stop: async () => shipper?.stop(0) },
    named('processes', supervisor, { stopMs: 25_000 }),
    {
      name: 'screen',
      start(signal: AbortSignal) {
        if (flags.demo) screen = showScreen(supervisor, paths, signal);
      },
      stop: async () => screen,
    },
  ];
  await runServices(
    services,
    asked.signal,
    () => undefined,
    (sentence) => log.error(sentence),
  );
  if (again) beginAnew();
}

/** Numbers by name, as the tests give them. */
function numbersIn(json = '{}'): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(recordOf(parseJson(json))).map(([name, n]) => [name, Number(n)]));
}

/** What this machine has for the node, or its control group, MiB. */
function memoryHere(): number {
  const limit = process.constrainedMemory();
  return Math.min(totalmem(), limit === 0 ? Number.POSITIVE_INFINITY : limit) / 2 ** 20;
}

/** Replaces the program and keeps the process id for systemd and the terminal. */
function beginAnew(): void {
  const args = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.execve?.(process.execPath, args, process.env);
}

/** The message for a person at the terminal when a process of the demo node has ended by itself. */
function complain(supervisor: Supervisor, name: string, state: string): void {
  const status = supervisor.child(name)?.status();
  const last = status?.last_words.at(-1) ?? 'no last words';
  process.stderr.write(`${name} ended (${status?.last_exit ?? 'unknown'}) and is ${state}: ${last}\n`);
}

try {
  await run();
  process.exit(0);
} catch (error) {
  process.stderr.write(`svc cannot start: ${messageOf(error)}\n`);
  process.exit(1);
}
