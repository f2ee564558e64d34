/** svc-link: the composition root of the link. The only file of it that reads env and argv. */
import { mkdir } from 'node:fs/promises';
import { configInForce } from '../../shared/config/in-force.ts';
import { endpointName, ownEndpointOf, ownHosts } from '../../shared/config/own-endpoint.ts';
import type { Config } from '../../shared/config/schema.ts';
import { messageOf } from '../../shared/errors.ts';
import { parseOperatorPlace } from '../../shared/flight/remote-id.ts';
import { type Paths, pathsFrom } from '../../shared/paths.ts';
import { type Init, keepArmed, type Program, runProcess } from '../../shared/process/child.ts';
import { createLogger, type Logger } from '../../shared/process/logger.ts';
import { named } from '../../shared/process/services.ts';
import { RADIO_PORTS, readActiveSlot } from '../../shared/radio-slots.ts';
import { serverOf } from '../../shared/rpc/contract.ts';
import { LINK } from '../../shared/rpc/link.ts';
import type { LinkProblem } from '../../shared/rpc/link-state.ts';
import {
  type MavlinkEndpoint,
  parseMavlinkEndpoint,
  parseMavlinkSource,
  parseRtkSource,
  type RtkSource,
  started,
} from '../../shared/schemas/addresses.ts';
import { MAX_SLOTS } from '../../shared/schemas/radio-unit.ts';
import { systemClock } from './clock.ts';
import { Encoder } from './encode.ts';
import { FeedEndpoint } from './endpoints/feed-endpoint.ts';
import { openEndpoint } from './endpoints/open-endpoint.ts';
import { Link } from './link.ts';
import { LogStore } from './logs/log-store.ts';
import { MetadataStore } from './params/metadata-store.ts';
import { ParamStore } from './params/param-store.ts';
import type { LinkOptions } from './parts.ts';
import { KeyStore } from './signing/key-store.ts';
import { NoTransport } from './sources/no-transport.ts';
import { openSource } from './sources/open-source.ts';
import { linkState } from './state.ts';
import { TlogStore } from './tlog/tlog-store.ts';
import { ChosenFile } from './vehicle/chosen-file.ts';
import { GuardFile } from './vehicle/guard-file.ts';

/** Where a ground station's radio hands over what comes from slot 0 (docs/contract/ground.md). */
const RADIO_PORT = Number(process.env['SVC_RADIO_MAVLINK_PORT'] ?? RADIO_PORTS.mavlink);

/** A ground station has no flight controller on a serial port. */
function fromRadio({ agent, mavlink }: Config): boolean {
  return agent.profile === 'ground-station' && mavlink.source === 'auto';
}

/**
 * The address behind `mavlink.source`: for `auto` on a ground station, and for the supervisor's simulator; null while a ground
 * station has no active drone.
 */
async function sourceOf(config: Config, paths: Paths, log: Logger): Promise<string | null> {
  const { source } = config.mavlink;
  if (source === 'sim') return `tcp:127.0.0.1:${process.env['SVC_SIM_PORT'] ?? ''}`;
  if (!fromRadio(config)) return source;
  const slot = await readActiveSlot(paths.activeDrone, (sentence) => log.error(sentence));
  return slot === null ? null : `udp:0.0.0.0:${RADIO_PORT + slot}`;
}

/** Where wfb-ng on a drone takes MAVLink for the ground station, and sends what comes from there. */
const TO_RADIO = {
  kind: 'udpout',
  host: '127.0.0.1',
  port: 14_560,
  force: false,
  clientId: undefined,
} as const;

/** The endpoints of the config, and on a drone with a radio the radio. */
function endpointsOf({ agent, mavlink, radio }: Config): readonly MavlinkEndpoint[] {
  const configured = mavlink.endpoints.map((text) =>
    started('mavlink.endpoints', text, parseMavlinkEndpoint),
  );
  const present = configured.some((each) => endpointName(each) === endpointName(TO_RADIO));
  const has = agent.profile === 'drone' && radio.mode !== 'off';
  return has && !present ? [...configured, TO_RADIO] : configured;
}

/** Loaded only where there are corrections. */
async function rtkOf(source: RtkSource, config: Config): Promise<Pick<LinkOptions, 'corrections'>> {
  if (source.kind === 'off') return {};
  const { correctionsOf } = await import('./corrections/open-corrections.ts');
  return { corrections: await correctionsOf(source, config) };
}

