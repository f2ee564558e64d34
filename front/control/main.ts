/** svc-control: the composition root of the front. The only file of the front that reads env and argv. */
import { parseArgs } from 'node:util';
import { connectionProof } from '../../shared/auth/principal-mark.ts';
import { ApiError } from '../../shared/errors.ts';
import { SERVER_LIMITS } from '../../shared/http/edge/server.ts';
import { pathsFrom } from '../../shared/paths.ts';
import { type Init, type Program, runProcess } from '../../shared/process/child.ts';
import { createLogger, type Logger } from '../../shared/process/logger.ts';
import { named } from '../../shared/process/services.ts';
import { type Handler, handlerMap, socketHandlerMap } from '../../shared/routes/handler.ts';
import { servedFeatures } from '../../shared/routes/served.ts';
import { type FrontRow, ROWS } from '../../shared/routes/table.ts';
import { videoStatusRow } from '../../shared/routes/video.ts';
import { clientOf } from '../../shared/rpc/contract.ts';
import { SUPERVISOR } from '../../shared/rpc/supervisor.ts';
import { createOnBoxRule } from './edge/on-box.ts';
import { Origins } from './edge/origins.ts';
import { edgeState } from './edge-state.ts';
import { openFleet } from './fleet/open-fleet.ts';
import { ResidualProxy } from './forward/residual-proxy.ts';
import { FactoryReset } from './ground/factory-reset.ts';
import { openGround } from './ground/open-ground.ts';
import { Records } from './middleware/records.ts';
import { openAccess } from './native/open-access.ts';
import { openCore } from './native/open-core.ts';
import { openFlight } from './native/open-flight.ts';
import { openNetwork } from './network/open-network.ts';
import { openAdvertiser } from './node/advertiser.ts';
import { openBase } from './node/base.ts';
import { tellSetup } from './node/tell-setup.ts';
import { openPilot } from './pilot/open-pilot.ts';
import { openRadio } from './radio/open-radio.ts';
import { PairStore } from './radio/pair-store.ts';
import { FrontServer } from './server.ts';
import { flightSockets } from './sockets/flight.ts';
import { OpenSockets } from './sockets/open-sockets.ts';
import { openTls } from './tls/open-tls.ts';

type FrontHandlers = { readonly [R in FrontRow as R['id']]: Handler<R> };

/** How long readiness waits for svc-link, which may be away for longer. */
const READY_MS = 2000;

