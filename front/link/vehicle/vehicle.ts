import { ApiError } from '../../../shared/errors.ts';
import type { Armed } from '../../../shared/flight/armed.ts';
import { AUTOPILOT_PX4, type Family, familyOf, modeName } from '../../../shared/flight/modes.ts';
import { SYSTEM_STATES } from '../../../shared/flight/system-state.ts';
import {
  type AutopilotVersion,
  decodeAutopilotVersion,
  decodeHeartbeat,
  decodeStatusText,
  decodeSystemTimeBootMs,
  type Heartbeat,
  type StatusTextPart,
} from '../../../shared/mavlink/decode.ts';
import {
  decodeHighLatency,
  decodeHighLatency2,
  type HighLatency,
} from '../../../shared/mavlink/decode-latency.ts';
import type { Frame } from '../../../shared/mavlink/frame.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import { Payload } from '../../../shared/mavlink/payload.ts';
import type { Telemetry } from '../../../shared/rpc/telemetry.ts';
import { type FirstItem, firstItemOf } from '../../../shared/schemas/mission-item.ts';
import type { Clock } from '../clock.ts';
import type { Target } from '../encode.ts';
import type { Part, SessionReason, StatusLine } from '../part.ts';
import { BootClock } from './boot-clock.ts';
import type { Choice } from './choice.ts';
import { Failsafes } from './failsafe.ts';
import { type Sensors, TelemetryModel } from './telemetry.ts';
import { VehicleMessages } from './vehicle-messages.ts';

/**
 * If its newest frame is older than this, the vehicle is not alive; if its newest heartbeat is, its armed state is unknown
 * (docs/contract/flight.md).
 */
const ALIVE_MS = 3000;
/** After this silence it may be another one with the same id, or have rebooted. */
const FORGET_MS = 10_000;
/**
 * On a link that has only HIGH_LATENCY it is alive for two and a half of their intervals: PX4 sends one in 5 s to 66 s. Until two have
 * come, and at most, so long.
 */
const LATENCY_FIRST_MS = 30_000;
const LATENCY_MOST_MS = 180_000;
const LATENCY_INTERVALS = 2.5;
/** From a command that changes the mode to the heartbeat that shows it. */
const ORDER_MS = 5000;
/** From the text of a failsafe to the heartbeat that shows the mode it chose. */
const FAILSAFE_MS = 3000;
const AUTOPILOT_ARDUPILOT = 3;
const FLAG_ARMED = 128;
const NEVER = Number.NEGATIVE_INFINITY;

/** When something was seen: on the monotonic clock, and by the wall clock of then, which names it. */
interface When {
  readonly at: number;
  readonly wall: number;
}

/** Another vehicle took the place of the one before: system ids. */
interface VehicleChange extends When {
  readonly from: number;
  readonly to: number;
}

/** Who had the mode changed: a caller of the node, a ground station or script beside it, the vehicle's failsafe, or else itself. */
type ModeChanger = 'node' | 'station' | 'failsafe' | 'vehicle';

/** Its mode has changed. */
interface ModeChange extends When {
  readonly from: string;
  readonly to: string;
  readonly by: ModeChanger;
}

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
  onOther(id: number): void;
}

/**
 * The vehicle at the flight-controller side of the link, from its own frames only; which one that is, choice.ts says. Any of its
 * frames shows that it is there: an ArduPilot that calibrates its accelerometers sends no heartbeats.
 *
 * While it is not alive, the last telemetry stays; `alive` and `armed` tell the reader so. When it is back, on a new connection
 * or after 10 s, it may have rebooted: until its boot time shows that it did not, only newer telemetry is shown.
 */
