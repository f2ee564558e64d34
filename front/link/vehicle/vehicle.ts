import type { Armed } from '../../../shared/flight/armed.ts';
import { AUTOPILOT_PX4, type Family, familyOf, modeName } from '../../../shared/flight/modes.ts';
import {
  type AutopilotVersion,
  decodeAutopilotVersion,
  decodeHeartbeat,
  decodeStatusText,
  decodeSystemTimeBootMs,
  type Heartbeat,
  type StatusTextPart,
} from '../../../shared/mavlink/decode.ts';
import type { Frame } from '../../../shared/mavlink/frame.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import { Payload } from '../../../shared/mavlink/payload.ts';
import type { Telemetry } from '../../../shared/rpc/telemetry.ts';
import { type FirstItem, firstItemOf } from '../../../shared/schemas/mission-item.ts';
import type { Clock } from '../clock.ts';
import type { Target } from '../encode.ts';
import type { Arming } from './arming.ts';
import { isAutopilot } from './autopilot-heartbeat.ts';
import { type Sensors, TelemetryModel } from './telemetry.ts';
import { VehicleMessages } from './vehicle-messages.ts';

/** If the heartbeat is older than this, the vehicle is not alive and its armed state is unknown (docs/contract.md 6). */
const ALIVE_MS = 3000;
/** After this silence another vehicle may take the place of the learned one. */
const FORGET_MS = 10_000;
/** If the boot time goes back by more than this, the vehicle has rebooted; by less, two messages came in the wrong order. */
const REBOOT_MS = 1000;
/**
 * After a new connection or a silence: a boot time that is behind our clock by more than this is a reboot; by less, a delay.
 */
const LAG_MS = 3000;

/** When it booted is known to about this. */
const BEGAN_MS = 500;

const AUTOPILOT_ARDUPILOT = 3;
const FLAG_ARMED = 128;

/** Why streams and parameters are requested again. */
export type SessionReason = 'learned' | 'connected' | 'returned' | 'rebooted';

/** What the vehicle reports to the other parts of the link. */
interface VehicleListener {
  /** A new session of the vehicle begins: earlier requests are void. */
  onSession(reason: SessionReason): void;
  onArmedChange(): void;
  onHeartbeat(): void;
  /** A telemetry message, by its id. */
  onTelemetry(id: number): void;
  onVersion(): void;
  onStatusText(part: StatusTextPart, component: number): void;
  /** Any other message of the vehicle, by its id. */
  onMessage(id: number): void;
}

/**
 * The vehicle at the flight-controller side of the link, from its own frames only. The first heartbeat of an autopilot names
 * it; from then on every other system is ignored until it has been silent for 10 s.
 *
 * While it is not alive, the last telemetry stays; `alive` and `armed` tell the reader so. When it is back, on a new connection
 * or after 10 s, it may have rebooted: until its boot time shows that it did not, only newer telemetry is shown.
 */
export class Vehicle {
  /** Gaps in the autopilot's sequence numbers. */
  lost = 0;
  /** How often its boot time has begun anew. */
  boots = 0;
  /** Null until AUTOPILOT_VERSION came. */
  version: AutopilotVersion | null = null;
  /** What it says to parts of the link. */
  readonly messages = new VehicleMessages();
  readonly #clock: Clock;
  #listener: VehicleListener | null = null;
  readonly #payload = new Payload();
  #target: Target | null = null;
  #heartbeat: Heartbeat | null = null;
  #heartbeatAt = 0;
  #newConnection = true;
  #armedByAck = false;
  readonly #arming: Arming;
  /** The newest boot time that it sent, and when. */
  #bootMs: number | null = null;
  #bootAt = 0;
  /** On the clock, when a reboot was ordered. */
  #rebootAt: number | null = null;
  /** It may have rebooted unnoticed: the next boot time is compared with the expected one. */
  #unheard = false;
  /** The telemetry before that, shown again if it turns out that the vehicle did not reboot. */
  #former: TelemetryModel | null = null;
  #seq: number | null = null;
  #model = new TelemetryModel();
  /** Wall clock of the newest telemetry message, null once it is in `last_update`. */
  #updatedAt: number | null = null;

  /** @param arming the armed guard's state, told of each frame by the caller */
  constructor(clock: Clock, arming: Arming) {
    this.#clock = clock;
    this.#arming = arming;
  }

  /** Before the first frame: what was said until then is not said again. */
  listen(listener: VehicleListener): void {
    this.#listener = listener;
  }

