import { Acks } from './acks.ts';
import { Arming } from './arming.ts';
import { AutoMode } from './auto.ts';
import { Channel, type Sink } from './channel.ts';
import { type Craft, IDLE, MavSeverity, OFF } from './craft.ts';
import { Failsafes } from './failsafe.ts';
import type { Faults } from './faults.ts';
import { clamp, type GeoPoint } from './geo.ts';
import { GuidedMode } from './guided.ts';
import { type InboxDeck, receive } from './inbox.ts';
import { defaultMission, Mission } from './mission.ts';
import { MissionLink } from './mission-link.ts';
import { holdMode, landMode, levelMode, Modes } from './modes.ts';
import { ParamLink } from './param-link.ts';
import { Params } from './params.ts';
import type { Random } from './random.ts';
import { returnMode } from './rtl.ts';
import { Streams } from './streams.ts';
import { VERSION_TEXT } from './telemetry-status.ts';
import type { TelemetryView } from './telemetry-view.ts';
import type { Timers } from './timers.ts';
import { Vehicle } from './vehicle.ts';
import type { Frame } from './wire.ts';

export interface AutopilotOptions {
  /** Heading in degrees. */
  readonly home: GeoPoint & { readonly heading: number };
  readonly sysid: number;
  readonly speedup: number;
  /** ArduCopter mode number at boot. */
  readonly initialMode: number;
  /** Wall-clock ms from boot until the EKF has a position. */
  readonly settleMs: number;
  readonly mission: boolean;
  /** PARAM_VALUEs a second in a list download. */
  readonly paramRate: number;
}

export interface AutopilotTools {
  /** Monotonic wall clock, ms. */
  readonly now: () => number;
  readonly random: Random;
  readonly faults: Faults;
  readonly timers: Timers;
  /** Hangs up on the client: the vehicle reboots. */
  readonly hangUp: () => void;
}

const STEP_S = 0.02;
const BUSY_MS = 20;
const IDLE_MS = 250;
const MAX_SPEEDUP = 100;
const STALL_MS = 250; // a longer stall of the process is not caught up
const PREARM_REPORT_MS = 30_000;
const REBOOT_MS = 50; // lets the ack of the reboot command out

/** The simulated flight controller: vehicle, flight modes and link, driven by `tick` and `receive`. */
export class Autopilot implements Craft {
  readonly vehicle: Vehicle;
  readonly params: Params;
  autoArmed = false;
  readonly #options: AutopilotOptions;
  readonly #tools: AutopilotTools;
  readonly #channel: Channel;
  readonly #mission: Mission;
  readonly #modes: Modes;
  readonly #arming: Arming;
  readonly #streams: Streams;
  readonly #failsafes: Failsafes;
  readonly #deck: InboxDeck;
  #bootAt: number;
  #last: number;
  #behind = 0; // simulated seconds not stepped yet
  #idle = 0; // simulated seconds armed without thrust
  #hadPosition = false;
  #preArmReported: number;