export class Vehicle implements Part {
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
  /** Monotonic ms of its newest heartbeat, and of what last said whether it is armed. */
  #heartbeatAt = NEVER;
  #saidAt = NEVER;
  /** The newest HIGH_LATENCY, and the time between the last two. */
  #latencyAt = NEVER;
  #latencyGap: number | null = null;
  #modeChange: ModeChange | null = null;
  /** Who has ordered what may change the mode, and when. */
  #order: { readonly by: ModeChanger; readonly at: number } = { by: 'vehicle', at: NEVER };
  /** Monotonic ms of its newest frame, null before the first one. */
  #frameAt: number | null = null;
  /** The transport is open, and whether the vehicle was heard on this connection. */
  #open = false;
  #heardHere = false;
  /** It was silent for so long that it may be another one. */
  #wasGone = false;
  #changed: VehicleChange | null = null;
  readonly #choice: Choice;
  readonly #failsafes: Failsafes;
  #newConnection = true;
  #armedByAck = false;
  readonly #boot: BootClock;
  /** The telemetry before that, shown again if it turns out that the vehicle did not reboot. */
  #former: TelemetryModel | null = null;
  #seq: number | null = null;
  #model = new TelemetryModel();
  /** Wall clock of the newest telemetry message, null once it is in `last_update`. */
  #updatedAt: number | null = null;

  constructor(clock: Clock, choice: Choice) {
    this.#clock = clock;
    this.#boot = new BootClock(clock);
    this.#choice = choice;
    this.#failsafes = new Failsafes(clock);
  }

  /** Before the first frame: what was said until then is not said again. */
  listen(listener: VehicleListener): void {
    this.#listener = listener;
  }

  /** The last telemetry, with its ages. Always the same object, until another vehicle or a reboot replaces it. */
  get telemetry(): Telemetry {
    const telemetry = this.#model.read(this.#clock.now());
    this.#failsafes.write(telemetry, this.#model.sensors);
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
    return this.#heartbeatAt === NEVER ? null : this.#clock.now() - this.#heartbeatAt;
  }

  /** ms since its newest frame with a right checksum, null before the first one. */
  get linkAge(): number | null {
    return this.#frameAt === null ? null : this.#clock.now() - this.#frameAt;
  }

  get alive(): boolean {
    const { linkAge } = this;
    return this.#heartbeat !== null && linkAge !== null && linkAge <= this.#aliveMs;
  }

  get #aliveMs(): number {
    if (this.#latencyAt - this.#heartbeatAt <= ALIVE_MS || this.#latencyAt === NEVER) return ALIVE_MS;
    const gap = this.#latencyGap;
    if (gap === null) return LATENCY_FIRST_MS;
    return Math.min(LATENCY_MOST_MS, Math.max(ALIVE_MS, gap * LATENCY_INTERVALS));
  }

  /** The newest change of its mode; null: none was seen. */
  get modeChange(): ModeChange | null {
    return this.#modeChange;
  }

  /** A line that it has said. */
  onLine(line: StatusLine): void {
    this.#failsafes.onLine(line);
  }

  /** Somebody has sent what may change its mode. */
  ordered(by: 'node' | 'station'): void {
    this.#order = { by, at: this.#clock.now() };
  }

  /** The newest time that another vehicle took the place of the one before; null: never. */
  get changed(): VehicleChange | null {
    return this.#changed;
  }

  /** Whom commands are for by now, also one that only an earlier process has heard; null: nobody was ever heard. */
  get known(): Target | null {
    return this.#target ?? this.#choice.chosen;
  }

  /** Somebody else commands it: no better one takes its place from then on. */
  commanded(): void {
    this.#choice.commanded();
  }

