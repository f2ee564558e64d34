import { messageOf } from '../../shared/errors.ts';
import { MSG } from '../../shared/mavlink/messages.ts';
import type { Logger } from '../../shared/process/logger.ts';
import type { CameraRequest } from '../../shared/rpc/camera.ts';
import type { MissionList, WorkProgress } from '../../shared/rpc/link-answers.ts';
import type { LinkProblem, LinkState } from '../../shared/rpc/link-state.ts';
import { Asking } from './asking.ts';
import { Calibration } from './calibration/calibration.ts';
import type { Clock } from './clock.ts';
import { Commander } from './commands/commander.ts';
import { Commands } from './commands/commands.ts';
import { Manual } from './commands/manual.ts';
import { Offboard } from './commands/offboard.ts';
import { ReachCheck } from './commands/reach-check.ts';
import { Refusals } from './commands/refusals.ts';
import type { Corrections } from './corrections/corrections.ts';
import type { OpenCorrections } from './corrections/open-corrections.ts';
import { Encoder } from './encode.ts';
import { Events } from './events/events.ts';
import { Exchange } from './exchange.ts';
import { FtpClient } from './ftp/ftp-client.ts';
import { Inspector } from './inspector/inspector.ts';
import { FlightLogs } from './logs/flight-logs.ts';
import type { LogStore } from './logs/log-store.ts';
import { ComponentMetadata } from './metadata/component-metadata.ts';
import { Missions } from './missions/missions.ts';
import type { MetadataStore } from './params/metadata-store.ts';
import { paramEncoding } from './params/param-encoding.ts';
import type { ParamStore } from './params/param-store.ts';
import { Params } from './params/params.ts';
import { RemoteId, type RemoteIdOptions } from './remote-id/remote-id.ts';
import { LoopGuard } from './router/loop-guard.ts';
import { PilotWatch } from './router/pilot-watch.ts';
import { SameId } from './router/same-id.ts';
import { openRouting } from './routing.ts';
import type { KeyStore } from './signing/key-store.ts';
import { Signing } from './signing/signing.ts';
import { Intake } from './sources/intake.ts';
import { OldProtocol } from './sources/old-protocol.ts';
import { Outlet } from './sources/outlet.ts';
import type { Transport } from './sources/transport.ts';
import { Tlog } from './tlog/tlog.ts';
import type { TlogStore } from './tlog/tlog-store.ts';
import { type ArmedMemory, Arming } from './vehicle/arming.ts';
import { Choice, type KeptVehicle } from './vehicle/choice.ts';
import { ExtensionAdditions } from './vehicle/extension-additions.ts';
import { Guard } from './vehicle/guard.ts';
import { Prearm } from './vehicle/prearm.ts';
import { SimulatedEvidence } from './vehicle/simulated.ts';
import { StateFeed } from './vehicle/state-feed.ts';
import { StatusLog } from './vehicle/status-log.ts';
import { StatusTexts } from './vehicle/status-texts.ts';
import { Streams } from './vehicle/streams.ts';
import { Systems } from './vehicle/systems.ts';
import { Vehicle } from './vehicle/vehicle.ts';
import { Warnings } from './vehicle/warnings.ts';

/** MAV_CMD */
const REQUEST_MESSAGE = 512;
/** MAV_COMP_ID_MISSIONPLANNER, as which ground stations speak. */
const GROUND_STATION_COMPONENT = 190;
const ASK_VERSION = [MSG.AUTOPILOT_VERSION, 0, 0, 0, 0, 0, 0] as const;

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
  /** Problems besides the link itself: the source's address, endpoints. */
  readonly problems?: () => readonly LinkProblem[];
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

