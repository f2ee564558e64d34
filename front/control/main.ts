/** svc-control: the composition root of the front. The only file of the front that reads env and argv. */
import { mkdir } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { dirname, extname, join } from 'node:path';
import { parseArgs } from 'node:util';
import type { WebSocket } from 'ws';
import type { PrincipalKind } from '../../shared/auth/principal.ts';
import { connectionProof } from '../../shared/auth/principal-mark.ts';
import { detectBoard } from '../../shared/board.ts';
import { enabledFeatures } from '../../shared/config/features.ts';
import { configInForce } from '../../shared/config/in-force.ts';
import { setConfigKey } from '../../shared/config/write.ts';
import { ApiError, messageOf } from '../../shared/errors.ts';
import { sweepTemporary } from '../../shared/files/atomic-write.ts';
import { cardFiles } from '../../shared/first-boot/card-file.ts';
import { hostLabel } from '../../shared/first-boot/host-label.ts';
import { listSerialPorts } from '../../shared/flight/serial-ports.ts';
import { telemetryOf } from '../../shared/flight/telemetry-body.ts';
import { bootTime } from '../../shared/operator/boot-clock.ts';
import { pathsFrom } from '../../shared/paths.ts';
import { type Init, type Program, runProcess } from '../../shared/process/child.ts';
import { createLogger, type Logger } from '../../shared/process/logger.ts';
import { named } from '../../shared/process/services.ts';
import type { Handler, SocketHandler } from '../../shared/routes/handler.ts';
import { openApiDocument } from '../../shared/routes/openapi.ts';
import type { Row } from '../../shared/routes/row.ts';
import { servedFeatures } from '../../shared/routes/served.ts';
import { compileTable, type FrontRow, ROWS } from '../../shared/routes/table.ts';
import { videoStatusRow } from '../../shared/routes/video.ts';
import { clientOf } from '../../shared/rpc/contract.ts';
import { helperAt } from '../../shared/rpc/helper-client.ts';
import { MAX_SLOTS } from '../../shared/rpc/radio-unit.ts';
import { SUPERVISOR } from '../../shared/rpc/supervisor.ts';
import { VERSION } from '../../shared/version.ts';
import { Credentials } from './credentials.ts';
import { allowedOrigins } from './edge/cors.ts';
import type { EdgeState } from './edge/decision.ts';
import { createOnBoxRule } from './edge/on-box.ts';
import { Origins } from './edge/origins.ts';
import { OwnNames } from './edge/own-names.ts';
import { PeerBudgets } from './edge/rate.ts';
import { mayHaveReadTicket } from './edge/read-ticket-right.ts';
import { rowValidator } from './edge/row-validator.ts';
import { FirstBoot } from './first-boot/first-boot.ts';
import { Enrolment } from './fleet/enrolment.ts';
import { FleetNode } from './fleet/fleet-node.ts';
import { listed } from './fleet/node-status.ts';
import { ResidualProxy } from './forward/residual-proxy.ts';
import { ActiveDrone } from './ground/active-drone.ts';
import { FactoryReset } from './ground/factory-reset.ts';
import { GroundRole } from './ground/ground-role.ts';
import { GroundUi } from './ground/ground-ui.ts';
import { configHandlers } from './native/config.ts';
import { type CoreDeps, coreHandlers, statusOf } from './native/core.ts';
import { dashboardHandlers } from './native/dashboard.ts';
import { fleetHandlers } from './native/fleet.ts';
import { flightHandlers } from './native/flight.ts';
import { flightLogHandlers } from './native/flight-logs.ts';
import { groundStationHandlers } from './native/ground-station.ts';
import { mcpHandlers } from './native/mcp.ts';
import { missionHandlers } from './native/missions.ts';
import { identityOf, pairingHandlers } from './native/pairing.ts';
import { pilotHandlers } from './native/pilot.ts';
import { radioHandlers } from './native/radio.ts';
import { radioPairingHandlers } from './native/radio-pairing.ts';
import { networkParts } from './network/network-parts.ts';
import { Advertiser } from './node/advertiser.ts';
import { SystemMonitor } from './node/health.ts';
import { SupportBundle } from './node/support-bundle.ts';
import { ParamMetadata } from './param-metadata/param-metadata.ts';
import { PilotInCommand } from './pilot/pilot-in-command.ts';
import { PrincipalWatch } from './principal-watch.ts';
import { AdaptiveVideo, limitsOf } from './radio/adaptive-video.ts';
import { ChangeFile } from './radio/channel-change/change-file.ts';
import { ChannelChange } from './radio/channel-change/channel-change.ts';
import { DRONE_OVER_HTTP } from './radio/drone-api.ts';
import { stationsOf } from './radio/iw.ts';
import { tunnelAddress } from './radio/managed-wfb.ts';
import { PairStore } from './radio/pair-store.ts';
import { RadioPairing } from './radio/radio-pairing.ts';
import { WfbRadio } from './radio/wfb-radio.ts';
import { Records } from './records.ts';
import { RelayClient } from './relay/relay-client.ts';
import { RelayListener } from './relay/relay-listener.ts';
import { RelayProxy } from './relay/relay-proxy.ts';
import { TunnelPriority } from './relay/tunnel-priority.ts';
import { FrontServer, SERVER_LIMITS } from './server.ts';
import { flightSockets } from './sockets/flight.ts';
import { OpenSockets } from './sockets/open-sockets.ts';
import { pilotSockets } from './sockets/pilot.ts';
import { AuditLog } from './stores/audit.ts';
import { deviceId } from './stores/device-id.ts';
import { KeptPlan } from './stores/kept-plan.ts';
import { PeerLocks } from './stores/peer-locks.ts';
import { VehicleView } from './vehicle-view.ts';