  /**
   * Whom somebody's command is sent to; no better one takes its place from then on.
   * @param always it takes energy out: it is sent while the line is open, however long nothing was heard
   * @throws ApiError E_NO_FC where the source is closed, or no vehicle was heard since it was opened
   */
  reach(always = false): Target {
    const target = always ? this.known : this.#target;
    if (target === null || !this.#open || !(always || this.#heardHere)) throw new ApiError('E_NO_FC');
    this.#choice.commanded();
    return target;
  }

  /**
   * What it says itself, for what is shown and recorded: heartbeat bit 128, or an arming of ours that it accepted since;
   * `unknown` when the newest heartbeat is older than 3 s; false while none was ever heard.
   */
  get armed(): Armed {
    if (this.#heartbeat === null) return false;
    if (this.#clock.now() - this.#saidAt > ALIVE_MS) return 'unknown';
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
    const said = this.#heartbeat ?? this.#choice.chosen;
    return said === null ? null : familyOf(said.autopilot, said.type);
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
    this.#boot.order(isAwaited);
  }

  /** The transport has connected again: the vehicle may have lost our requests, or be another one. */
  connectionOpened(): void {
    this.#open = true;
    this.#heardHere = false;
    this.#newConnection = true;
    this.#boot.returned();
    this.#seq = null;
  }

  connectionClosed(): void {
    this.#open = false;
  }

  /** One frame of the flight-controller side. */
  onFrame(frame: Frame): void {
    if (frame.id === MSG.HEARTBEAT && frame.known)
      this.#onSelf(frame, decodeHeartbeat(this.#payload.load(frame)), true);
    else if ((frame.id === MSG.HIGH_LATENCY || frame.id === MSG.HIGH_LATENCY2) && frame.known)
      this.#onLatency(frame);
    const target = this.#target;
    if (target === null || frame.system !== target.system) return;
    if (frame.id === MSG.STATUSTEXT) {
      this.#listener?.onStatusText(decodeStatusText(this.#payload.load(frame)), frame.component);
    }
    if (frame.component !== target.component) {
      // A battery that tells of itself: PX4 acts by it as by its own.
      if (frame.id === MSG.BATTERY_STATUS && frame.known) this.#onTelemetry(frame, frame.component);
      return;
    }
    if (frame.known) this.#hear();
    this.#countLost(frame.seq);
    if (frame.known) this.#onVehicleMessage(frame);
  }

  /** A frame of the vehicle. */
  #hear(): void {
    const now = this.#clock.now();
    if (this.#frameAt !== null && now - this.#frameAt > FORGET_MS) this.#wasGone = true;
    this.#frameAt = now;
    this.#heardHere = true;
    this.#choice.heard();
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
        this.#onBootTime(frame.id, decodeSystemTimeBootMs(payload));
        return;
      default:
        if (!this.messages.deliver(frame, payload)) this.#onTelemetry(frame);
    }
  }

  /** @param component who told, where that is not the autopilot */
  #onTelemetry(frame: Frame, component: number | null = null): void {
    const now = this.#clock.now();
    const bootMs = this.#model.apply(frame.id, this.#payload.load(frame), now, component);
    if (bootMs === null) {
      this.#listener?.onOther(frame.id);
      return;
    }
    if (bootMs >= 0 && this.#onBootTime(frame.id, bootMs)) {
      // The telemetry model was replaced and has not seen this message yet.
      this.#model.apply(frame.id, this.#payload.load(frame), now);
    }
    this.#updatedAt = this.#clock.wall();
    this.#listener?.onTelemetry(frame.id);
  }

  /** It stands for the heartbeat on a link that has none. */
  #onLatency(frame: Frame): void {
    const payload = this.#payload.load(frame);
    const message: HighLatency =
      frame.id === MSG.HIGH_LATENCY ? decodeHighLatency(payload) : decodeHighLatency2(payload);
    const before = this.#target?.system === frame.system ? this.#heartbeat : null;
    const { type, autopilot } = message.kind ?? before ?? { type: 0, autopilot: 0 };
    const baseMode = message.baseMode ?? before?.baseMode ?? 0;
    const systemStatus = before?.systemStatus ?? 0;
    const heartbeat = { customMode: message.customMode, type, autopilot, baseMode, systemStatus };
    this.#onSelf(frame, heartbeat, message.baseMode !== null, true);
  }

