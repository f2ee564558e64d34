import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/process/logger.ts';
import type { CameraRequest } from '../../shared/rpc/camera.ts';
import type { Handlers } from '../../shared/rpc/contract.ts';
import type { LINK } from '../../shared/rpc/link.ts';
import type { WorkProgress } from '../../shared/rpc/link-answers.ts';
import type { EndpointStatus, LinkProblem, LinkState } from '../../shared/rpc/link-state.ts';
import { Asking } from './asking.ts';
import { Calibration } from './calibration/calibration.ts';
import { Camera } from './camera/camera.ts';
import type { Clock } from './clock.ts';
import { openOrders } from './commands/open.ts';
import { Refusals } from './commands/refusals.ts';
import { takesOffIn } from './commands/takeoff.ts';
import { noCorrections } from './corrections/no-corrections.ts';
import type { OpenCorrections } from './corrections/open-corrections.ts';
import { Encoder } from './encode.ts';
import { endpointStatuses } from './endpoints/statuses.ts';
import { Events } from './events/events.ts';
import { Exchange } from './exchange.ts';
import { FtpClient } from './ftp/ftp-client.ts';
import { Inspector } from './inspector/inspector.ts';
import { FlightLogs } from './logs/flight-logs.ts';
import type { LogStore } from './logs/log-store.ts';
import { ComponentMetadata } from './metadata/component-metadata.ts';
import { Missions } from './missions/missions.ts';
import type { MetadataStore } from './params/metadata-store.ts';
import { openParams } from './params/open.ts';
import type { ParamStore } from './params/param-store.ts';
import type { Part } from './part.ts';
import { RemoteId, type RemoteIdOptions } from './remote-id/remote-id.ts';
import { LoopGuard } from './router/loop-guard.ts';
import { SameId } from './router/same-id.ts';
import { openRouting } from './routing.ts';
import type { KeyStore } from './signing/key-store.ts';
import { Signing } from './signing/signing.ts';
import { Intake } from './sources/intake.ts';
import { OldProtocol } from './sources/old-protocol.ts';
import { Outlet } from './sources/outlet.ts';
import type { Transport } from './sources/transport.ts';
import type { Speaking } from './speaking.ts';
import { Tlog } from './tlog/tlog.ts';
import type { TlogStore } from './tlog/tlog-store.ts';
import { type ArmedMemory, Arming } from './vehicle/arming.ts';
import { Choice, type KeptVehicle } from './vehicle/choice.ts';
import { ExtensionAdditions } from './vehicle/extension-additions.ts';
import { Guard } from './vehicle/guard.ts';
import { keptVehicle } from './vehicle/kept-vehicle.ts';
import { Prearm } from './vehicle/prearm.ts';
import { SimulatedEvidence } from './vehicle/simulated.ts';
import { StateFeed } from './vehicle/state-feed.ts';
import { StatusLog } from './vehicle/status-log.ts';
import { StatusTexts } from './vehicle/status-texts.ts';
import { Streams } from './vehicle/streams.ts';
import { Systems } from './vehicle/systems.ts';
import { Vehicle } from './vehicle/vehicle.ts';
import { Warnings } from './vehicle/warnings.ts';

/** MAV_COMP_ID_MISSIONPLANNER, as which ground stations speak. */
const GROUND_STATION_COMPONENT = 190;

