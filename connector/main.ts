/** svc-mcp: the composition root of the connector. The only file of it that reads env and argv. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { Bonjour } from 'bonjour-service';
import { every } from '../shared/async/every.ts';
import { messageOf } from '../shared/errors.ts';
import { operatorFiles } from '../shared/operator/operator-files.ts';
import { createLogger, type Logger } from '../shared/process/logger.ts';
import { named, runServices, type Service } from '../shared/process/services.ts';
import { listenUnix } from '../shared/rpc/socket-file.ts';
import { VERSION } from '../shared/version.ts';
import { ConnectorAudit } from './audit/audit.ts';
import { verifyAuditFiles } from './audit/verify.ts';
import { BearerAuth } from './authenticate.ts';
import { Calls } from './calls.ts';
import { Denial } from './denial.ts';
import { FlightSafety, isSimulated } from './gate/flight-safety.ts';
import { Gate } from './gate/gate.ts';
import { Questions } from './gate/questions.ts';
import { RateLimiter, RESOURCE_RATE, TOOL_RATE } from './gate/rate-limit.ts';
import { adopt, browse, ownerId } from './planes/discovery.ts';
import { openPlane } from './planes/open-plane.ts';
import type { Plane } from './planes/plane.ts';
import { ownPrincipal, type Principal, readToken, SOCKET, STDIO } from './principal.ts';
import { Resources } from './resources.ts';
import { buildServer, type ServerDeps } from './server.ts';
import { readSettings, type Settings, USAGE, UsageError } from './settings.ts';
import { compileCatalogue } from './tools/catalogue.ts';
import { HttpFace, type HttpOptions } from './transports/http.ts';
import { verifyPlane } from './verify.ts';

const steady = (): number => performance.now();
const HEALTH_CACHE_MS = 5000;
const IDENTITY_MS = 3000;

async function run(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  if (argv.includes('--help') || argv.length === 0) {
    process.stdout.write(USAGE);
    return argv.length === 0 ? 1 : 0;
  }
  if (argv.includes('--version')) {
    process.stdout.write(`${VERSION}\n`);
    return 0;
  }
  if (argv[0] === 'audit') return verifyAudit(argv.slice(1), env);
  const settings = readSettings(argv, env);
  const log = createLogger('svc-mcp', settings.logLevel);
  if (settings.discover && !settings.verify)
    await adopt(await browse(), settings.place ?? settings.fleetFile, await ownerId(settings.owner), log);
  const plane = await openPlane(settings, env, log);
  const bearer = new BearerAuth(plane, Date.now);
  if (settings.verify) return printVerify(plane, settings);
  await serve(settings, env, plane, bearer, log);
  return 0;
}

function verifyAudit([verb, ...rest]: readonly string[], env: NodeJS.ProcessEnv): number {
  if (verb !== 'verify') throw new UsageError('svc-mcp audit verify');
  const { auditPath } = readSettings(['--target', 'agent', ...rest], env);
  const { ok, sentence } = verifyAuditFiles(auditPath);
  process.stdout.write(`${sentence}\n`);
  return ok ? 0 : 1;
}

async function printVerify(plane: Plane, { token }: Settings): Promise<number> {
  let principal: Principal = STDIO;
  if (token !== null) {
    try {
      principal = readToken(token, Date.now());
    } catch (error) {
      if (!(error instanceof Denial)) throw error;
      process.stdout.write(`✗ Not connected: ${error.message}\n`);
      return 1;
    }
  }
  const { ok, lines } = await verifyPlane(plane, principal);
  process.stdout.write(`${lines.join('\n')}\n`);
  return ok ? 0 : 1;
}

/** Serves until it is told to stop, or its client disconnects. */
async function serve(
  settings: Settings,
  env: NodeJS.ProcessEnv,
  plane: Plane,
  bearer: BearerAuth,
  log: Logger,
): Promise<void> {
  const launched = settings.token === null ? null : readToken(settings.token, Date.now());
  if (settings.sim) await provesSimulated(plane, launched, log);
  const audit = new ConnectorAudit(settings.auditPath, log, Date.now);
  const faces: HttpFace[] = [];
  const connected = new Set<Server>();
  const flight = new FlightSafety({
    declared: settings.flightEnforced,
    simulator: settings.sim,
    launched,
    onChange: () => {
      for (const face of faces) face.notify('tools');
      for (const server of connected)
        server.sendToolListChanged().catch((error: unknown) => log.debug(messageOf(error))); // the client is disconnecting
    },
    now: steady,
    log,
  });
  const calls = new Calls({
    catalogue: compileCatalogue(),
    plane,
    gate: new Gate({ operator: operatorFiles(env), flight, log }),
    rate: new RateLimiter(TOOL_RATE, steady),
    audit,
    confirm: async (principal) => bearer.confirm(principal),
    showsFlight: () => flight.shown,
  });
  const resources = new Resources({
    plane,
    rate: new RateLimiter(RESOURCE_RATE, steady),
    audit,
    log,
    confirm: async (principal) => bearer.confirm(principal),
    listeners: () => faces.flatMap(({ listeners }) => listeners),
  });
  const deps: ServerDeps = {
    calls,
    plane,
    resources,
    connected,
    stateKey: randomBytes(32),
    questions: new Questions(),
  };
  const transport =
    settings.transport === 'auto' ? (process.stdin.isTTY ? 'http' : 'stdio') : settings.transport;

  const asked = new AbortController();
  const end = (): void => asked.abort();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, end);
  const unix = (): Service => socketService(settings, deps, plane, log, faces, transport === 'unix');
  const services: Record<typeof transport, () => readonly Service[]> = {
    stdio: () => [stdioService(deps, launched ?? STDIO, log, end)],
    http: () => [
      httpService(settings, deps, plane, bearer, audit, log, faces),
      unix(),
      ...(settings.mdns && settings.target === 'agent' ? [advertiserService(settings, plane, log)] : []),
    ],
    unix: () => [unix()],
  };
  await runServices(
    [
      named('audit', audit),
      named('resources', resources),
      identityService(plane, () => {
        for (const face of faces) face.notify('resources');
        for (const server of connected)
          server.sendResourceListChanged().catch((error: unknown) => log.debug(messageOf(error))); // as above
      }),
      { name: 'flight', start: () => flight.start(plane.nodes), stop: () => flight.stop() },
      ...services[transport](),
    ],
    asked.signal,
    () => undefined,
    (sentence) => log.error(sentence),
  );
}