async function build(log: Logger, { wasArmed = false, armedSystems = [] }: Init): Promise<Program> {
  const paths = pathsFrom(process.env);
  const clock = systemClock();
  const inForce = await configInForce(paths, 'svc-link', log);
  const { config } = inForce;
  const probe = new Encoder();
  const active = await sourceOf(config, paths, log);
  const source = active ?? config.mavlink.source;
  const from = active === null ? null : started('mavlink.source', active, parseMavlinkSource);
  const configured = endpointsOf(config);
  const itself = from === null ? null : ownEndpointOf(from, configured, ownHosts());
  const corrections = started('rtk.source', config.rtk.source, parseRtkSource);
  const transport =
    from !== null && itself === null
      ? openSource(from, {
          clock,
          log,
          dev: process.env['SVC_DEV_DIR'] ?? '/dev',
          sys: process.env['SVC_SYS_DIR'] ?? '/sys',
          except: corrections.kind === 'serial' ? corrections.path : null,
          heartbeat: () => probe.heartbeat(),
        })
      : new NoTransport();
  const refused: LinkProblem[] = [];
  if (itself !== null) {
    const detail = `mavlink.source ${source} is this node's own endpoint ${endpointName(itself)}, and is not opened. Give the source the address of the flight controller, or the endpoint another port.`;
    refused.push({ code: 'source_is_own_endpoint', detail });
    log.error(detail);
  }
  if (from === null)
    refused.push({
      code: 'no_active_drone',
      detail: 'No drone is selected. Select one: svc gs drones --use DEVICE.',
    });
  await mkdir(paths.run, { recursive: true, mode: 0o755 });
  const keys = new KeyStore(paths.signingDir, log);
  const chosen = new ChosenFile(paths.chosenVehicle, source, log);
  const { system } = config.mavlink;
  const link = new Link({
    clock,
    log,
    transport,
    source,
    store: new ParamStore(paths.paramsDir, log),
    logStore: new LogStore(paths.flightLogs),
    metadataStore: new MetadataStore(paths.componentMetadata),
    keys,
    tlog: { store: new TlogStore(paths.tlogs, config.tlog.max_mb), when: config.tlog.when },
    remoteId: {
      operatorId: config.remote_id.operator_id,
      selfId: config.remote_id.self_id,
      classification: config.remote_id.classification,
      place: parseOperatorPlace(config.remote_id.operator_place),
    },
    ...(await rtkOf(corrections, config)),
    signEndpoints: config.mavlink.sign_endpoints,
    heartbeat: config.mavlink.heartbeat,
    system: typeof system === 'number' ? system : null,
    formerVehicle: await chosen.load(),
    onVehicle: (vehicle) => chosen.keep(vehicle),
    maxGotoM: config.flight.max_goto_m,
    problems: refused,
    endpoints: () => [...endpoints, feed].map(({ status }) => status),
    wasArmed,
    armedSystems,
    onArmedMemory: keepArmed,
    onState: (state) => server.tell('state', state),
    onProgress: (progress) => server.tell('progress', progress),
    onCameraRequest: (request) => server.tell('camera', request),
  });
  const { serial_control: serialControl } = config.mavlink;
  const { router, vehicle, guard, systems } = link.parts;
  const addresses = configured.filter((address) => {
    // On a ground station the vehicle uses the port that a drone has for ground stations.
    const taken = from?.kind === 'udp' && address.kind === 'udp' && from.port === address.port;
    if (taken) log.info(`no ground stations on UDP ${address.port}: it is the source`);
    // Another drone's frames come there, which must not reach the active one as a ground station's.
    const ofRadio =
      fromRadio(config) &&
      address.kind === 'udp' &&
      address.port >= RADIO_PORT &&
      address.port < RADIO_PORT + MAX_SLOTS;
    if (ofRadio && !taken) log.warn(`no ground stations on UDP ${address.port}: it is the radio's`);
    return !taken && !ofRadio;
  });
  const endpoints = addresses.map((address) => {
    const policy = { mayWrite: true, force: address.force, serialControl, clientId: address.clientId };
    return openEndpoint(address, { clock, log, router, policy });
  });
  const feed = new FeedEndpoint({
    path: paths.mavlinkSocket,
    clock,
    log,
    router,
    serialControl,
    vehicle: () => vehicle.target,
  });
  const server = serverOf(LINK, {
    path: paths.linkSocket,
    handlers: link.parts.methods,
    greeting: () => [['state', linkState(link.parts)]],
    onError: (error) => log.warn(`rpc: ${messageOf(error)}`),
  });
  const services = [
    { name: 'signing keys', start: async () => keys.load() },
    named('rpc', server),
    named('link', link),
    named('armed state', new GuardFile({ path: paths.linkGuard, clock, guard, systems, log })),
    named('feed', feed),
    ...endpoints.map((endpoint) => named(endpoint.status.name, endpoint)),
  ];
  return { services, info: () => ({ source }), config: inForce };
}

const log = createLogger('svc-link', process.env['SVC_LOG_LEVEL']);
await runProcess(log, async (init) => build(log, init));