/** The parts of svc-link, each made of those above it. What they hear of the vehicle stands in session.ts. */
export function openParts(options: LinkOptions) {
  const {
    clock,
    log,
    transport,
    source,
    store,
    wasArmed = false,
    armedSystems = [],
    problems = none,
  } = options;
  const { signEndpoints = true, onArmedMemory = ignore, onCameraRequest = ignore } = options;
  const { system = null, formerVehicle = null, onVehicle = ignore } = options;
  const encoder = new Encoder();
  // Encoders of their own, because ground stations count gaps in the sequence numbers.
  const replies = new Encoder();
  const cameraEncoder = new Encoder();
  const sticks = new Encoder(GROUND_STATION_COMPONENT);
  const feed = new StateFeed(clock, options.onState);
  const onChange = (): void => feed.importantChanged();
  const arming = new Arming({ clock, wasArmed, armedSystems, onMemory: onArmedMemory, onChange });
  const guard = new Guard(arming);
  const choice = new Choice({
    clock,
    system,
    former: formerVehicle,
    lastWord: (each) => arming.lastWord(each),
  });
  const vehicle = new Vehicle(clock, choice);
  const systems = new Systems(clock);
  if (choice.chosen !== null)
    for (const each of [encoder, replies, cameraEncoder]) each.system = choice.chosen.system;
  const loops = new LoopGuard(clock);
  const tlog = new Tlog({
    clock,
    log,
    armed: () => guard.state(vehicle.target?.system ?? null),
    ...(options.tlog ?? { store: null, when: 'off' }),
  });
  const oldProtocol = new OldProtocol(clock);
  const onLeft = (bytes: Buffer): void => tlog.left(bytes);
  const { send, leave } = new Outlet({ transport, arming, loops, oldProtocol, onLeft });
  const exchange = new Exchange(clock, send, () => encoder.system);
  const asking = new Asking({ clock, baud: () => transport.baud, send });
  const sameId = new SameId(clock, () => encoder.system);
  const speaking = { clock, log, vehicle, guard, encoder, send, ask: asking.ask, exchange };

  const remoteId = new RemoteId(
    { ...speaking, autopilot: () => vehicle.target },
    options.remoteId ?? { operatorId: '', selfId: '', classification: 'undeclared', place: null },
  );
  const known = openKnowledge(speaking, remoteId, options);
  const { params, streams, missions } = known;
  const orders = openOrders(speaking, known, sticks, options.maxGotoM ?? 0);
  const signing = new Signing({
    ...speaking,
    replies: [replies, cameraEncoder, sticks],
    params,
    keys: options.keys ?? null,
    onEnrolled: () => {
      streams.request();
      params.download(false);
    },
  });
  const pilot = new PilotWatch(clock);
  const inspector = new Inspector(clock);
  const { commands, reach } = orders;
  const { router, camera } = openRouting({
    clock,
    log,
    inspector,
    tlog,
    remoteId,
    encoder,
    replies,
    cameraEncoder,
    signEndpoints,
    loops,
    pilot,
    arming,
    guard,
    systems,
    sameId,
    oldProtocol,
    exchange,
    signing,
    vehicle,
    params,
    missions,
    commands,
    reach,
    leave,
    onCameraRequest,
  });
  return {
    ...speaking,
    asking,
    ...known,
    ...orders,
    transport,
    source,
    store,
    problems,
    replies,
    feed,
    signing,
    pilot,
    inspector,
    tlog,
    systems,
    sameId,
    oldProtocol,
    keepChosen: keeper(choice, arming, onVehicle),
    remoteId,
    router,
    camera,
    corrections: openCorrections(speaking, transport, options.corrections),
    encoders: [encoder, replies, cameraEncoder],
    extensions: new ExtensionAdditions(clock),
    intake: new Intake({ clock, router, arming, vehicle, oldProtocol, feed, transport }),
  };
}

/** Tells of the chosen vehicle when what is to be kept of it has changed. */
function keeper(choice: Choice, arming: Arming, onVehicle: (vehicle: KeptVehicle) => void): () => void {
  let told = '';
  return () => {
    const { chosen } = choice;
    if (chosen === null) return;
    const kept = { ...chosen, armed: arming.lastWord(chosen.system) };
    const text = JSON.stringify(kept);
    if (text === told) return;
    told = text;
    onVehicle(kept);
  };
}

/** What every part has that speaks with the vehicle. */
interface Speaking {
  readonly clock: Clock;
  readonly log: Logger;
  readonly vehicle: Vehicle;
  readonly guard: Guard;
  readonly encoder: Encoder;
  /** @returns false when the bytes were dropped */
  readonly send: (bytes: Buffer) => boolean;
  /** Sends what the node asks on its own account (asking.ts). */
  readonly ask: (bytes: Buffer) => void;
  readonly exchange: Exchange;
}