/** --sim applies to every target; a target that does not answer counts as no simulator. */
async function provesSimulated(plane: Plane, launched: Principal | null, log: Logger): Promise<void> {
  for (const node of plane.nodes) {
    const simulated = await isSimulated(node, ownPrincipal(node.target.key, launched)).catch(
      (error: unknown) => {
        log.error(`${node.target.id}: ${messageOf(error)}`);
        return false;
      },
    );
    if (!simulated)
      throw new UsageError(
        `--sim: ${node.target.id} does not say that its flight controller is a simulator. Start without --sim.`,
      );
  }
}

/** Asks a node that was away at the start who it is, until it says so. */
function identityService(plane: Plane, onLearned: () => void): Service {
  let timer: NodeJS.Timeout | null = null;
  return {
    name: 'identity',
    start() {
      timer = every(IDENTITY_MS, 'identity', async () => {
        if (await plane.learn()) onLearned();
      });
      timer.unref();
    },
    stop() {
      if (timer !== null) clearInterval(timer);
    },
  };
}

/** One client, over this process's own input and output; when it is gone, so is the connector. */
function stdioService(deps: ServerDeps, principal: Principal, log: Logger, end: () => void): Service {
  let handle: ReturnType<typeof serveStdio> | null = null;
  return {
    name: 'stdio',
    start() {
      handle = serveStdio(() => buildServer(deps, 'stdio', principal), {
        onerror: (error) => log.debug(messageOf(error)),
      });
      process.stdin.once('end', end);
      process.stdin.once('close', end);
    },
    stop: async () => handle?.close(),
  };
}

