/** svc-mcp: the composition root of the connector. The only file of it that reads env and argv. */

import { randomBytes } from 'node:crypto';
import type { Server } from '@modelcontextprotocol/server';
import { every } from '../shared/async/every.ts';
import { messageOf } from '../shared/errors.ts';
import { memberOf } from '../shared/member.ts';
import { operatorFiles } from '../shared/operator/operator-files.ts';
import { createLogger, type Logger } from '../shared/process/logger.ts';
import { named, runServices, type Service } from '../shared/process/services.ts';
import { VERSION } from '../shared/version.ts';
import { ConnectorAudit } from './audit/audit.ts';
import { type Authenticator, BearerAuth, MachineAuth } from './authenticate.ts';
import { Calls } from './calls.ts';
import { Denial } from './denial.ts';
import { FlightSafety, isSimulated } from './gate/flight-safety.ts';
import { Gate } from './gate/gate.ts';
import { NodeSignatures } from './gate/node-signatures.ts';
import { Questions } from './gate/questions.ts';
import { RateLimiter, RESOURCE_RATE, TOOL_RATE } from './gate/rate-limit.ts';
import { WayDown } from './gate/way-down.ts';
import { bytesOfText, Pages } from './pages.ts';
import { Contributions } from './planes/contributions.ts';
import type { FleetPlane } from './planes/fleet-plane.ts';
import type { NodeClient } from './planes/node-client.ts';
import { Offers } from './planes/offers.ts';
import { openPlane } from './planes/open-plane.ts';
import { LanPlane, type Plane } from './planes/plane.ts';
import { sideBySide } from './planes/side-by-side.ts';
import { ownPrincipal, type Principal, readToken, SOCKET, STDIO } from './principal.ts';
import { contributedPrompts, PROMPTS } from './prompts.ts';
import { Resources } from './resources.ts';
import type { ServerDeps } from './server.ts';
import { readSettings, type Settings, USAGE, UsageError } from './settings.ts';
import { compileCatalogue } from './tools/catalogue.ts';
import { contributedTools } from './tools/contributed.ts';
import type { HttpFace } from './transports/http.ts';
import { stdioService } from './transports/stdio.ts';

const steady = (): number => performance.now();
const IDENTITY_MS = 3000;
/** Over a broker, what nobody waits for is asked rarely. */
const FLEET_WATCH_MS = 60_000;
/** And not of every node of a large fleet. */
const FLEET_WATCHED = 200;

const EVERYTHING = { refresh: async (): Promise<void> => Promise.resolve(), has: (): boolean => true };

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
  const plane = await openPlane(settings, env, log);
  if (settings.verify) return printVerify(plane, settings);
  await serve(settings, env, plane, log);
  return 0;
}

async function verifyAudit([verb, ...rest]: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  if (verb !== 'verify') throw new UsageError('svc-mcp audit verify');
  const { auditPath } = readSettings(['--target', 'agent', ...rest], env);
  const { verifyAuditFiles } = await import('./audit/verify.ts');
  const { ok, sentence } = verifyAuditFiles(auditPath);
  process.stdout.write(`${sentence}\n`);
  return ok ? 0 : 1;
}

async function printVerify(plane: Plane, { token }: Settings): Promise<number> {
  const { verifyFleet, verifyPlane } = await import('./verify.ts');
  const fleet = fleetOf(plane);
  let principal: Principal = fleet?.session.principal ?? STDIO;
  if (token !== null && fleet === null) {
    try {
      principal = readToken(token);
    } catch (error) {
      if (!(error instanceof Denial)) throw error;
      process.stdout.write(`✗ Not connected: ${error.message}\n`);
      return 1;
    }
  }
  const carried = fleet === null ? { ok: true, lines: [] } : await verifyFleet(fleet);
  const { ok, lines } = await verifyPlane(plane, principal);
  fleet?.stop();
  process.stdout.write(`${[...carried.lines, ...lines].join('\n')}\n`);
  return ok && carried.ok ? 0 : 1;
}