  /** @param says the message says whether it is armed @param isLatency it is no heartbeat */
  #onSelf(frame: Frame, heartbeat: Heartbeat, says: boolean, isLatency = false): void {
    if (!this.#choice.takes(frame.system, frame.component, heartbeat)) return;
    const now = this.#clock.now();
    const target = this.#target;
    const same = target?.system === frame.system && target.component === frame.component;

    if (same) this.#hear();
    this.#noteMode(same ? this.#heartbeat : null, heartbeat);
    this.#heartbeat = heartbeat;
    if (!same) {
      this.#heartbeatAt = NEVER;
      this.#saidAt = NEVER;
      this.#latencyAt = NEVER;
      this.#latencyGap = null;
      this.#modeChange = null;
      this.#failsafes.forget();
    }
    if (isLatency) {
      this.#latencyGap = this.#latencyAt === NEVER ? null : now - this.#latencyAt;
      this.#latencyAt = now;
    } else this.#heartbeatAt = now;
    if (says) {
      this.#saidAt = now;
      this.#armedByAck = false;
    }
    let reason: SessionReason | null = null;
    if (!same) {
      this.#target = { system: frame.system, component: frame.component };
      if (target !== null)
        this.#changed = { at: now, wall: this.#clock.wall(), from: target.system, to: frame.system };
      this.#frameAt = now;
      this.#model = new TelemetryModel();
      this.#seq = null;
      this.version = null;
      this.#boot.forget();
      reason = 'learned';
    } else if (this.#newConnection) reason = 'connected';
    else if (this.#wasGone) {
      this.#boot.returned();
      reason = 'returned';
    }
    this.#wasGone = false;
    if (reason === 'connected' || reason === 'returned') {
      this.#former ??= this.#model;
      this.#model = new TelemetryModel();
    } else if (reason === 'learned') this.#former = null;
    this.#writeHeartbeat(heartbeat);
    if (reason !== null) this.#beginSession(reason);
    this.#listener?.onHeartbeat();
  }

  #noteMode(before: Heartbeat | null, heartbeat: Heartbeat): void {
    if (before === null || before.customMode === heartbeat.customMode) return;
    const from = modeName(familyOf(before.autopilot, before.type), before.customMode);
    const to = modeName(familyOf(heartbeat.autopilot, heartbeat.type), heartbeat.customMode);
    if (from === null || to === null || from === to) return;
    const now = this.#clock.now();
    const ordered = now - this.#order.at <= ORDER_MS ? this.#order.by : 'vehicle';
    const by = this.#failsafes.actsSince(now - FAILSAFE_MS) ? 'failsafe' : ordered;
    this.#modeChange = { at: now, wall: this.#clock.wall(), from, to, by };
  }

  #writeHeartbeat(heartbeat: Heartbeat): void {
    const telemetry = this.#model.values;
    telemetry.mav_type = heartbeat.type;
    telemetry.autopilot = heartbeat.autopilot;
    telemetry.armed =
      this.#clock.now() - this.#saidAt > ALIVE_MS ? null : (heartbeat.baseMode & FLAG_ARMED) !== 0;
    telemetry.mode = modeName(this.family, heartbeat.customMode);
    telemetry.system_state =
      this.#heartbeatAt === NEVER ? null : (SYSTEM_STATES[heartbeat.systemStatus] ?? null);
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
  #onBootTime(id: number, bootMs: number): boolean {
    const shows = this.#boot.hear(id, bootMs);
    if (shows === 'restarted') {
      this.#show(new TelemetryModel()); // the old telemetry is from before the reboot
      this.version = null; // its firmware may have changed
      this.boots++;
      this.#beginSession('rebooted');
      return true;
    }
    if (shows === 'unsure' || this.#former === null) return false;
    this.#show(this.#former);
    return true;
  }

  #countLost(seq: number): void {
    const gap = this.#seq === null ? 0 : (seq - this.#seq - 1) & 0xff;
    if (gap < 128) this.lost += gap; // a larger gap is a late frame, not lost ones
    this.#seq = seq;
  }
}
