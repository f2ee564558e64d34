import { ApiError, messageOf } from '../../shared/errors.ts';
import type { Frame } from '../../shared/mavlink/frame.ts';
import { MSG } from '../../shared/mavlink/messages.ts';
import type { Logger } from '../../shared/process/logger.ts';
import type { CameraRequest } from '../../shared/rpc/camera.ts';
import type {
  CommandRequest,
  ParamWriteRequest,
  SetPointRequest,
  SigningEnrolRequest,
} from '../../shared/rpc/link.ts';
import type {
  CommandResult,
  ParamsReset,
  ParamsSnapshot,
  ParamWriteResult,
  SigningEnrolled,
  SigningState,
  WorkProgress,
} from '../../shared/rpc/link-answers.ts';
import type { LinkProblem, LinkState, OffboardState } from '../../shared/rpc/link-state.ts';
import type { ExtensionValues } from '../../shared/schemas/extension-values.ts';
import { Calibration } from './calibration/calibration.ts';
import { Camera } from './camera/camera.ts';
import type { Clock, Timer } from './clock.ts';
import { Commands } from './commands/commands.ts';
import { Offboard } from './commands/offboard.ts';
import { ReachCheck } from './commands/reach-check.ts';
import { Refusals } from './commands/refusals.ts';
import { Encoder, OWN_COMPONENT, type Target } from './encode.ts';
import { Events } from './events/events.ts';
import { Exchange } from './exchange.ts';
import { FtpClient } from './ftp/ftp-client.ts';
import { FlightLogs } from './logs/flight-logs.ts';
import type { LogStore } from './logs/log-store.ts';
import { ComponentMetadata } from './metadata/component-metadata.ts';
import { Missions } from './missions/missions.ts';
import { OwnHeartbeat } from './own-heartbeat.ts';
import type { MetadataStore } from './params/metadata-store.ts';
import { paramEncoding } from './params/param-encoding.ts';
import type { ParamStore } from './params/param-store.ts';
import { Params } from './params/params.ts';
import { resetParams } from './params/reset.ts';
import { FrameStream } from './router/frame-stream.ts';
import { PilotWatch } from './router/pilot-watch.ts';
import type { Router } from './router/router.ts';
import { openRouting } from './routing.ts';
import type { KeyStore } from './signing/key-store.ts';
import { Signing } from './signing/signing.ts';
import type { Transport } from './sources/transport.ts';
import { Arming } from './vehicle/arming.ts';
import { ExtensionAdditions } from './vehicle/extension-additions.ts';
import { Prearm } from './vehicle/prearm.ts';
import { SimulatedEvidence } from './vehicle/simulated.ts';
import { StateFeed } from './vehicle/state-feed.ts';
import { StatusLog } from './vehicle/status-log.ts';
import { StatusTexts } from './vehicle/status-texts.ts';
import { Streams } from './vehicle/streams.ts';
import { type SessionReason, Vehicle } from './vehicle/vehicle.ts';
import { Warnings } from './vehicle/warnings.ts';

const TICK_MS = 100;
/** From the vehicle's acceptance of a reset of its parameters until they are read again. */
const RESET_MS = 1000;
/** An older position is not where a picture was taken. */
const PLACE_S = 3;
/** MAV_CMD */
const REQUEST_MESSAGE = 512;
const ASK_VERSION = [MSG.AUTOPILOT_VERSION, 0, 0, 0, 0, 0, 0] as const;

interface LinkOptions {
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
  /** How far away a place may be that a command goes to, m (`flight.max_goto_m`); absent or 0: any distance. */
  readonly maxGotoM?: number;
  /** Problems besides the link itself: the source's address, endpoints. */
  readonly problems?: () => readonly LinkProblem[];
  /** The process before this one ended within 5 s of an armed vehicle. */
  readonly wasArmed?: boolean;
  /** Gets what `wasArmed` of the next process is to be, once a vehicle was heard and whenever it changes. */
  readonly onArmedMemory?: (armed: boolean) => void;
  /** Gets each LinkState at the rates of the protocol. */
  readonly onState: (state: LinkState) => void;
  /** Gets how far the long work of a call is. */
  readonly onProgress?: (progress: WorkProgress) => void;
  /** Gets what ground stations want of the camera. */
  readonly onCameraRequest?: (request: CameraRequest) => void;
}