/** Serves until it is told to stop, or its client disconnects. */
async function serve(settings: Settings, env: NodeJS.ProcessEnv, plane: Plane, log: Logger): Promise<void> {
  const { token } = settings;
  const fleet = fleetOf(plane);
  const bearer: Authenticator =
    fleet === null ? new BearerAuth(plane, steady, Date.now) : new MachineAuth(fleet.session, token ?? '');
  const launched = fleet?.session.principal ?? (token === null ? null : readToken(token));
  const watch = fleet === null ? {} : { watchMs: FLEET_WATCH_MS };
  const watched = (): Plane['nodes'] =>
    fleet === null
      ? plane.nodes
      : fleet.nodes.filter(({ presence }) => presence.online).slice(0, FLEET_WATCHED);
  if (settings.sim) await provesSimulated(plane, launched, log);
  const audit = new ConnectorAudit(settings.auditPath, log, Date.now);
  const faces: HttpFace[] = [];
  const connected = new Set<Server>();
  const onChange = (): void => {
    for (const face of faces) face.notify('tools');
    for (const server of connected)
      server.sendToolListChanged().catch((error: unknown) => log.debug(messageOf(error))); // the client is disconnecting
  };
  const flight = new FlightSafety({
    declared: settings.flightEnforced,
    simulator: settings.sim,
    launched,
    onChange,
    ...watch,
    now: steady,
    log,
  });
  const wayDown = new WayDown({ launched, now: steady });
  let contributed = contributedTools([]);
  const contributions = new Contributions({
    nodes: watched,
    ...watch,
    launched,
    onChange: () => {
      contributed = contributedTools(contributions.all);
      onChange();
      for (const face of faces) for (const what of ['resources', 'prompts'] as const) face.notify(what);
      for (const server of connected)
        for (const told of [server.sendResourceListChanged(), server.sendPromptListChanged()])
          told.catch((error: unknown) => log.debug(messageOf(error))); // as above
    },
    log,
  });
  // A fleet has nodes of every kind, and a question to each of them before every list is too much.
  const offers =
    fleet === null
      ? new Offers({ nodes: () => plane.nodes, launched, onChange, now: steady, log })
      : EVERYTHING;
  const calls = new Calls({
    catalogue: compileCatalogue(),
    contributed: () => contributed,
    plane,
    gate: new Gate({
      operator: operatorFiles(env),
      flight,
      wayDown,
      signatures: new NodeSignatures(),
      now: steady,
      log,
    }),
    rate: new RateLimiter(TOOL_RATE, steady),
    audit,
    confirm: async (principal) => bearer.confirm(principal),
    toolsets: settings.toolsets,
    showsFlight: () => flight.shown,
    pages: new Pages(steady),
    onChange,
    offers,
  });
  const resources = new Resources({
    plane,
    contributed: () => contributions.all,
    rate: new RateLimiter(RESOURCE_RATE, steady),
    pages: new Pages(steady, bytesOfText),
    audit,
    log,
    confirm: async (principal) => bearer.confirm(principal),
    listeners: () => faces.flatMap(({ listeners }) => listeners),
  });
  const deps: ServerDeps = {
    calls,
    plane,
    resources,
    prompts: () => [...PROMPTS, ...contributedPrompts(contributions.all)],
    connected,
    stateKey: randomBytes(32),
    questions: new Questions(),
  };
  const transport =
    settings.transport === 'auto' ? (process.stdin.isTTY ? 'http' : 'stdio') : settings.transport;

  // One more or less may decide whether the tools ask for the node.
  const onNodes = (): void => {
    onChange();
    for (const face of faces) face.notify('resources');
    for (const server of connected)
      server.sendResourceListChanged().catch((error: unknown) => log.debug(messageOf(error))); // as above
  };
  const asked = new AbortController();
  const end = (): void => asked.abort();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, end);
  const open = async (): Promise<readonly Service[]> => {
    if (transport === 'stdio') return [stdioService(deps, launched ?? STDIO, log, end)];
    const { advertiserService, httpService, socketService } = await import('./transports/services.ts');
    const principal = fleet?.session.principal ?? SOCKET;
    const unix = socketService(settings, deps, plane, log, faces, transport === 'unix', principal);
    if (transport === 'unix') return [unix];
    const advertised = settings.mdns && settings.target === 'agent';
    return [
      httpService(settings, deps, plane, bearer, audit, log, faces),
      unix,
      ...(advertised ? [advertiserService(settings, plane, log)] : []),
    ];
  };
  const discovery = async (): Promise<readonly Service[]> => {
    if (!settings.discover || !(plane instanceof LanPlane)) return [];
    const { discoveryService } = await import('./planes/discovery.ts');
    const admits = async (node: NodeClient): Promise<boolean> =>
      !settings.sim || (await saysSimulated(node, launched, log));
    return [discoveryService(settings, plane, admits, onNodes, log)];
  };
  await runServices(
    [
      named('audit', audit),
      named('resources', resources),
      fleet === null ? identityService(plane, onNodes) : named('fleet', started(fleet, onNodes)),
      ...(offers instanceof Offers ? [named('offers', offers)] : []),
      named('extensions', contributions),
      { name: 'flight', start: () => flight.start(watched), stop: () => flight.stop() },
      { name: 'way down', start: () => wayDown.start(), stop: () => wayDown.stop() },
      ...(await discovery()),
      ...(await open()),
    ],
    asked.signal,
    () => undefined,
    (sentence) => log.error(sentence),
  );
}

function fleetOf(plane: Plane): FleetPlane | null {
  return plane.mode === 'fleet' ? (plane as FleetPlane) : null;
}

/** --sim applies to every target; a target that does not answer counts as no simulator. */
async function provesSimulated(plane: Plane, launched: Principal | null, log: Logger): Promise<void> {
  await sideBySide(plane.nodes, async (node) => {
    if (!(await saysSimulated(node, launched, log)))
      throw new UsageError(
        `--sim: ${node.target.id} does not say that its flight controller is a simulator. Start without --sim.`,
      );
  });
}

async function saysSimulated(node: NodeClient, launched: Principal | null, log: Logger): Promise<boolean> {
  return isSimulated(node, ownPrincipal(node.target.key, launched)).catch((error: unknown) => {
    log.error(`${node.target.id}: ${messageOf(error)}`);
    return false;
  });
}

/** The connection to the fleet, which was opened before, tells of nodes and ends with the connector. */
function started(fleet: FleetPlane, onNodes: () => void): Pick<Service, 'start' | 'stop'> {
  return {
    start: () => {
      fleet.onChange = onNodes;
    },
    stop: () => fleet.stop(),
  };
}

/** Asks the nodes who they are: one that was away at the start has not said so yet, and names change. */
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

try {
  process.exitCode = await run(process.argv.slice(2), process.env);
  process.stdout.write('', () => process.exit());
} catch (error) {
  // A port that is taken or a folder that cannot be written is no fault of the program.
  const usage =
    error instanceof UsageError || error instanceof Denial || typeof memberOf(error, 'syscall') === 'string';
  process.stderr.write(
    `${JSON.stringify({ level: 'fatal', service: 'svc-mcp', msg: messageOf(error), ...(usage ? {} : { stack: error instanceof Error ? error.stack : undefined }) })}\n`,
  );
  process.exit(1);
}