  constructor(options: AutopilotOptions, tools: AutopilotTools) {
    const { faults, random } = tools;
    this.#options = options;
    this.#tools = tools;
    this.params = new Params(() => faults.notSimulated);
    this.params.set('SYSID_THISMAV', options.sysid);
    this.params.set('SIM_SPEEDUP', options.speedup);
    this.params.set('INITIAL_MODE', options.initialMode);
    this.vehicle = new Vehicle(options.home, (speed) => this.#impact(speed));
    this.#channel = new Channel(() => this.params.get('SYSID_THISMAV'), faults, random);
    this.#mission = new Mission(options.mission ? defaultMission(options.home) : []);
    const guided = new GuidedMode(this);
    const auto = new AutoMode(this, this.#mission);
    this.#modes = new Modes(
      this,
      [
        levelMode(this, 0, 'STABILIZE'),
        levelMode(this, 2, 'ALT_HOLD'),
        auto,
        guided,
        holdMode(this, 5, 'LOITER', true),
        returnMode(this, 6, 'RTL'),
        holdMode(this, 7, 'CIRCLE', false),
        landMode(this),
        holdMode(this, 16, 'POSHOLD', true),
        holdMode(this, 17, 'BRAKE', false),
        returnMode(this, 21, 'SMART_RTL'),
      ],
      options.initialMode,
    );
    this.#arming = new Arming(this, faults, () => ({
      mode: this.#modes.current,
      gpsOk: this.#gpsOk(),
      attitudeOk: this.#attitudeOk(),
      volts: this.#volts(),
    }));
    this.#failsafes = new Failsafes(this, this.#modes, () => this.#volts());
    this.#streams = new Streams(this.#channel, this.params, this.#telemetryView());
    this.#deck = {
      craft: this,
      channel: this.#channel,
      arming: this.#arming,
      modes: this.#modes,
      guided,
      auto,
      mission: this.#mission,
      streams: this.#streams,
      acks: new Acks(this.#channel, faults, tools.timers),
      paramLink: new ParamLink(this.params, this.#channel, faults, random, options.paramRate),
      missionLink: new MissionLink(this, this.#mission, this.#channel),
      failsafes: this.#failsafes,
      now: () => tools.now(),
      reboot: () => tools.timers.after(REBOOT_MS, () => this.reboot()),
      banner: () => this.#banner(),
    };
    this.#bootAt = tools.now();
    this.#last = this.#bootAt;
    this.#preArmReported = this.#bootAt;
  }

  /** The client that hears the vehicle from now on; undefined: nobody. Its first heartbeat is due at once. */
  connect(sink: Sink | undefined): void {
    this.#channel.connect(sink);
    this.#deck.paramLink.reset();
    this.#deck.missionLink.reset();
    this.#streams.greet();
  }

  receive(frame: Frame): void {
    receive(this.#deck, frame);
  }

  /** Power cycle. Parameters and mission stay, as in the memory of a real board. */
  reboot(): void {
    const { now, timers, hangUp } = this.#tools;
    hangUp();
    timers.clear();
    this.vehicle.reset();
    this.autoArmed = false;
    this.#mission.replace(this.#mission.items);
    this.#modes.reset(this.params.get('INITIAL_MODE'));
    this.#streams.reset();
    this.#failsafes.reset();
    this.#deck.paramLink.reset();
    this.#deck.missionLink.reset();
    this.#bootAt = now();
    this.#last = this.#bootAt;
    this.#preArmReported = this.#bootAt;
    this.#behind = 0;
    this.#hadPosition = false;
  }

  /** Lets time pass, and sends what is due. @returns ms until it wants to be called again */
  tick(): number {
    const now = this.#tools.now();
    const elapsed = Math.min(STALL_MS, now - this.#last);
    this.#last = now;
    this.#pass((elapsed / 1000) * clamp(this.params.get('SIM_SPEEDUP'), 0.01, MAX_SPEEDUP));
    this.#reports(now);
    const { paramLink, missionLink } = this.#deck;
    const next = this.#channel.connected ? this.#streams.tick(now) : IDLE_MS;
    paramLink.tick(now);
    missionLink.tick(now);
    const busy = this.vehicle.armed || !this.vehicle.landed || paramLink.busy;
    return busy ? BUSY_MS : Math.max(5, Math.min(next, IDLE_MS));
  }

  text(severity: MavSeverity, text: string): void {
    this.#channel.text(severity, text);
  }

  disarm(): void {
    if (!this.vehicle.armed) return;
    this.vehicle.armed = false;
    this.autoArmed = false;
    this.text(MavSeverity.INFO, 'Disarming motors');
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
    this.#idle = vehicle.armed && vehicle.landed && demand === IDLE ? this.#idle + STEP_S : 0;
    const delay = this.params.get('DISARM_DELAY');
    if (delay > 0 && this.#idle >= delay) this.disarm();
  }

  #wind(): void {
    const speed = this.params.get('SIM_WIND_SPD');
    const from = (this.params.get('SIM_WIND_DIR') * Math.PI) / 180;
    this.vehicle.wind = { n: -speed * Math.cos(from), e: -speed * Math.sin(from) };
  }

  #reports(now: number): void {
    const position = this.positionOk();
    if (position && !this.#hadPosition) {
      this.text(MavSeverity.INFO, 'EKF3 IMU0 origin set');
      this.text(MavSeverity.INFO, 'EKF3 IMU0 is using GPS');
    }
    this.#hadPosition = position;
    if (this.vehicle.armed || now - this.#preArmReported < PREARM_REPORT_MS) return;
    this.#preArmReported = now;
    for (const reason of this.#arming.preArm()) this.text(MavSeverity.CRITICAL, `PreArm: ${reason}`);
  }

  #impact(speed: number): void {
    if (this.#tools.faults.notSimulated) return;
    this.text(MavSeverity.WARNING, `SIM Hit ground at ${speed.toFixed(6)} m/s`);
  }

  #banner(): void {
    this.text(MavSeverity.INFO, VERSION_TEXT);
    this.text(MavSeverity.INFO, 'Frame: QUAD/X');
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
      mode: () => this.#modes.current,
      gpsOk: () => this.#gpsOk(),
      positionOk: () => this.positionOk(),
      attitudeOk: () => this.#attitudeOk(),
      preArmOk: () => this.#arming.preArm().length === 0,
      failsafe: () => this.#failsafes.active,
      simulated: () => !this.#tools.faults.notSimulated,
      volts: () => this.#volts(),
    };
  }
}