/** The parts of svc-link and how bytes, frames and facts flow between them. Holds no rule of its own. */
export class Link {
  readonly router: Router;
  readonly pilot: PilotWatch;
  readonly #options: LinkOptions;
  readonly #frames: FrameStream;
  readonly #encoder = new Encoder();
  /** An encoder of its own, because ground stations count gaps in the sequence numbers. */
  readonly #replies = new Encoder();
  readonly #cameraFrames = new Encoder();
  readonly #camera: Camera;
  readonly #evidence = new SimulatedEvidence();
  readonly #arming: Arming;
  readonly #vehicle: Vehicle;
  readonly #texts: StatusTexts;
  readonly #prearm: Prearm;
  readonly #warnings: Warnings;
  readonly #exchange: Exchange;
  readonly #commands: Commands;
  readonly #offboard: Offboard;
  readonly #streams: Streams;
  readonly #params: Params;
  readonly #missions: Missions;
  readonly #calibration: Calibration;
  readonly #events: Events;
  readonly #ftp: FtpClient;
  readonly #metadata: ComponentMetadata;
  readonly #logs: FlightLogs | null;
  readonly #signing: Signing;
  readonly #extensions: ExtensionAdditions;
  readonly #feed: StateFeed;
  readonly #heartbeat: OwnHeartbeat;
  #timer: Timer | null = null;
  #remembered: boolean | null = null;
  #rxBytes = 0;