/** What is known of the vehicle, or asked of it. */
function openKnowledge(speaking: Speaking, remoteId: RemoteId, options: LinkOptions) {
  const { clock, log, vehicle, encoder, ask } = speaking;
  const { store, logStore, metadataStore = null, onProgress = ignore } = options;
  const texts = new StatusTexts(clock);
  const evidence = new SimulatedEvidence();
  const onError = (error: unknown): void => {
    log.error(`stream request: ${messageOf(error)}`);
  };
  const ftp = new FtpClient(speaking);
  const metadata = new ComponentMetadata({ ...speaking, ftp });
  const params = new Params({
    ...speaking,
    store,
    ftp,
    metadata,
    metadataStore,
    encoding: () => paramEncoding(vehicle.capabilities, vehicle.firmware),
    identify: () => {
      const { target } = vehicle;
      if (target !== null) ask(encoder.commandLong(target, REQUEST_MESSAGE, ASK_VERSION, 0));
    },
    // Also for parameters from the disk, once the vehicle has confirmed that they are unchanged.
    onKnown: (name) => evidence.parameter(name),
  });
  const refusals = new Refusals(clock);
  const calibration = new Calibration({ ...speaking, refusals });
  const onCalibration: Calibration['onEvent'] = (words, args) => calibration.onEvent(words, args);
  const events = new Events({ ...speaking, metadata, texts, onCalibration });
  const param = (name: string): number | null => params.valueOf(name);
  return {
    texts,
    evidence,
    ftp,
    metadata,
    params,
    refusals,
    calibration,
    events,
    statusLog: new StatusLog(clock, log),
    warnings: new Warnings(log),
    streams: new Streams({ ...speaking, onError }),
    prearm: new Prearm({
      clock,
      vehicle,
      checks: () => events.checks,
      harmless: () => events.harmless,
      param,
      remoteId: () => remoteId.problem,
    }),
    missions: new Missions({ ...speaking, listen: () => listenTo(refusals), onProgress }),
    logs: logStore === undefined ? null : new FlightLogs({ ...speaking, store: logStore }),
  };
}

/** The vehicle's warnings from now on. */
function listenTo(refusals: Refusals): { readonly said: () => readonly string[]; readonly end: () => void } {
  const watch = refusals.watch();
  return { said: () => watch.reasons(false).all, end: () => watch.end() };
}

/**
 * What makes the vehicle move.
 * @param sticks encodes as a ground station
 * @param maxM how far away a place may be, m; 0: any distance
 */
function openOrders(
  speaking: Speaking,
  known: ReturnType<typeof openKnowledge>,
  sticks: Encoder,
  maxM: number,
) {
  const { log } = speaking;
  const { refusals, prearm, params, missions } = known;
  const read = async (part: 'mission' | 'fence'): Promise<MissionList['items']> =>
    (await missions.read({ part, refresh: false, token: '' })).items;
  const fence = { kept: () => missions.kept('fence'), read: async () => read('fence') };
  const held = { kept: () => missions.kept('mission'), read: async () => read('mission') };
  const param = (name: string): number | null => params.valueOf(name);
  const reach = new ReachCheck({ ...speaking, maxM, param, fence, mission: held });
  const mission = async (): Promise<MissionList['items']> => read('mission');
  const commands = new Commands({ ...speaking, refusals, prearm, params, mission, reach });
  const offboard = new Offboard({
    ...speaking,
    reach,
    killing: () => commands.killing,
    loiter: () => {
      commands.loiter().catch((error: unknown) => log.warn(`holding after set-points: ${messageOf(error)}`));
    },
  });
  const manual = new Manual({
    ...speaking,
    encoder: sticks,
    killing: () => commands.killing,
    param: (name) => params.valueOf(name),
  });
  return { reach, commands, offboard, manual, commander: new Commander(speaking.clock) };
}

function openCorrections(
  { clock, log, vehicle, encoder, send }: Speaking,
  transport: Transport,
  open: OpenCorrections | undefined,
): Corrections | null {
  if (open === undefined) return null;
  return open({
    clock,
    log,
    vehicle: {
      send: (flags, data) => send(encoder.gpsRtcmData(flags, data)),
      baud: () => transport.baud,
    },
    telemetry: () => vehicle.telemetry,
  });
}

const ignore = (): void => undefined;
const none = (): readonly LinkProblem[] => [];