export interface LinkOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly transport: Transport;
  /** The configured source as text, for LinkState. */
  readonly source: string;
  /** Where parameters are kept on disk; null: nowhere. */
  readonly store: ParamStore | null;
  /** Where the vehicle's descriptions of its parameters are kept; absent: they are not asked for. */
  readonly metadataStore?: MetadataStore;
  /** Where logs of the vehicle are kept; absent: none are fetched. */
  readonly logStore?: LogStore;
  /** Signing keys on disk, loaded; absent: they are kept nowhere. */
  readonly keys?: KeyStore;
  /** Whether frames of endpoints are signed with the vehicle's key (`mavlink.sign_endpoints`); else they are refused. */
  readonly signEndpoints?: boolean;
  /** Whether endpoints get the node's own heartbeat (`mavlink.heartbeat`); absent: auto. */
  readonly heartbeat?: 'auto' | 'on' | 'off';
  /** How far away a place may be that a command goes to, m (`flight.max_goto_m`); absent or 0: any distance. */
  readonly maxGotoM?: number;
  /** Where telemetry logs are written; absent: nowhere. */
  readonly tlog?: { readonly store: Pick<TlogStore, 'create'>; readonly when: 'armed' | 'always' | 'off' };
  /** What Remote ID says of the operator; absent: nothing. */
  readonly remoteId?: RemoteIdOptions;
  /** Absent: there are none. */
  readonly corrections?: OpenCorrections;
  /** Where ground stations reach the vehicle, the front's WebSockets last; absent: nowhere. */
  readonly endpoints?: () => readonly EndpointStatus[];
  /** What is wrong with the source's address. */
  readonly problems?: readonly LinkProblem[];
  /** The process before this one ended within 5 s of an armed vehicle. */
  readonly wasArmed?: boolean;
  /** As `ArmingOptions.armedSystems`. */
  readonly armedSystems?: readonly number[];
  /** As `ArmingOptions.onMemory`. */
  readonly onArmedMemory?: (memory: ArmedMemory) => void;
  /** The system that the configuration names (`mavlink.system`); null or absent: the first that is heard. */
  readonly system?: number | null;
  /** The vehicle that was chosen before this process began. */
  readonly formerVehicle?: KeptVehicle | null;
  /** Gets the chosen vehicle whenever what is kept of it has changed. */
  readonly onVehicle?: (vehicle: KeptVehicle) => void;
  /** Gets each LinkState at the rates of the protocol. */
  readonly onState: (state: LinkState) => void;
  /** Gets how far the long work of a call is. */
  readonly onProgress?: (progress: WorkProgress) => void;
  /** Gets what ground stations want of the camera. */
  readonly onCameraRequest?: (request: CameraRequest) => void;
}

export type Parts = ReturnType<typeof openParts>;