  /** The last telemetry, with its ages. Always the same object, until another vehicle or a reboot replaces it. */
  get telemetry(): Telemetry {
    const telemetry = this.#model.read(this.#clock.now());
    if (this.#updatedAt !== null) telemetry.last_update = new Date(this.#updatedAt).toISOString();
    this.#updatedAt = null;
    return telemetry;
  }

  /** The learned autopilot, null before its first heartbeat. */
  get target(): Target | null {
    return this.#target;
  }

  get heard(): boolean {
    return this.#heartbeat !== null;
  }

  /** ms since the newest heartbeat, null before the first one. */
  get heartbeatAge(): number | null {
    return this.#heartbeat === null ? null : this.#clock.now() - this.#heartbeatAt;
  }

  get alive(): boolean {
    return this.#heartbeat !== null && this.#clock.now() - this.#heartbeatAt <= ALIVE_MS;
  }

  /** The armed guard's state: what may happen now is judged by this. */
  get guard(): Armed {
    return this.#arming.of(this.#target?.system ?? null);
  }

  /**
   * What it says itself, for what is shown and recorded: heartbeat bit 128, or an arming of ours that it accepted since;
   * `unknown` when the newest heartbeat is older than 3 s; false while none was ever heard.
   */
  get armed(): Armed {
    if (this.#heartbeat === null) return false;
    if (!this.alive) return 'unknown';
    return this.#armedByAck || (this.#heartbeat.baseMode & FLAG_ARMED) !== 0;
  }

  /**
   * The vehicle has accepted an arming. The motors run up to a second before the next heartbeat says so, and the state must not
   * read "disarmed" during that second. A disarming counts only when a heartbeat shows it.
   */
  noteArmed(): void {
    this.#armedByAck = true;
    this.#model.values.armed = true;
    this.#listener?.onArmedChange();
  }

  get firmware(): 'ardupilot' | 'px4' | 'unknown' | null {
    if (this.#heartbeat === null) return null;
    if (this.#heartbeat.autopilot === AUTOPILOT_ARDUPILOT) return 'ardupilot';
    return this.#heartbeat.autopilot === AUTOPILOT_PX4 ? 'px4' : 'unknown';
  }

  /** The number that it gives to the mission's first item. */
  get firstItem(): FirstItem {
    return firstItemOf(this.#heartbeat?.autopilot) ?? 0;
  }

  get family(): Family | null {
    return this.#heartbeat === null ? null : familyOf(this.#heartbeat.autopilot, this.#heartbeat.type);
  }

  /** What its newest SYS_STATUS says of its sensors. */
  get sensors(): Sensors | null {
    return this.#model.sensors;
  }

  /** The newest sequence number of the autopilot. */
  get seq(): number {
    return this.#seq ?? 0;
  }

  /** Low 32 bits of MAV_PROTOCOL_CAPABILITY, null until they are known. */
  get capabilities(): number | null {
    return this.version?.capabilities ?? null;
  }

  /** custom_mode of the newest heartbeat. */
  get customMode(): number | null {
    return this.#heartbeat?.customMode ?? null;
  }

  /** A reboot is about to be ordered, or is not awaited any more. */
  awaitReboot(isAwaited: boolean): void {
    this.#rebootAt = isAwaited ? this.#clock.now() : null;
  }

  /** The transport has connected again: the vehicle may have lost our requests, or be another one. */
  connectionOpened(): void {
    this.#newConnection = true;
    this.#unheard = true;
    this.#seq = null;
  }

  /** One frame of the flight-controller side. */
  handle(frame: Frame): void {
    if (frame.id === MSG.HEARTBEAT && frame.known) this.#onHeartbeat(frame);
    const target = this.#target;
    if (target === null || frame.system !== target.system) return;
    if (frame.id === MSG.STATUSTEXT) {
      this.#listener?.onStatusText(decodeStatusText(this.#payload.load(frame)), frame.component);
    }
    if (frame.component !== target.component) return;
    this.#countLost(frame.seq);
    if (frame.known) this.#onVehicleMessage(frame);
  }

  #onVehicleMessage(frame: Frame): void {
    const payload = this.#payload.load(frame);
    switch (frame.id) {
      case MSG.HEARTBEAT:
      case MSG.STATUSTEXT:
        return;
      case MSG.AUTOPILOT_VERSION:
        this.version = decodeAutopilotVersion(payload);
        this.#listener?.onVersion();
        return;
      case MSG.SYSTEM_TIME:
        this.#onBootTime(decodeSystemTimeBootMs(payload));
        return;
      default:
        if (!this.messages.deliver(frame, payload)) this.#onTelemetry(frame);
    }
  }

  #onTelemetry(frame: Frame): void {
    const now = this.#clock.now();
    const bootMs = this.#model.apply(frame.id, this.#payload.load(frame), now);
    if (bootMs === null) {
      this.#listener?.onMessage(frame.id);
      return;
    }
    if (bootMs >= 0 && this.#onBootTime(bootMs)) {
      // The telemetry model was replaced and has not seen this message yet.
      this.#model.apply(frame.id, this.#payload.load(frame), now);
    }
    this.#updatedAt = this.#clock.wall();
    this.#listener?.onTelemetry(frame.id);
  }

  #onHeartbeat(frame: Frame): void {
    const heartbeat = decodeHeartbeat(this.#payload.load(frame));
    if (!isAutopilot(heartbeat)) return;
    const now = this.#clock.now();
    const target = this.#target;
    const same = target?.system === frame.system && target.component === frame.component;
    const forgotten = target !== null && now - this.#heartbeatAt > FORGET_MS;
    if (target !== null && !same && !forgotten) return;

    this.#heartbeat = heartbeat;
    this.#heartbeatAt = now;
    this.#armedByAck = false;
    let reason: SessionReason | null = null;
    if (!same) {
      this.#target = { system: frame.system, component: frame.component };
      this.#model = new TelemetryModel();
      this.#seq = null;
      this.version = null;
      this.#bootMs = null;
      reason = 'learned';
    } else if (this.#newConnection) reason = 'connected';
    else if (forgotten) {
      this.#unheard = true;
      reason = 'returned';
    }
    if (reason === 'connected' || reason === 'returned') {
      this.#former ??= this.#model;
      this.#model = new TelemetryModel();
    } else if (reason === 'learned') this.#former = null;
    this.#writeHeartbeat(heartbeat);
    if (reason !== null) this.#beginSession(reason);
    this.#listener?.onHeartbeat();
  }

  #writeHeartbeat(heartbeat: Heartbeat): void {
    const telemetry = this.#model.values;
    telemetry.mav_type = heartbeat.type;
    telemetry.autopilot = heartbeat.autopilot;
    telemetry.armed = (heartbeat.baseMode & FLAG_ARMED) !== 0;
    telemetry.mode = modeName(this.family, heartbeat.customMode);
    telemetry.last_heartbeat = new Date(this.#clock.wall()).toISOString();
    telemetry.last_update = telemetry.last_heartbeat;
    this.#updatedAt = null;
  }

  /** @param model the telemetry from now on, besides the newest heartbeat */
  #show(model: TelemetryModel): void {
    this.#model = model;
    this.#former = null;
    if (this.#heartbeat !== null) this.#writeHeartbeat(this.#heartbeat);
  }

  #beginSession(reason: SessionReason): void {
    this.#newConnection = false;
    this.#listener?.onSession(reason);
  }

  /**
   * Drops old telemetry if the vehicle has rebooted since the message before, also on another connection.
   * @returns whether `telemetry` was replaced
   */
  #onBootTime(bootMs: number): boolean {
    const before = this.#bootMs;
    const now = this.#clock.now();
    const unheard = this.#unheard;
    this.#unheard = false;
    const lags = before !== null && unheard && bootMs < before + (now - this.#bootAt) - LAG_MS;
    if (before !== null && (lags || bootMs < before - REBOOT_MS || this.#isOrdered(bootMs, before))) {
      this.#show(new TelemetryModel()); // the old telemetry is from before the reboot
      this.version = null; // its firmware may have changed
      this.boots++;
      this.#rebootAt = null;
      this.#bootMs = bootMs;
      this.#bootAt = now;
      this.#beginSession('rebooted');
      return true;
    }
    this.#bootMs = Math.max(bootMs, before ?? 0);
    this.#bootAt = now;
    if (this.#former === null) return false;
    this.#show(this.#former);
    return true;
  }

  /** Whether that boot time began after the ordered reboot, also of one that had only just booted. */
  #isOrdered(bootMs: number, before: number): boolean {
    if (this.#rebootAt === null) return false;
    const began = this.#clock.now() - bootMs;
    return began > this.#rebootAt - BEGAN_MS && began > this.#bootAt - before + BEGAN_MS;
  }

  #countLost(seq: number): void {
    const gap = this.#seq === null ? 0 : (seq - this.#seq - 1) & 0xff;
    if (gap < 128) this.lost += gap; // a larger gap is a late frame, not lost ones
    this.#seq = seq;
  }
}