async function build({ secret, nodeStartedAt }: Init, log: Logger): Promise<Program> {
  const { values } = parseArgs({
    options: {
      'no-residual': { type: 'boolean', default: false },
      // How long requests in flight may take to finish when the node stops.
      'drain-ms': { type: 'string', default: '5000' },
    },
  });
  const drainMs = Number(values['drain-ms']);
  const paths = pathsFrom(process.env);
  let hung: readonly string[] = [];
  const supervisor = clientOf(SUPERVISOR, {
    path: paths.supervisorSocket,
    listeners: {
      services: (services) => {
        hung = services.filter(({ hangs }) => hangs).map(({ name }) => name);
      },
    },
  });
  const reset = new FactoryReset({ paths, restart: async () => supervisor.calls.restart_self({}), log });
  await reset.complete();
  const base = await openBase({ env: process.env, paths, supervisor, log });
  const { config, profile, isGround, identity, vehicle, monitor, monotonic } = base;

  const radios = new PairStore({ file: paths.radioPairs, keys: paths.radioKeys, log });
  const access = openAccess(base, radios);
  const { credentials, principalWatch, budgets, audit, paired } = access;
  const { pilot, ...flying } = openPilot(base, principalWatch);
  const residual = !values['no-residual'] && config.features.residual;
  // Without a supervisor there is no secret, so nothing can be forwarded.
  const proof = residual ? connectionProof(secret) : null;
  const proxy =
    proof === null
      ? null
      : new ResidualProxy({ socketPath: paths.residualSocket, proof, now: monotonic, principalWatch, log });
  const video = async () => proxy?.ask(videoStatusRow) ?? null;
  // The server is made of the handlers, so it comes last; nothing asks for its port before it listens.
  const port = (): number => front.port;
  const https = openTls(base, {
    paired,
    listen: async (tlsPort, context) => front.listenTls(config.api.host, tlsPort, context),
  });
  const { tls } = https;
  const state = edgeState(base, { credentials, pilot, residual, port, tlsPort: () => tls.port });
  const served = servedFeatures(ROWS, state);

  const network = openNetwork(base, {
    port,
    paired,
    radioCards: () => radio.interfaces(),
    hub: () => fleet.hub(),
    onUplink: (uplink) => fleet.fleet.uplinkIs(uplink),
  });
  const radio = openRadio(base, {
    radios,
    iw: network.iw,
    principalWatch,
    pilot,
    relayServer: (context, admit) => front.relayServer(context, admit),
  });
  const ground = openGround(base, {
    radios,
    reset,
    pilot,
    nodeStartedAt,
    health: (device) => radio.client?.health(device) ?? { silentMs: null, latencyMs: null },
    link: async () => radio.status(),
    linkOf: (slot) => radio.radio.links.find((each) => each.slot === slot) ?? null,
    network: network.ground,
    video,
    residual: async (row, body) => {
      if (proxy === null || !state.features.has('video'))
        throw new ApiError('E_NOT_IMPLEMENTED', undefined, { feature: 'video', profile });
      return proxy.call(row, body);
    },
  });
  const core = await openCore(base, {
    nodeStartedAt,
    radio: radio.radio,
    residualSocket: residual ? paths.residualSocket : null,
    stateProblems: () => [
      ...base.problems,
      ...access.problems(),
      ...(radios.problem === null ? [] : [radios.problem]),
    ],
    hung: () => hung,
    audit: () => audit.state,
    verifyAudit: async () => audit.verify(),
    served,
    video,
    role: ground.role,
  });
  const fleet = openFleet(base, {
    radios,
    otherEnd: radio.otherEnd,
    status: () => ({ ...core.status(), audit_head: audit.proved }),
    connection: (caller, credential) => front.fleetConnection(caller, credential),
  });
  access.credentials.fleetHolds = (id) => fleet.fleet.holds(id);
  const handlers: FrontHandlers = {
    ...core.handlers,
    ...access.handlers(state, {
      pin: () => ({ port: tls.port, authority_sha256: tls.fingerprint }),
      look: async () => tls.look(),
    }),
    ...https.handlers,
    ...openFlight(base),
    ...flying.handlers,
    ...radio.handlers,
    ...network.handlers,
    ...ground.handlers,
    ...fleet.handlers,
  };
  const sockets = new OpenSockets(log, principalWatch);
  const front = new FrontServer({
    state,
    budgets,
    handlers: handlerMap(handlers),
    socketHandlers: socketHandlerMap({
      ...flightSockets(vehicle, paths.mavlinkSocket, isGround ? pilot : null),
      ...flying.sockets,
    }),
    sockets,
    proxy,
    relay: radio.proxy,
    origins: new Origins(
      createOnBoxRule({ ownUid: process.getuid?.() ?? 0, group: 'svc', log }),
      SERVER_LIMITS.maxConnections,
      config.api.trusted_proxies,
    ),
    records: new Records(budgets, audit, () => credentials.ended.written()),
    longestBodyMs: Math.max(...ROWS.map(({ limits }) => limits.bodyMs)),
    spend: (principal, headers) => credentials.spend(principal, headers),
    seen: (principal, ip) => credentials.seen(principal, ip),
    principalWatch,
    drainMs,
    log,
  });

  // Stopped in reverse order: requests in flight still need the services above the server.
  const services = [
    ...access.services,
    named('enrolment', fleet.enrolment),
    named('system monitor', monitor),
    named('vehicle', vehicle),
    named('pilot in command', pilot),
    named('supervisor client', supervisor),
    named('factory reset', reset),
    ...radio.services,
    named('active drone', ground.active),
    named('proxy', proxy ?? {}),
    {
      name: 'server',
      async start() {
        await front.listenTcp(config.api.host, config.api.port);
        await front.listenUnix(paths.controlSocket);
        log.info(`listening on port ${front.port}`, { port: front.port });
      },
      stop: () => front.stop(),
      stopMs: drainMs + 1000,
    },
    named('HTTPS', tls),
    named('fleet', fleet.fleet),
    named('hub turn', fleet.turn),
    ...radio.doors,
    named('svc-machine', network.service),
    named('set-up', {
      start: () => tellSetup({ identity, port, paired, hasPage: served.includes('setup'), log }),
    }),
    named('open sockets', sockets),
    named('principal watch', principalWatch),
    // Requests are served already, but a ready process should know the vehicle.
    { name: 'first state', start: async (signal: AbortSignal) => vehicle.first(READY_MS, signal) },
    named('mDNS', config.discovery.mdns ? openAdvertiser(base, { port, paired, tls }) : {}),
  ];
  return {
    services,
    info: () => ({ port: front.port, device_id: identity.device_id }),
    config: base.inForce,
  };
}

const log = createLogger('svc-control', process.env['SVC_LOG_LEVEL']);
await runProcess(log, async (init) => build(init, log));
