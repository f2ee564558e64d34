/** svc-mcp: the composition root of the connector. The only file of it that reads env and argv. */

import { messageOf } from '../shared/errors.ts';
import { memberOf } from '../shared/member.ts';
import { operatorFiles } from '../shared/operator/operator-files.ts';
import { createLogger, type Logger } from '../shared/process/logger.ts';
import { named, runServices, type Service } from '../shared/process/services.ts';
import { VERSION } from '../shared/version.ts';
import { ConnectorAudit } from './audit/audit.ts';
import { type Authenticator, BearerAuth, MachineAuth } from './authenticate.ts';
import { Denial } from './denial.ts';
import { isSimulated } from './gate/flight-safety.ts';
import type { NodeClient } from './planes/node-client.ts';
import { openPlane } from './planes/open-plane.ts';
import { LanPlane, type Plane } from './planes/plane.ts';
import { sideBySide } from './planes/side-by-side.ts';
import { ownPrincipal, type Principal, readToken, SOCKET, STDIO } from './principal.ts';
import { fleetOf, Serving } from './serving.ts';
import { readSettings, type Settings, USAGE, UsageError } from './settings.ts';
import type { HttpFace } from './transports/http.ts';
import { stdioService } from './transports/stdio.ts';

const steady = (): number => performance.now();

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
  if (settings.resource !== null) {
    await servePeople(settings, env, log);
    return 0;
  }
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
  if (settings.sim) await provesSimulated(plane, launched, log);
  const audit = new ConnectorAudit(settings.auditPath, log, Date.now);
  const faces: HttpFace[] = [];
  const confirm = async (principal: Principal): Promise<void> => bearer.confirm(principal);
  const serving = new Serving({
    settings,
    operator: operatorFiles(env),
    plane,
    launched,
    confirm,
    audit,
    faces,
    log,
  });
  const { deps } = serving;
  const transport =
    settings.transport === 'auto' ? (process.stdin.isTTY ? 'http' : 'stdio') : settings.transport;
  const asked = new AbortController();
  const end = (): void => asked.abort();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, end);
  const open = async (): Promise<readonly Service[]> => {
    if (transport === 'stdio') return [stdioService(deps, launched ?? STDIO, log, end)];
    const { advertiserService, healthOf, httpService, socketService } = await import(
      './transports/services.ts'
    );
    const principal = fleet?.session.principal ?? SOCKET;
    const unix = socketService(settings, deps, plane, log, faces, transport === 'unix', principal);
    if (transport === 'unix') return [unix];
    const advertised = settings.mdns && settings.target === 'agent';
    const health = healthOf(settings, plane, audit);
    return [
      httpService({ settings, depsOf: () => deps, bearer, health, audit, log, faces }),
      unix,
      ...(advertised ? [advertiserService(settings, plane, log)] : []),
    ];
  };
  const discovery = async (): Promise<readonly Service[]> => {
    if (!settings.discover || !(plane instanceof LanPlane)) return [];
    const { discoveryService } = await import('./planes/discovery.ts');
    const admits = async (node: NodeClient): Promise<boolean> =>
      !settings.sim || (await saysSimulated(node, launched, log));
    return [discoveryService(settings, plane, admits, serving.onNodes, log)];
  };
  await runUntil(
    [named('audit', audit), ...serving.services, ...(await discovery()), ...(await open())],
    asked.signal,
    log,
  );
}

/** Serves people who sign in at the provider of a hub, each by themselves. */
async function servePeople(settings: Settings, env: NodeJS.ProcessEnv, log: Logger): Promise<void> {
  const [{ openPeople }, { httpService }] = await Promise.all([
    import('./people.ts'),
    import('./transports/services.ts'),
  ]);
  const audit = new ConnectorAudit(settings.auditPath, log, Date.now);
  const faces: HttpFace[] = [];
  const people = await openPeople({ settings, operator: operatorFiles(env), audit, faces, now: steady, log });
  if (settings.verify) {
    process.stdout.write(
      `✓ The hub takes tokens of ${people.metadata.authorization_servers[0]} for ${people.metadata.resource}\n`,
    );
    return;
  }
  const asked = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => asked.abort());
  const { depsOf, health, metadata } = people;
  const http = httpService({ settings, depsOf, bearer: people, health, metadata, audit, log, faces });
  await runUntil([named('audit', audit), named('people', people), http], asked.signal, log);
}

async function runUntil(services: readonly Service[], signal: AbortSignal, log: Logger): Promise<void> {
  await runServices(
    services,
    signal,
    () => undefined,
    (sentence) => log.error(sentence),
  );
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