function httpService(
  settings: Settings,
  deps: ServerDeps,
  plane: Plane,
  bearer: BearerAuth,
  audit: ConnectorAudit,
  log: Logger,
  faces: HttpFace[],
): Service {
  const hosts = new Set([
    'localhost',
    '127.0.0.1',
    '::1',
    settings.httpHost,
    hostname().toLowerCase(),
    `${hostname().toLowerCase()}.local`,
  ]);
  const face = new HttpFace({
    deps,
    transport: 'http',
    authenticate: async (req) => bearer.authenticate(req),
    hosts,
    health: healthOf(settings, plane, audit),
    onRefused: (req, denial) => {
      audit.write({
        tokenId: 'none',
        operatorId: 'none',
        tool: 'authenticate',
        args: { peer: req.socket.remoteAddress ?? 'unknown' },
        node: '*',
        decision: 'denied',
        confirmedBy: null,
        result: `${denial.reason}: ${denial.message}`,
        latencyMs: 0,
        mcpSession: '-',
        plane: 'http',
      });
    },
    now: steady,
    log,
  });
  return {
    name: 'http',
    async start() {
      face.server.listen(settings.httpPort, settings.httpHost);
      await once(face.server, 'listening');
      const address = face.server.address();
      const port = typeof address === 'object' && address !== null ? address.port : settings.httpPort;
      log.info(`listening on http://${settings.httpHost}:${port}/mcp`);
      faces.push(face);
      face.start();
    },
    stop: async () => face.stop(),
  };
}

/** @param alone whether nothing else serves; beside HTTP it may be missing */
function socketService(
  settings: Settings,
  deps: ServerDeps,
  plane: Plane,
  log: Logger,
  faces: HttpFace[],
  alone: boolean,
): Service {
  const options: HttpOptions = {
    deps,
    transport: 'unix',
    authenticate: async () => Promise.resolve(SOCKET),
    hosts: null,
    health: async () => Promise.resolve({ ok: plane.nodes.length > 0 }),
    onRefused: () => undefined,
    now: steady,
    log,
  };
  const face = new HttpFace(options);
  const path = join(settings.runDir, 'mcp.sock');
  return {
    name: 'socket',
    async start() {
      try {
        await listenUnix(face.server, path);
      } catch (error) {
        if (alone) throw error;
        log.warn(`no Unix socket: ${messageOf(error)}`);
        return;
      }
      log.info(`listening on ${path}`);
      faces.push(face);
      face.start();
    },
    stop: async () => face.stop(),
  };
}

function advertiserService({ httpPort }: Settings, plane: Plane, log: Logger): Service {
  let bonjour: Bonjour | null = null;
  return {
    name: 'mDNS',
    start() {
      bonjour = new Bonjour({}, (error: unknown) => log.warn(`mDNS: ${messageOf(error)}`));
      const [node] = plane.nodes;
      bonjour.publish({
        name: `svc-mcp ${node?.target.name ?? hostname()}`,
        type: 'svc-mcp',
        protocol: 'tcp',
        port: httpPort,
        txt: {
          version: VERSION,
          device_id: node?.target.id ?? '',
          name: node?.target.name ?? '',
          profile: plane.mode,
        },
      });
    },
    stop: async () =>
      new Promise<void>((resolve) => {
        bonjour?.unpublishAll(() => bonjour?.destroy(() => resolve()));
        if (bonjour === null) resolve();
      }),
  };
}

function healthOf(settings: Settings, plane: Plane, audit: ConnectorAudit): HttpOptions['health'] {
  let known: { at: number; answering: number } | null = null;
  return async () => {
    if (known === null || steady() - known.at > HEALTH_CACHE_MS) {
      const answers = await Promise.all(
        plane.nodes.map(async (node) =>
          node.json({ method: 'GET', path: '/healthz', timeoutMs: 2000 }, STDIO).then(
            () => 1,
            () => 0, // not reachable
          ),
        ),
      );
      known = { at: steady(), answering: answers.reduce<number>((sum, each) => sum + each, 0) };
    }
    const problem = audit.problem();
    return {
      ok: known.answering > 0 && problem === null,
      version: VERSION,
      mode: settings.target,
      nodes: plane.nodes.length,
      answering: known.answering,
      audit: problem === null,
    };
  };
}

try {
  process.exitCode = await run(process.argv.slice(2), process.env);
  process.stdout.write('', () => process.exit());
} catch (error) {
  const usage = error instanceof UsageError || error instanceof Denial;
  process.stderr.write(
    `${JSON.stringify({ level: 'fatal', service: 'svc-mcp', msg: messageOf(error), ...(usage ? {} : { stack: (error as Error).stack }) })}\n`,
  );
  process.exit(1);
}
