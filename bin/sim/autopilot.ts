import { clamp, type GeoPoint } from '../../shared/flight/geo.ts';
import type { Random } from '../../shared/random.ts';
import type { Faults } from './faults.ts';
import type { Firmware } from './firmware/firmware.ts';
import { AirTraffic } from './flight/air-traffic.ts';
import { Arming } from './flight/arming.ts';
import { type Craft, IDLE, MavSeverity, OFF, type Sticks } from './flight/craft.ts';
import { Failsafes } from './flight/failsafe.ts';
import { Fence } from './flight/fence.ts';
import type { FlightLog, LoggedState } from './flight/flight-log.ts';
import { defaultMission, Mission } from './flight/mission.ts';
import type { ModeSet } from './flight/mode-set.ts';
import { Modes } from './flight/modes.ts';
import { Radio } from './flight/radio.ts';
import { Vehicle } from './flight/vehicle.ts';
import { Acks } from './mavlink/acks.ts';
import type { Calibration } from './mavlink/calibration.ts';
import { Channel, type Sink } from './mavlink/channel.ts';
import { FtpServer, type SimFile } from './mavlink/ftp.ts';
import { type InboxDeck, receive } from './mavlink/inbox.ts';
import { LogLink, type LogOptions } from './mavlink/log-link.ts';
import { PlainList } from './mavlink/mission-lists.ts';
import { ParamLink } from './mavlink/param-link.ts';
import { Signing } from './mavlink/signing.ts';
import { Streams } from './mavlink/streams.ts';
import type { TelemetryView } from './mavlink/telemetry-view.ts';
import type { VehicleEvents } from './mavlink/vehicle-events.ts';
import type { Frame } from './mavlink/wire.ts';
import { ParamFile, paramFileRequest } from './params/param-file.ts';
import { Params } from './params/params.ts';
import type { Timers } from './timers.ts';

export interface AutopilotOptions {
  /** Heading in degrees. */
  readonly home: GeoPoint & { readonly heading: number };
  readonly sysid: number;
  readonly firmware: Firmware;
  /** Number that the board's unique id is made of. */
  readonly uid: number;
  readonly speedup: number;
  /** Mode number at boot. */
  readonly initialMode: number;
  /** Wall-clock ms from boot until the EKF has a position. */
  readonly settleMs: number;
  readonly mission: boolean;
  /** PARAM_VALUEs a second in a list download. */
  readonly paramRate: number;
  /** At least so many parameters. */
  readonly paramCount: number;
  readonly ftp: boolean;
  readonly logs: LogOptions;
  /** Aircraft near by that its receiver hears. */
  readonly adsb: number;
  /** 32 bytes, or undefined. */
  readonly signingKey: Buffer | undefined;
}

interface AutopilotTools {
  /** Monotonic wall clock, ms. */
  readonly now: () => number;
  /** ms since 1970, for the timestamps of signatures. */
  readonly wallMs: () => number;
  readonly random: Random;
  readonly faults: Faults;
  readonly timers: Timers;
  /** Hangs up on the client: the vehicle reboots. */
  readonly hangUp: () => void;
}

const CAPABILITY_FTP = 32;
const STEP_S = 0.02;
const BUSY_MS = 20;
const IDLE_MS = 250;
const MAX_SPEEDUP = 100;
const STALL_MS = 250; // a longer stall of the process is not caught up
const FENCE_STATUS = 162;
const MISSION_CURRENT = 42;
const PREARM_REPORT_MS = 30_000;
const PREARM_AGAIN_MS = 4000;
const REBOOT_MS = 50; // lets the ack of the reboot command out
const BOOTING_MS = 1000; // says and hears nothing

/** The simulated flight controller: vehicle, flight modes and link, driven by `tick` and `receive`. */
export class Autopilot implements Craft {
  readonly vehicle: Vehicle;
  readonly params: Params;
  autoArmed = false;
  sticks: Sticks | undefined;
  cruise: number | undefined;
  readonly #options: AutopilotOptions;
  readonly #tools: AutopilotTools;
  readonly #channel: Channel;
  readonly #mission: Mission;
  readonly #fence = new PlainList();
  readonly #rally = new PlainList();
  readonly #modes: Modes;
  readonly #arming: Arming;
  readonly #radio: Radio;
  readonly #streams: Streams;
  readonly #failsafes: Failsafes;
  readonly #geofence: Fence;
  readonly #traffic: AirTraffic;
  readonly #deck: InboxDeck;
  readonly #firmware: Firmware;
  readonly #signing: Signing;
  readonly #calibration: Calibration;
  /** Absent where the firmware has none. */
  readonly #events: VehicleEvents | undefined;
  #bootAt: number;
  #silentUntil = 0;
  #last: number;
  #behind = 0; // simulated seconds not stepped yet
  #log: { readonly file: FlightLog; readonly utc: number } | undefined;
  #idle = 0; // simulated seconds armed without thrust
  #hadPosition = false;
  #toldCurrent = 0;
  #preArmReported: number;
  /** The checks before arming have passed; they have failed since, and that is said soon. */
  #passed = false;
  #soon = false;