  constructor(options: LinkOptions) {
    const { clock, log, transport, store } = options;
    this.#options = options;
    const encoder = this.#encoder;
    this.#arming = new Arming({
      clock,
      wasArmed: options.wasArmed === true,
      onChange: () => this.#armingChanged(),
    });
    // The only way to the vehicle, for our own frames and everybody's.
    const leave = (bytes: Buffer): boolean => {
      const undo = this.#arming.leaving(bytes);
      const left = transport.write(bytes);
      if (!left) undo();
      return left;
    };
    const send = (bytes: Buffer): boolean => {
      this.router.ownFrame(bytes);
      return leave(bytes);
    };
    const refusals = new Refusals(clock, () => this.#prearm.failing);
    const statusLog = new StatusLog(clock, log);
    this.#frames = new FrameStream(clock, (frame: Frame) => this.router.fromSource(frame));
    this.#camera = new Camera({
      clock,
      encoder: this.#cameraFrames,
      isSigned: (frame) => {
        const { signer } = encoder;
        if (signer === null || options.signEndpoints !== false) return true;
        return frame.signed && signer.verifies(frame);
      },
      isTaken: (target) => this.router.knows(target),
      groundStations: () => this.router.groundStations,
      broadcast: (bytes) => this.router.broadcast(bytes),
      vehicle: () => this.#vehicle.target,
      place: () => {
        const { ages, position } = this.#vehicle.telemetry;
        return ages.position !== null && ages.position <= PLACE_S ? position : null;
      },
      ask: options.onCameraRequest ?? ((): void => undefined),
    });
    this.pilot = new PilotWatch(clock);
    this.#texts = new StatusTexts(clock, (line) => {
      statusLog.write(line);
      this.#prearm.onLine(line);
      refusals.onLine(line);
      this.#calibration.onLine(line);
      this.#feed.telemetryChanged();
    });
    this.#exchange = new Exchange(clock, send, () => encoder.system);
    const vehicle = new Vehicle(
      clock,
      {
        onSession: (reason) => this.#onSession(reason),
        onHeartbeat: () => {
          this.#exchange.onHeartbeat();
          this.#streams.onMessage(MSG.HEARTBEAT, false);
          this.#prearm.onHeartbeat();
          if (vehicle.armed === true) this.#prearm.forget();
          this.#feed.importantChanged();
        },
        onArmedChange: () => this.#feed.importantChanged(),
        onTelemetry: (id) => {
          if (id === MSG.SYS_STATUS) this.#prearm.onStatus();
          this.#streams.onMessage(id, true);
          this.#feed.telemetryChanged();
        },
        onVersion: () => this.#params.onVersion(),
        onStatusText: (part, component) => this.#texts.add(part, component),
        onMessage: (id) => {
          this.#streams.onMessage(id, false);
          this.#evidence.message(id);
        },
      },
      this.#arming,
    );
    this.#vehicle = vehicle;
    this.#prearm = new Prearm({
      clock,
      vehicle,
      checks: () => this.#events.checks,
      param: (name) => this.#params.valueOf(name),
    });
    this.#warnings = new Warnings(log);
    const exchange = this.#exchange;
    const onError = (error: unknown): void => {
      log.error(`stream request: ${messageOf(error)}`);
    };
    this.#streams = new Streams({ clock, vehicle, encoder, exchange, send, onError });
    this.#ftp = new FtpClient({ clock, vehicle, encoder, send });
    this.#metadata = new ComponentMetadata({
      clock,
      log,
      vehicle,
      encoder,
      send,
      ftp: this.#ftp,
      free: () => !params.progress.priming,
    });
    const params: Params = new Params({
      clock,
      vehicle,
      encoder,
      send,
      encoding: () => paramEncoding(vehicle.capabilities, vehicle.firmware),
      identify: () => {
        const { target } = vehicle;
        if (target !== null) send(encoder.commandLong(target, REQUEST_MESSAGE, ASK_VERSION, 0));
      },
      // Also for parameters from the disk, once the vehicle has confirmed that they are unchanged.
      onKnown: (name) => this.#evidence.parameter(name),
      store,
      ftp: this.#ftp,
      metadata: this.#metadata,
      metadataStore: options.metadataStore ?? null,
    });
    this.#params = params;
    const onProgress = options.onProgress ?? ((): void => undefined);
    this.#missions = new Missions({ clock, vehicle, encoder, send, onProgress });
    this.#calibration = new Calibration({ clock, log, vehicle, encoder, exchange, refusals, send });
    this.#events = new Events({
      clock,
      log,
      vehicle,
      encoder,
      send,
      metadata: this.#metadata,
      onLine: (severity, text) => this.#texts.say(severity, text),
      onCalibration: (words, args) => this.#calibration.onEvent(words, args),
    });
    const { logStore } = options;
    this.#logs =
      logStore === undefined ? null : new FlightLogs({ clock, log, vehicle, encoder, send, store: logStore });
    const prearm = this.#prearm;
    const missions = this.#missions;
    const reach = new ReachCheck({
      clock,
      vehicle,
      maxM: options.maxGotoM ?? 0,
      param: (name) => params.valueOf(name),
      fence: {
        kept: () => missions.kept('fence'),
        read: async () => (await missions.read({ part: 'fence', refresh: false, token: '' })).items,
      },
    });
    this.#commands = new Commands({
      clock,
      vehicle,
      encoder,
      exchange,
      refusals,
      prearm,
      params,
      mission: async () => (await missions.read({ part: 'mission', refresh: false, token: '' })).items,
      reach,
      send,
    });
    const commands = this.#commands;
    this.#offboard = new Offboard({
      clock,
      vehicle,
      encoder,
      reach,
      send,
      killing: () => commands.killing,
      loiter: () => {
        commands
          .loiter()
          .catch((error: unknown) => log.warn(`holding after set-points: ${messageOf(error)}`));
      },
    });
    this.#signing = new Signing({
      clock,
      log,
      vehicle,
      encoder,
      replies: [this.#replies, this.#cameraFrames],
      send,
      params: this.#params,
      keys: options.keys ?? null,
      onEnrolled: () => {
        this.#streams.request();
        this.#params.download(false);
      },
    });
    this.#listen();
    this.router = openRouting({
      clock,
      log,
      encoder,
      replies: this.#replies,
      signEndpoints: options.signEndpoints !== false,
      camera: this.#camera,
      pilot: this.pilot,
      arming: this.#arming,
      signing: this.#signing,
      vehicle,
      params,
      missions,
      commands,
      leave,
    });
    this.#extensions = new ExtensionAdditions(clock);
    this.#feed = new StateFeed(clock, () => this.state(), options.onState);
    this.#heartbeat = new OwnHeartbeat(clock, () => {
      if (transport.open) send(encoder.heartbeat());
      // Ground stations see the companion computer too: the vehicle does not send our heartbeat back on this link.
      this.router.broadcast(this.#replies.heartbeat());
      this.#camera.beat();
    });
  }

  /** Each part hears what of the vehicle's messages is for it. */
  #listen(): void {
    const { messages } = this.#vehicle;
    messages.on('ack', (ack) => this.#exchange.onAck(ack));
    messages.on('param', (value) => {
      this.#evidence.parameter(value.name);
      this.#params.onValue(value);
      this.#feed.telemetryChanged();
    });
    messages.on('ftp', (message) => {
      // Addressed to us, not to a ground station whose answers pass through here too.
      const { targetSystem, targetComponent } = message;
      if (targetSystem === this.#encoder.system && targetComponent === OWN_COMPONENT)
        this.#ftp.onMessage(message);
    });
    messages.on('event', (event) => this.#events.onEvent(event));
    messages.on('eventSequence', (sequence) => this.#events.onSequence(sequence));
    messages.on('metadataUri', (uri) => this.#metadata.onUri(uri));
    messages.on('mission', (message) => this.#missions.onMessage(message));
    messages.on('missionIds', (ids) => this.#missions.onIds(ids));
    messages.on('calibration', (message) => this.#calibration.onMessage(message));
    const logs = this.#logs;
    if (logs !== null) {
      messages.on('logEntry', (entry) => logs.onEntry(entry));
      messages.on('logData', (data) => logs.onData(data));
    }
  }

  start(): void {
    const { transport, clock } = this.#options;
    transport.start({
      onOpen: () => {
        this.#arming.opened();
        this.#vehicle.connectionOpened();
        this.#feed.importantChanged();
      },
      onData: (chunk) => {
        this.#rxBytes += chunk.length;
        this.#frames.push(chunk);
      },
      onClose: () => {
        this.#frames.reset();
        this.#feed.importantChanged();
      },
    });
    this.#heartbeat.start();
    this.#feed.start();
    this.#timer = clock.every(TICK_MS, () => {
      this.#texts.tick();
      this.#streams.tick();
      this.#params.tick();
      this.#ftp.tick();
      this.#metadata.tick();
      this.#logs?.tick();
      this.#offboard.tick();
      this.#warnings.look(this.#vehicle.telemetry);
      this.#calibration.tick();
    });
  }

  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#logs?.stop();
    this.#feed.stop();
    this.#heartbeat.stop();
    this.#streams.stop();
    this.#missions.stop();
    this.#calibration.stop();
    this.#camera.stop();
    this.#exchange.stop();
    await this.#options.transport.stop();
    await this.#options.store?.settled();
    this.#frames.reset();
  }

  /** The RPC method `command`; see Commands. */
  async command(request: CommandRequest, signal?: AbortSignal): Promise<CommandResult> {
    return this.#commands.execute(request, signal);
  }

  /** The RPC method `setpoint`; see Offboard. */
  setPoint({ holder, point }: SetPointRequest): OffboardState {
    return this.#offboard.take(holder, point);
  }

  /** The RPC method `setpoint_end`. */
  endSetPoints(holder: string): OffboardState {
    this.#offboard.release(holder);
    return this.#offboard.state;
  }

  /** The RPC method `param_set`; see ParamWrites. */
  async writeParam(request: ParamWriteRequest): Promise<ParamWriteResult> {
    return this.#params.write(request);
  }

  /** The RPC methods `camera` and `camera_done`. */
  get camera(): Pick<Camera, 'tell' | 'done'> {
    return this.#camera;
  }

  /** The RPC method `extend`. @throws ApiError E_BUSY */
  extend(extension: string, values: ExtensionValues | null): Readonly<Record<string, never>> {
    this.#extensions.set(extension, values);
    this.#feed.telemetryChanged();
    return {};
  }

  /** Mission, fence and rally points. */
  get missions(): Pick<Missions, 'read' | 'write'> {
    return this.#missions;
  }

  /** The RPC methods `calibration` and `calibrate…`. */
  get calibration(): Pick<Calibration, 'state' | 'begin' | 'confirm' | 'cancel'> {
    return this.#calibration;
  }

  /** The RPC method `params_reset`; see resetParams. */
  async resetParams(force: boolean): Promise<ParamsReset> {
    const { clock } = this.#options;
    const reset = await resetParams({
      clock,
      vehicle: this.#vehicle,
      encoder: this.#encoder,
      exchange: this.#exchange,
      valueOf: (name) => this.#params.valueOf(name),
      force,
    });
    // PX4 answers before it begins, and ends within this time.
    clock.after(RESET_MS, () => this.#params.download(false, true));
    return reset;
  }

  /** The RPC methods `logs`, `log_fetch` and `logs_erase`. @throws ApiError E_NOT_IMPLEMENTED without a place for logs */
  get logs(): FlightLogs {
    if (this.#logs === null) throw new ApiError('E_NOT_IMPLEMENTED');
    return this.#logs;
  }

  get signing(): SigningState {
    return this.#signing.state;
  }

  /** The RPC method `signing_enrol`; see Signing. */
  async enrolSigning(request: SigningEnrolRequest): Promise<SigningEnrolled> {
    return this.#signing.enrol(request);
  }

  /** The RPC method `signing_disable`; see Signing. */
  async disableSigning(force: boolean): Promise<{ success: true }> {
    return this.#signing.disable(force);
  }

  /** The vehicle; null before it is known. */
  get target(): Target | null {
    return this.#vehicle.target;
  }

  params(): ParamsSnapshot {
    return this.#params.snapshot();
  }

  /**
   * What the clients get. While `mavlink_alive` is false the telemetry is what was last received: the reader decides whether to
   * show it.
   */
  state(): LinkState {
    const { transport, source } = this.#options;
    const vehicle = this.#vehicle;
    const framing = this.#frames.counters;
    const age = vehicle.heartbeatAge;
    return {
      source,
      fc_port: transport.port,
      fc_baud: transport.baud,
      transport_open: transport.open,
      mavlink_alive: vehicle.alive,
      heard: vehicle.heard,
      heartbeat_age_s: age === null ? null : Math.round(age) / 1000,
      armed: vehicle.armed,
      guard: vehicle.guard,
      system_id: vehicle.target?.system ?? null,
      component_id: vehicle.target?.component ?? null,
      firmware: vehicle.firmware,
      firmware_version: vehicle.version?.text ?? null,
      simulated: this.#evidence.list.length > 0,
      simulated_evidence: [...this.#evidence.list],
      statustext: [...this.#texts.newest],
      telemetry: { ...vehicle.telemetry, prearm: this.#prearm.report },
      extensions: this.#extensions.values,
      params: this.#params.progress,
      offboard: this.#offboard.state,
      problems: this.#problems(),
      counters: {
        rx_frames: framing.frames,
        rx_bytes: this.#rxBytes,
        rx_bad_crc: framing.badCrc,
        rx_garbage_bytes: framing.garbageBytes,
        rx_lost: vehicle.lost,
        rx_looped: this.router.sourceLooped,
        rx_kernel_dropped: transport.counters.rxKernelDropped,
        tx_frames: transport.counters.txFrames,
        tx_bytes: transport.counters.txBytes,
        reconnects: transport.counters.reconnects,
      },
    };
  }

  #problems(): LinkProblem[] {
    const problems = [...(this.#options.problems?.() ?? [])];
    // A vehicle forwards our frames to its other links, from where they may come back. The source is fine then.
    if (this.router.sourceLoops && !this.#vehicle.alive) {
      const detail = `What this node sends to its source ${this.#options.source} comes back from it: it leads to an endpoint of this node. Point mavlink.source at the flight controller.`;
      problems.push({ code: 'source_loops', detail });
    }
    if (this.#signing.lost) {
      const detail =
        'The vehicle signs what it sends, and this node does not have its key: it may ignore all commands from this node and its ground stations. Enrol its key again.';
      problems.push({ code: 'signing_lost', detail });
    }
    return problems;
  }

  #armingChanged(): void {
    const { memory } = this.#arming;
    if (memory !== this.#remembered) {
      this.#remembered = memory;
      this.#options.onArmedMemory?.(memory);
    }
    this.#feed.importantChanged();
  }

  #onSession(reason: SessionReason): void {
    const { target } = this.#vehicle;
    if (target === null) return;
    this.#encoder.system = target.system;
    this.#replies.system = target.system;
    this.#cameraFrames.system = target.system;
    this.#options.log.info(`vehicle ${target.system}/${target.component} ${reason}`);
    if (reason !== 'connected') this.#prearm.forget();
    if (reason === 'learned' || reason === 'rebooted') this.#warnings.forget();
    this.#evidence.clear(); // another vehicle may be connected; real evidence comes again
    if (reason === 'learned') {
      this.#texts.clear();
      this.#signing.forget();
    }
    this.#missions.onSession();
    this.#calibration.onSession(reason);
    this.#streams.request();
    const other = reason === 'learned' || reason === 'rebooted';
    this.#events.begin(other);
    if (other) this.#metadata.forget();
    if (other) this.#logs?.forget();
    this.#params.download(reason === 'learned');
  }
}