type FrontHandlers = { readonly [R in FrontRow as R['id']]: Handler<R> };

/** The kinds of caller that may set a PIN without the present one. */
const TRUSTED: ReadonlySet<PrincipalKind> = new Set<PrincipalKind>(['local', 'key', 'session', 'onbox']);

/** As this file, so it lies at the same place in a compiled node. */
const BUNDLE_PROGRAM = join(
  import.meta.dirname,
  '../../bin/support-bundle',
  `main${extname(import.meta.filename)}`,
);

const monotonic = (): number => performance.now();
/** How long readiness waits for svc-link, which may be away for longer. */
const READY_MS = 2000;

async function build(init: Init, log: Logger): Promise<Program> {
  const { values } = parseArgs({
    options: {
      'no-residual': { type: 'boolean', default: false },
      // How long requests in flight may take to finish when the node stops.
      'drain-ms': { type: 'string', default: '5000' },
    },
  });
  const drainMs = Number(values['drain-ms']);
  const paths = pathsFrom(process.env);
  const supervisor = clientOf(SUPERVISOR, { path: paths.supervisorSocket });
  const reset = new FactoryReset({
    paths,
    deviceId: () => id,
    restart: async () => supervisor.calls.restart_self({}),
    log,
  });
  await reset.complete();
  const inForce = await configInForce(paths, 'svc-control', log);
  const { config, problem } = inForce;
  await mkdir(paths.run, { recursive: true, mode: 0o755 });
  await sweepTemporary(
    [paths.etc, paths.state, paths.paramsDir, paths.componentMetadata, dirname(paths.updateUpload)],
    Date.now(),
    (sentence) => log.warn(sentence),
  );
  const { profile } = config.agent;
  const withResidual = !values['no-residual'] && (config.features.residual ?? true);

  const { matcher } = compileTable(ROWS);
  const id = await deviceId(paths.deviceId);
  const ground = profile === 'ground-station';
  const radios = new PairStore({ file: paths.radioPairs, keys: paths.radioKeys, log });
  const credentials = new Credentials({
    paths,
    rows: ROWS,
    deviceId: id,
    acceptTokens: config.mcp.token_accept_enabled,
    radios,
    now: Date.now,
    monotonic,
    log,
  });
  const { pairing } = credentials;
  const audit = new AuditLog({
    directory: paths.auditDir,
    keyFile: paths.auditKey,
    heads: paths.auditHeads,
    now: Date.now,
    monotonic,
    log,
    copy: createLogger('audit', 'info'),
  });
  const principalWatch = new PrincipalWatch((principal) => credentials.holds(principal));
  const sockets = new OpenSockets(log, principalWatch);
  const vehicle = new VehicleView(paths.linkSocket, monotonic);
  const pilot = new PilotInCommand({
    now: Date.now,
    armed: () => vehicle.armed,
    principalWatch,
    tell: async (clientId) => vehicle.link.pilot({ client_id: clientId }),
    log,
  });
  const monitor = new SystemMonitor(paths.etc);
  const devDir = process.env['SVC_DEV_DIR'] ?? '/dev';
  const sysDir = process.env['SVC_SYS_DIR'] ?? '/sys';
  const helper = helperAt(paths.helperSocket);
  const radioCards = new Set(config.radio.cards);
  const isRadio = (iface: string): boolean =>
    radioCards.has(iface) ||
    (config.radio.mode === 'managed' && radio.cards.present.some(({ name }) => name === iface));
  const {
    network,
    changes,
    hotspot,
    nmcli,
    handlers: networkHandlers,
  } = networkParts({
    config,
    paths,
    deviceId: id,
    helper,
    sysDir,
    env: process.env,
    paired: () => pairing.paired,
    isRadio,
    log,
  });
  const budgets = new PeerBudgets(monotonic, () => locks.changed());
  const locks = new PeerLocks({ file: paths.peerLocks, now: Date.now, log }, () => budgets.locks());

  const adaptive =
    config.radio.adaptive && profile === 'drone' && config.radio.mode !== 'off'
      ? new AdaptiveVideo({ videoSocket: paths.videoSocket, limits: limitsOf(config), monotonic, log })
      : null;
  const radio = new WfbRadio({
    profile,
    config: config.radio,
    bound: radios,
    otherEnd: {
      silentMs: (device) =>
        ground ? (relayClient?.health(device).silentMs ?? null) : (relayListener?.silentMs ?? null),
      changeProblem: () => channelChange.problem,
    },
    paths,
    helper,
    sysDir,
    adaptive,
    monotonic,
    now: Date.now,
    log,
  });

  const ownNames = new OwnNames({
    names: [
      identityOf(id, config.agent.name).mdns_host,
      `${hostLabel(id, config.agent.name)}.local`,
      ...config.security.api.hosts,
    ],
    interfaces: networkInterfaces,
    now: monotonic,
  });
  const features = enabledFeatures(config);
  const served = servedFeatures(ROWS, { profile, features, residual: withResidual });
  const state: EdgeState = {
    matcher,
    get pairing() {
      return pairing;
    },
    get armed() {
      return vehicle.armed;
    },
    profile,
    features,
    residual: withResidual,
    origins: allowedOrigins(config.security.api),
    hosts: ownNames,
    credentials: credentials.checks,
    validate: rowValidator(ROWS),
    get pilot() {
      return ground ? pilot : null;
    },
    get port() {
      return front.port;
    },
  };

  const radioPairing = new RadioPairing({
    store: radios,
    profile,
    deviceId: id,
    name: config.agent.name,
    drone: DRONE_OVER_HTTP,
    drones: config.radio.mode === 'external' ? 1 : MAX_SLOTS,
    now: Date.now,
    log,
  });
  const activeDrone = new ActiveDrone({
    file: paths.activeDrone,
    radios,
    restart: async (name) => supervisor.calls.restart({ name }),
    log,
  });
  const role = new GroundRole({
    configured: config.agent.role,
    sysDir,
    keep: async (value) => setConfigKey(paths, 'agent.role', value),
  });
  const groundStation = groundStationHandlers({
    radios,
    active: activeDrone,
    role,
    ui: new GroundUi(paths.groundUi),
    reset,
    pilot,
    vehicle,
    monitor,
    version: VERSION,
    nodeStartedAt: init.nodeStartedAt,
    health: (device) => relayClient?.health(device) ?? { silentMs: null, latencyMs: null },
    link: async () => (config.radio.mode === 'off' || radio.problem !== null ? null : radio.status()),
    linkOf: (slot) => radio.links.find((each) => each.slot === slot) ?? null,
    network: async () =>
      network.ground().catch((error: unknown) => {
        log.debug(`network: ${messageOf(error)}`); // its own routes say why
        return null;
      }),
    video: async () => proxy?.ask(videoStatusRow) ?? null,
    residual: async (row, body) => {
      if (proxy === null || !state.features.has('video'))
        throw new ApiError('E_NOT_IMPLEMENTED', undefined, { feature: 'video', profile });
      return proxy.call(row, body);
    },
    now: Date.now,
  });
  const enrolment = new Enrolment({
    paths,
    node: { id, name: identityOf(id, config.agent.name).name, profile, version: VERSION },
    onPolicy: async (jws, of) => fleet.policyCame(jws, of),
    now: Date.now,
    random: Math.random,
    log,
  });
  let openApi: string | null = null;
  const core: CoreDeps = {
    version: VERSION,
    profile,
    nodeStartedAt: init.nodeStartedAt,
    board: await detectBoard(),
    monitor,
    vehicle,
    supervisor,
    helper,
    upload: paths.updateUpload,
    radio,
    residualSocket: withResidual ? paths.residualSocket : null,
    configProblem: problem,
    deviceId: id,
    audit: () => audit.state,
    verifyAudit: async () => audit.verify(),
    served,
    video: async () => proxy?.ask(videoStatusRow) ?? null,
    role: async () => (ground ? (await role.state()).role : null),
    supportBundle: new SupportBundle({
      command: [process.execPath, '--max-old-space-size=128', BUNDLE_PROGRAM],
      env: {
        ...process.env,
        SVC_ETC_DIR: paths.etc,
        SVC_RUN_DIR: paths.run,
        SVC_STATE_DIR: paths.state,
      },
      log,
    }),
    log,
    openApi: () => (openApi ??= JSON.stringify(openApiDocument(ROWS, VERSION))),
  };
  const fleet = new FleetNode({
    socketPath: paths.fleetSocket,
    policyFile: paths.fleetPolicy,
    node: id,
    operators: config.fleet.operators,
    scopes: config.fleet.scopes,
    enrolment,
    status: () => ({
      ...statusOf(core),
      ...listed(vehicle.state?.telemetry ?? null, Date.now()),
      audit_head: audit.proved,
    }),
    telemetry: () => (vehicle.state === null ? null : telemetryOf(vehicle.state)),
    connection: (caller, credential) => front.fleetConnection(caller, credential),
    now: Date.now,
    monotonic,
    log,
  });
  const handlers: FrontHandlers = {
    ...coreHandlers(core),
    ...pairingHandlers({
      store: pairing,
      deviceId: id,
      name: config.agent.name,
      profile,
      version: VERSION,
      requireCode: config.security.pairing.require_code,
    }),
    ...dashboardHandlers({
      pin: credentials.pin,
      sessions: credentials.sessions,
      tickets: credentials.tickets,
      readTickets: credentials.readTickets,
      mayRead: (path, principal) => mayHaveReadTicket(path, principal, state),
      now: Date.now,
      isKey: (headers) => credentials.isKey(headers),
      caller: ({ principal: { kind } }) => ({ trusted: TRUSTED.has(kind), gate: kind === 'gate' }),
    }),
    ...flightHandlers(
      vehicle,
      async () => listSerialPorts(devDir, sysDir),
      new ParamMetadata({ fromVehicles: paths.componentMetadata, fromOperator: paths.paramMetadata, log }),
    ),
    ...flightLogHandlers(vehicle, paths.flightLogs),
    ...missionHandlers(vehicle, new KeptPlan(paths.missionPlan, log)),
    ...mcpHandlers(credentials.tokens),
    ...radioHandlers(radio, { request: async (request) => channelChange.request(request) }),
    ...configHandlers(),
    ...pilotHandlers(pilot),
    ...groundStation,
    ...fleetHandlers({
      enrolment,
      radios,
      profile,
      link: () => fleet.link,
      policySeq: () => fleet.policy.seq,
      restartFleet: async () => supervisor.calls.restart({ name: 'svc-fleet' }),
      log,
    }),
    ...radioPairingHandlers(radioPairing, radios),
    ...networkHandlers,
  };
  // Without a supervisor there is no secret, so nothing can be forwarded.
  const proof = withResidual ? connectionProof(init.secret) : null;
  const proxy =
    proof === null
      ? null
      : new ResidualProxy({ socketPath: paths.residualSocket, proof, now: monotonic, principalWatch, log });
  const { relay_port: relayPort } = config.radio;
  const relayClient = ground
    ? new RelayClient({
        ownId: id,
        radios,
        addressOf: (slot) => ({ host: tunnelAddress(slot, 'drone', config.radio), port: relayPort }),
        onAnswer: (device) => radioPairing.proved(device),
        now: monotonic,
        log,
      })
    : null;
  const channelChange = new ChannelChange({
    radio,
    bound: () => radio.linked,
    relay: relayClient,
    groundSilentMs: () => relayListener?.silentMs ?? null,
    store: new ChangeFile(paths.radioChange),
    revertMs: config.radio.channel_revert_s * 1000,
    log,
  });
  const relay =
    relayClient === null
      ? null
      : new RelayProxy({ client: relayClient, now: monotonic, principalWatch, pilot });
  const front = new FrontServer({
    state,
    budgets,
    // Each handler is typed by its own row, and called only with input that passed the row's schemas.
    handlers: new Map(Object.entries(handlers) as unknown as [string, Handler<Row>][]),
    // As with the handlers: each is typed by its own row.
    socketHandlers: new Map(
      Object.entries({
        ...flightSockets(vehicle, paths.mavlinkSocket, ground ? pilot : null),
        ...pilotSockets(pilot),
      }) as [string, SocketHandler<Row, WebSocket>][],
    ),
    sockets,
    proxy,
    relay,
    origins: new Origins(
      createOnBoxRule({ ownUid: process.getuid?.() ?? 0, group: 'svc', log }),
      SERVER_LIMITS.maxConnections,
    ),
    records: new Records(budgets, audit),
    longestBodyMs: Math.max(...ROWS.map(({ limits }) => limits.bodyMs)),
    spend: (principal, headers) => credentials.spend(principal, headers),
    seen: (principal, ip) => credentials.seen(principal, ip),
    principalWatch,
    drainMs,
    log,
  });

  const relayListener = ground
    ? null
    : new RelayListener({
        host: () => tunnelAddress(radios.list()[0]?.slot ?? 0, 'drone', config.radio),
        port: relayPort,
        radios,
        createServer: (tls, admit) => front.relayServer(tls, admit),
        onAsked: (device) => radioPairing.proved(device),
        now: monotonic,
        log,
      });
  const tunnelPriority = new TunnelPriority({
    addresses: () => radios.list().map(({ slot }) => tunnelAddress(slot, profile, config.radio)),
    kbps: config.radio.tunnel.rate_kbps,
    helper,
    log,
  });
  const { device_id: device, name, mdns_host: host } = identityOf(id, config.agent.name);
  const advertiser = new Advertiser({
    port: () => front.port,
    deviceId: device,
    name,
    host,
    ownHost: `${hostLabel(id, config.agent.name)}.local`,
    profile,
    version: VERSION,
    paired: () => pairing.paired,
    log,
  });

  const firstBoot = new FirstBoot({
    paths,
    files: cardFiles(process.env['SVC_BOOT_FILES']),
    helperSocket: paths.helperSocket,
    deviceId: id,
    host,
    config,
    network,
    hotspot,
    nmcli,
    helper,
    isRadio,
    enabled: config.network.setup_hotspot,
    country: config.radio.region === '00' ? null : config.radio.region,
    port: () => front.port,
    paired: () => pairing.paired,
    guests: stationsOf,
    servesPage: served.includes('setup'),
    interfaces: networkInterfaces,
    armed: () => vehicle.armed,
    bootId: bootTime().boot_id,
    restart: async () => supervisor.calls.restart_self({}),
    now: Date.now,
    monotonic,
    log,
  });

  // Stopped in reverse order: requests in flight still need the services above the server.
  const services = [
    named('audit', audit),
    { name: 'peer locks', start: async () => budgets.restore(await locks.read()), stop: () => locks.stop() },
    named('bound radios', radios),
    named('radio pairing', radioPairing),
    named('credentials', credentials),
    named('enrolment', enrolment),
    named('system monitor', monitor),
    named('vehicle', vehicle),
    named('pilot in command', pilot),
    named('supervisor client', supervisor),
    named('factory reset', reset),
    named('active drone', activeDrone),
    named('proxy', proxy ?? {}),
    named('relay client', relayClient ?? {}),
    named('relay', relay ?? {}),
    named('radio', radio),
    named('change of the channel', channelChange),
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
    named('fleet', fleet),
    named('relay listener', relayListener ?? {}),
    named('tunnel', tunnelPriority),
    named('network changes', changes),
    named('first boot', firstBoot),
    named('open sockets', sockets),
    named('principal watch', principalWatch),
    // Requests are served already, but a ready process should know the vehicle.
    { name: 'first state', start: async (signal: AbortSignal) => vehicle.first(READY_MS, signal) },
    named('mDNS', config.discovery.mdns ? advertiser : {}),
  ];
  return { services, info: () => ({ port: front.port, device_id: id }), config: inForce };
}

const log = createLogger('svc-control', process.env['SVC_LOG_LEVEL']);
await runProcess(log, async (init) => build(init, log));