  constructor(options: AutopilotOptions, tools: AutopilotTools) {
    const { faults, random } = tools;
    this.#options = options;
    this.#tools = tools;
    const { firmware } = options;
    this.#firmware = firmware;
    this.params = new Params(
      () => faults.notSimulated,
      firmware.params,
      options.paramCount,
      () => faults.lateParams,
    );
    this.params.set('SYSID_THISMAV', options.sysid);
    this.params.set('SIM_SPEEDUP', options.speedup);
    this.params.set('INITIAL_MODE', options.initialMode);
    this.vehicle = new Vehicle(options.home, (speed) => this.#impact(speed), firmware.flies);
    this.#signing = new Signing(options.signingKey, tools.wallMs);
    this.#channel = new Channel(() => this.params.get('SYSID_THISMAV'), this.#signing, faults, random, {
      now: tools.now,
      textsForStations: firmware.textsForStations,
    });
    this.#events = firmware.events?.(
      this.#channel,
      () => this.#uptime(),
      () => this.params.visible(),
    );
    this.#calibration = firmware.calibration({
      craft: this,
      channel: this.#channel,
      faults,
      timers: tools.timers,
      now: tools.now,
    });
    this.#mission = new Mission(options.mission ? defaultMission(options.home) : [], firmware.firstItem);
    const roles: ModeSet = firmware.modes(this, this.#mission, () => this.#modes);
    this.#modes = new Modes(this, roles.all, options.initialMode, firmware.words, firmware.lasts);
    this.#radio = new Radio(this, faults, firmware.radio, (mode) => this.#modes.set(mode));
    this.#arming = new Arming(this, faults, firmware, () => ({
      mode: this.#modes.current,
      gpsOk: this.#gpsOk(),
      attitudeOk: this.#attitudeOk(),
      fenceOk: !this.#geofence.state.breached,
      volts: this.#volts(),
      calibration: this.#calibration.reasons(),
      radio: this.#radio.reasons(),
    }));
    this.#failsafes = new Failsafes(this, this.#modes, roles, () => this.#volts());
    this.#geofence = new Fence(
      this,
      () => this.#fence.items,
      this.#modes,
      roles,
      () => this.#streams.sendNow(FENCE_STATUS),
    );
    this.#traffic = new AirTraffic(options.home, options.adsb);
    this.#streams = new Streams(this.#channel, this.params, this.#telemetryView(), firmware);
    this.#deck = {
      craft: this,
      channel: this.#channel,
      arming: this.#arming,
      modes: this.#modes,
      roles,
      firmware,
      faults,
      signing: this.#signing,
      mission: this.#mission,
      streams: this.#streams,
      calibration: this.#calibration,
      acks: new Acks(this.#channel, faults, tools.timers),
      paramLink: new ParamLink(
        this.params,
        firmware.paramDialect,
        this.#channel,
        faults,
        random,
        options.paramRate,
      ),
      missionLink: firmware.missions({
        craft: this,
        channel: this.#channel,
        faults,
        lists: [this.#mission, this.#fence, this.#rally],
        received: firmware.words.missionReceived,
      }),
      logLink: new LogLink(this, this.#channel, firmware.logs, options.logs),
      ftp: options.ftp
        ? new FtpServer(
            this.#channel,
            { folder: firmware.paramFile ? '@PARAM' : 'etc', open: (path) => this.#open(path) },
            firmware.ftpNotOpen,
          )
        : undefined,
      failsafes: this.#failsafes,
      now: () => tools.now(),
      reboot: () => tools.timers.after(REBOOT_MS, () => this.reboot()),
      banner: () => this.#banner(),
      events: this.#events,
      report: () => {
        if (this.#events === undefined) this.#sayPreArm();
        else this.#events.report(this.#arming.preArm());
      },
    };
    this.#bootAt = tools.now();
    this.#last = this.#bootAt;
    this.#preArmReported = this.#bootAt;
  }

  get throttle(): number | null {
    return this.#radio.throttle;
  }

  /** The client that hears the vehicle from now on; undefined: nobody. The next heartbeat comes when it is due. */
  connect(sink: Sink | undefined): void {
    this.#channel.connect(sink);
    this.#deck.paramLink.reset();
    this.#deck.missionLink.reset();
    this.#deck.logLink.reset();
    this.#deck.ftp?.reset();
  }

  receive(frame: Frame): void {
    const { faults, random, now } = this.#tools;
    if (now() < this.#silentUntil) return;
    if (faults.dropFrames > 0 && random() < faults.dropFrames) return;
    if (faults.signingDeaf && frame.signature !== undefined) return;
    if (this.#signing.accepts(frame)) receive(this.#deck, frame);
  }

  /** Power cycle. Parameters and signing key stay, and the mission where the firmware keeps it. */
  reboot(): void {
    const { now, timers, hangUp } = this.#tools;
    hangUp();
    timers.clear();
    this.#closeLog();
    this.params.boot();
    this.vehicle.reset();
    this.autoArmed = false;
    this.cruise = undefined;
    this.#mission.replace(this.#firmware.keepsMission ? this.#mission.items : []);
    this.#modes.reset(this.params.get('INITIAL_MODE'));
    this.#streams.reset();
    this.#calibration.reset();
    this.#radio.reset();
    this.#failsafes.reset();
    this.#geofence.reset();
    this.#deck.paramLink.reset();
    this.#deck.missionLink.reset();
    this.#deck.logLink.reset();
    this.#deck.ftp?.reset();
    this.#bootAt = now();
    this.#silentUntil = this.#bootAt + BOOTING_MS;
    this.#last = this.#bootAt;
    this.#preArmReported = this.#bootAt;
    this.#behind = 0;
    this.#hadPosition = false;
  }

  /** Lets time pass, and sends what is due. @returns ms until it wants to be called again */
  tick(): number {
    const now = this.#tools.now();
    if (now < this.#silentUntil) {
      this.#last = now;
      return Math.min(IDLE_MS, this.#silentUntil - now);
    }
    const elapsed = Math.min(STALL_MS, now - this.#last);
    this.#last = now;
    this.#pass((elapsed / 1000) * clamp(this.params.get('SIM_SPEEDUP'), 0.01, MAX_SPEEDUP));
    this.#radio.tick(now);
    this.#reports(now);
    const { paramLink, missionLink, logLink } = this.#deck;
    const next = this.#channel.connected ? this.#streams.tick(now) : IDLE_MS;
    paramLink.tick(now);
    missionLink.tick(now);
    logLink.tick(now);
    const flying = this.vehicle.armed || !this.vehicle.landed;
    const busy = flying || paramLink.busy || missionLink.busy || logLink.busy;
    return busy ? BUSY_MS : Math.max(5, Math.min(next, IDLE_MS));
  }

  text(severity: MavSeverity, text: string): void {
    this.#log?.file.text(this.vehicle, text);
    this.#channel.text(severity, text + this.#firmware.textEnd);
  }

  disarm(cause: 'command' | 'landing' = 'landing'): void {
    if (!this.vehicle.armed) return;
    if (this.#log === undefined) this.#record(); // a flight shorter than a step has its log too
    this.vehicle.armed = false;
    this.autoArmed = false;
    this.cruise = undefined;
    this.#idle = 0;
    this.#closeLog();
    this.#modes.disarmed();
    this.text(MavSeverity.INFO, this.#firmware.words.disarmed(cause));
  }

  positionOk(): boolean {
    return this.#uptime() >= this.#options.settleMs && this.#gpsOk();
  }

  reached(seq: number): void {
    this.#deck.missionLink.reached(seq);
  }

  #pass(seconds: number): void {
    const { vehicle } = this;
    this.#wind();
    if (!vehicle.armed && vehicle.landed && vehicle.u <= 0) {
      vehicle.step(Math.max(1e-6, seconds), OFF); // standing still: one step is as good as fifty
      this.#behind = 0;
      this.#failsafes.tick(this.#last, seconds);
      this.#geofence.tick(seconds);
      return;
    }
    this.#behind += seconds;
    while (this.#behind >= STEP_S) {
      this.#behind -= STEP_S;
      this.#step();
    }
  }

  #step(): void {
    const { vehicle } = this;
    const demand = vehicle.armed ? this.#modes.current.step(STEP_S) : OFF;
    vehicle.step(STEP_S, vehicle.armed ? demand : OFF); // the mode may have disarmed
    this.#failsafes.tick(this.#last, STEP_S);
    this.#geofence.tick(STEP_S);
    this.#record();
    this.#idle = vehicle.armed && vehicle.landed && demand === IDLE ? this.#idle + STEP_S : 0;
    const delay = this.params.get('DISARM_DELAY');
    if (delay > 0 && this.#idle >= delay) this.disarm();
  }

  /** Both firmwares write a log from arming to disarming. */
  #record(): void {
    if (!this.vehicle.armed) return;
    if (this.#log === undefined) {
      const wall = Date.now();
      const file = this.#firmware.beginLog(this.params.visible(), this.#logged(), wall);
      this.#log = { file, utc: Math.floor(wall / 1000) };
    } else this.#log.file.sample(this.#logged());
  }

  #closeLog(): void {
    if (this.#log === undefined) return;
    this.#deck.logLink.add(this.#log.file.end(this.#logged()), this.#log.utc);
    this.#log = undefined;
  }

  #logged(): LoggedState {
    const satellites = this.#gpsOk() ? this.params.get('SIM_GPS_NUMSATS') : 0;
    return { vehicle: this.vehicle, mode: this.#modes.current, volts: this.#volts(), satellites };
  }

  #wind(): void {
    const speed = this.params.get('SIM_WIND_SPD');
    const from = (this.params.get('SIM_WIND_DIR') * Math.PI) / 180;
    this.vehicle.wind = { n: -speed * Math.cos(from), e: -speed * Math.sin(from) };
  }

  #reports(now: number): void {
    if (this.#mission.current !== this.#toldCurrent) {
      this.#toldCurrent = this.#mission.current;
      this.#streams.sendNow(MISSION_CURRENT);
    }
    const position = this.positionOk();
    if (position && !this.#hadPosition) {
      for (const text of this.#firmware.words.positionFound) this.text(MavSeverity.INFO, text);
    }
    this.#hadPosition = position;
    if (!this.vehicle.armed && this.#channel.connected) this.#events?.update(this.#arming.preArm());
    if (this.vehicle.armed) return;
    const passes = this.#arming.preArm().length === 0;
    if (this.#passed && !passes) this.#soon = true;
    this.#passed = passes;
    if (now - this.#preArmReported < (this.#soon ? PREARM_AGAIN_MS : PREARM_REPORT_MS)) return;
    this.#preArmReported = now;
    this.#soon = false;
    this.#sayPreArm();
  }

  #sayPreArm(): void {
    for (const reason of this.#arming.preArm()) {
      const text = this.#firmware.words.preArm(reason);
      if (text !== undefined) this.text(MavSeverity.CRITICAL, text);
    }
  }

  #impact(speed: number): void {
    const words = this.#firmware.words.hitGround?.(speed);
    if (words === undefined || this.#tools.faults.notSimulated) return;
    this.text(MavSeverity.WARNING, words);
  }

  #banner(): void {
    for (const text of this.#firmware.banner) this.text(MavSeverity.INFO, text);
  }

  #open(path: string): SimFile | 'invalid' | undefined {
    const plain = this.#events?.file(path);
    if (plain !== undefined) {
      return { sizeEstimate: plain.length, read: (offset, size) => plain.subarray(offset, offset + size) };
    }
    const request = this.#firmware.paramFile ? paramFileRequest(path) : undefined;
    if (request === undefined || request === 'invalid') return request;
    if (request.start >= this.params.visible().length) return 'invalid';
    this.#banner(); // ArduPilot says who it is at the start of a parameter download, whichever way it goes
    return new ParamFile(this.params.visible(), request);
  }

  #uptime(): number {
    return this.#tools.now() - this.#bootAt;
  }

  #attitudeOk(): boolean {
    return this.#uptime() >= this.#options.settleMs * 0.4;
  }

  #gpsOk(): boolean {
    return this.#uptime() >= this.#options.settleMs * 0.7 && this.params.get('SIM_GPS_DISABLE') === 0;
  }

  #volts(): number {
    const full = this.params.get('SIM_BATT_VOLTAGE');
    return this.vehicle.battery.volts(full, this.params.get('BATT_CAPACITY'));
  }

  #telemetryView(): TelemetryView {
    return {
      vehicle: this.vehicle,
      params: this.params,
      mission: this.#mission,
      radio: this.#radio,
      firmware: this.#firmware,
      uid: this.#options.uid,
      capabilities: () => this.#firmware.capabilities | (this.#options.ftp ? CAPABILITY_FTP : 0),
      mode: () => this.#modes.current,
      gpsOk: () => this.#gpsOk(),
      positionOk: () => this.positionOk(),
      attitudeOk: () => this.#attitudeOk(),
      preArmOk: () => this.#arming.preArm().length === 0,
      fence: () => this.#geofence.state,
      aircraft: () => this.#traffic.next(this.#tools.now()),
      listIds: () => this.#deck.missionLink.ids(),
      failsafe: () => this.#failsafes.active,
      batteryLow: () => this.#failsafes.batteryLow,
      simulated: () => !this.#tools.faults.notSimulated,
      compasses: () => this.#calibration.compasses(),
      volts: () => this.#volts(),
    };
  }
}