/** The parts of svc-link, each made of those above it; `list` has their order in time. */
export function openParts(options: LinkOptions) {
  const { clock, log, transport, source, store } = options;
  const { wasArmed = false, armedSystems = [], system = null, formerVehicle = null } = options;
  const { signEndpoints = true, logStore = null, metadataStore = null } = options;
  const {
    onArmedMemory = ignore,
    onCameraRequest = ignore,
    onVehicle = ignore,
    onProgress = ignore,
  } = options;
  const encoder = new Encoder();
  // Encoders of their own, because ground stations count gaps in the sequence numbers.
  const replies = new Encoder();
  const cameraEncoder = new Encoder();
  const sticks = new Encoder(GROUND_STATION_COMPONENT);
  const encoders = [encoder, replies, cameraEncoder];
  const feed = new StateFeed(clock, options.onState);
  const onChange = (): void => feed.importantChanged();
  const onSlightChange = (): void => feed.telemetryChanged();
  const arming = new Arming({ clock, wasArmed, armedSystems, onMemory: onArmedMemory, onChange });
  const guard = new Guard(arming);
  const lastWord = (each: number): boolean => arming.lastWord(each);
  const choice = new Choice({ clock, system, former: formerVehicle, lastWord });
  const vehicle = new Vehicle(clock, choice);
  for (const each of encoders) each.system = choice.chosen?.system ?? each.system;
  const loops = new LoopGuard(clock);
  const tlog = new Tlog({
    clock,
    log,
    armed: () => guard.state(vehicle.target?.system ?? null),
    ...(options.tlog ?? { store: null, when: 'off' }),
  });
  const oldProtocol = new OldProtocol(clock, () => vehicle.known?.system ?? null);
  const onLeft = (bytes: Buffer): void => tlog.left(bytes);
  const { send, leave } = new Outlet({ transport, arming, loops, oldProtocol, onLeft });
  const exchange = new Exchange(clock, send, () => encoder.system);
  const asking = new Asking({ clock, baud: () => transport.baud, send });
  const speaking: Speaking = { clock, log, vehicle, guard, encoder, send, ask: asking.ask, exchange };

  const texts = new StatusTexts(clock);
  const evidence = new SimulatedEvidence(vehicle.messages);
  const refusals = new Refusals(clock);
  const remoteId = new RemoteId(
    { ...speaking, autopilot: () => vehicle.target },
    options.remoteId ?? { operatorId: '', selfId: '', classification: 'undeclared', place: null },
  );
  const streams = new Streams({
    ...speaking,
    onError: (error) => log.error(`stream request: ${messageOf(error)}`),
  });
  const ftp = new FtpClient(speaking);
  const metadata = new ComponentMetadata({ ...speaking, ftp, isBusy: () => params.progress.priming });
  // Also for parameters from the disk, once the vehicle has confirmed that they are unchanged.
  const onKnown = (name: string): void => evidence.parameter(name);
  const params = openParams({ ...speaking, store, ftp, metadata, metadataStore, onKnown });
  const calibration = new Calibration({ ...speaking, refusals });
  const onCalibration: Calibration['onEvent'] = (words, args) => calibration.onEvent(words, args);
  const events = new Events({ ...speaking, metadata, texts, onCalibration });
  const prearm = new Prearm({
    clock,
    vehicle,
    checks: () => events.checks,
    harmless: () => events.harmless,
    param: (name) => params.valueOf(name),
    remoteId: () => remoteId.problem,
    takesOffIn: () => takesOffIn(vehicle, (name) => params.valueOf(name)),
  });
  const logs = new FlightLogs({ ...speaking, store: logStore });
  const missions = new Missions({
    ...speaking,
    listen: () => refusals.listen(),
    onProgress,
    checkReach: async (part, items) => reach.checkAll(part, items, true),
    checkModes: (items, manual) => stickRule.demandItems(items, manual),
  });
  const { reach, stickRule, commands, offboard, manual, commander, orders } = openOrders({
    ...speaking,
    sticks,
    maxM: options.maxGotoM ?? 0,
    refusals,
    prearm,
    params,
    fence: missions.held('fence'),
    mission: missions.held('mission'),
  });
  const signing = new Signing({
    ...speaking,
    replies: [replies, cameraEncoder, sticks],
    params,
    keys: options.keys ?? null,
    onEnrolled: () => {
      streams.onSession();
      params.download(false);
    },
  });
  const routed = { source, replies, signEndpoints, loops, arming, params, commands, reach, stickRule, leave };
  const { router, routing } = openRouting({ ...speaking, ...routed, parts: () => list });
  const telemetry = (): Vehicle['telemetry'] => vehicle.telemetry;
  const camera = new Camera({
    clock,
    encoder: cameraEncoder,
    signer: () => encoder.signer,
    signEndpoints,
    router,
    vehicle: () => vehicle.target,
    telemetry,
    ask: onCameraRequest,
  });
  const corrected = {
    send: (flags: number, data: Buffer) => send(encoder.gpsRtcmData(flags, data)),
    baud: () => transport.baud,
  };
  const corrections = options.corrections?.({ clock, log, vehicle: corrected, telemetry }) ?? noCorrections;
  const endpoints = endpointStatuses(options.endpoints ?? none);
  const inspector = new Inspector(clock, () => vehicle.family);
  const systems = new Systems(clock, vehicle);
  const extensions = new ExtensionAdditions(clock, onSlightChange);
  const sameId = new SameId(
    clock,
    () => encoder.system,
    (command) => exchange.othersCommand(command),
  );
  vehicle.messages.on('ack', (ack) => exchange.onAck(ack));
  vehicle.messages.on('param', onSlightChange);

  /** In this order they are started, ticked, told and stopped, and their problems are told; where that matters it is said. */
  const list: readonly Part[] = [
    { problems: () => options.problems ?? [] },
    endpoints,
    inspector, // also has the frame on which the vehicle's model fails
    texts,
    systems,
    routing,
    sameId,
    oldProtocol,
    arming,
    signing, // has dropped another vehicle's key, and read the frame of whom it knew, before the vehicle's model and whoever sends
    asking, // has dropped old questions before new ones are asked
    streams,
    vehicle, // the frame that tells of an arming is the first of the tlog, so that is below
    keptVehicle(choice, arming, onVehicle),
    evidence,
    new StatusLog(clock, log),
    prearm,
    refusals,
    params,
    ftp,
    metadata,
    events,
    logs,
    missions,
    orders,
    stickRule,
    offboard,
    manual,
    tlog,
    remoteId,
    new Warnings(log, telemetry),
    calibration,
    camera,
    corrections,
    extensions,
    exchange, // those above have ended what they asked of it
    // The state has what all have made of it.
    { onHeartbeat: onChange, onTelemetry: onSlightChange, onLine: onSlightChange },
  ];
  /** Each method has the part that answers it. */
  const methods = {
    ...endpoints.methods,
    ...inspector.methods,
    ...systems.methods,
    ...routing.methods,
    ...signing.methods,
    ...params.methods,
    ...logs.methods,
    ...missions.methods,
    ...orders.methods,
    ...remoteId.methods,
    ...calibration.methods,
    ...camera.methods,
    ...corrections.methods,
    ...extensions.methods,
  } satisfies Handlers<typeof LINK>;
  return {
    ...speaking,
    transport,
    source,
    encoders,
    replies,
    feed,
    intake: new Intake({ clock, router, arming, vehicle, oldProtocol, feed, transport }),
    router,
    camera,
    evidence,
    texts,
    metadata,
    params,
    prearm,
    calibration,
    offboard,
    manual,
    commander,
    systems,
    extensions,
    tlog,
    list,
    methods,
  };
}

const ignore = (): void => undefined;
const none = (): readonly never[] => [];
