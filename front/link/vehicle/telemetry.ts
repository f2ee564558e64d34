import { batteryState } from '../../../shared/flight/battery-state.ts';
import { compass } from '../../../shared/flight/geo.ts';
import { AUTOPILOT_PX4 } from '../../../shared/flight/modes.ts';
import type { Place } from '../../../shared/flight/seen.ts';
import { TELEMETRY_GROUPS, type TelemetryGroup } from '../../../shared/flight/telemetry-groups.ts';
import {
  type Attitude,
  type BatteryStatus,
  decodeAttitude,
  decodeBatteryStatus,
  decodeGlobalPosition,
  decodeGpsRaw,
  decodeHomePosition,
  decodeRcChannels,
  decodeSysStatus,
  decodeVfrHud,
  type GlobalPosition,
  type GpsRaw,
  type HomePosition,
  type RcChannels,
  type SysStatus,
  type VfrHud,
} from '../../../shared/mavlink/decode.ts';
import {
  decodeEkfStatus,
  decodeEstimatorStatus,
  decodeLandedState,
  decodeMissionCurrent,
  decodeMissionItemReached,
  decodeWind,
  decodeWindCov,
  type MissionCurrent,
  type Wind,
  type WindCov,
} from '../../../shared/mavlink/decode-flight.ts';
import {
  decodeEscInfo,
  decodeEscStatus,
  decodeEscTelemetry,
  decodeServoOutputs,
  decodeVibration,
  type Vibration,
} from '../../../shared/mavlink/decode-motors.ts';
import {
  type AdsbVehicle,
  type Collision,
  decodeAdsbVehicle,
  decodeCollision,
  decodeFenceStatus,
} from '../../../shared/mavlink/decode-traffic.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import type { Payload } from '../../../shared/mavlink/payload.ts';
import type { Esc, Telemetry } from '../../../shared/rpc/telemetry.ts';
import { firstItemOf } from '../../../shared/schemas/mission-item.ts';
import { applyEkf } from './ekf.ts';
import { finite, scaled } from './known.ts';
import { Motors } from './motors.ts';
import { Traffic } from './traffic.ts';
import { fenceOf, threatId, threatOf } from './warnings.ts';

const U8_UNKNOWN = 0xff;
/** Centiamperes. */
const PX4_CURRENT_UNKNOWN = -100;
const U16_UNKNOWN = 0xffff;
const I16_UNKNOWN = 0x7fff;
/** A flight battery's cell has less; a larger value is the whole pack, which ArduPilot sends if there is no cell monitor. */
const MAX_CELL_MV = 5000;
/** In BATTERY_STATUS: the voltage of a pack above 65.534 V continues in the next element. */
const CELL_OVERFLOW = 0xfffe;
/** If the better of two messages came within this time, the other one is ignored. */
const FRESH_MS = 3000;
/** GPS_FIX_TYPE_3D_FIX: below it the receiver's altitude and position are not reliable. */
const FIX_3D = 3;
/** ArduPilot repeats the report of a threat each second or so; when it says nothing more, there is none. */
const THREAT_MS = 5000;
/** Where the vehicle was this long ago tells nothing about its distance to others. */
const OWN_PLACE_MS = 10_000;
/** degE7 around 0,0 that are no place. */
const NOWHERE_E7 = 100_000;
const NEVER = Number.NEGATIVE_INFINITY;

/** By MAV_LANDED_STATE; 0 is "undefined". */
const LANDED_STATES = [null, 'on_ground', 'in_air', 'takeoff', 'landing'] as const;
/** By MISSION_STATE; 0 is "unknown". */
const MISSION_STATES = [null, 'none', 'not_started', 'active', 'paused', 'complete'] as const;

/** MAV_SYS_STATUS_SENSOR bits. */
export type Sensors = Pick<SysStatus, 'present' | 'enabled' | 'health'>;

/** Telemetry before anything was received. */
function emptyTelemetry(): Telemetry {
  return {
    mav_type: null,
    autopilot: null,
    armed: null,
    mode: null,
    position: { lat: null, lon: null, alt_msl: null, alt_rel: null, heading: null },
    velocity: { vx: null, vy: null, vz: null, groundspeed: null, airspeed: null, climb: null },
    attitude: { roll: null, pitch: null, yaw: null },
    battery: {
      voltage: null,
      current: null,
      remaining: null,
      temperature: null,
      cell_voltages: null,
      state: null,
    },
    gps: { fix_type: null, satellites: null, eph: null, epv: null },
    home: { lat: null, lon: null, alt_msl: null },
    rc: { channels: null, rssi: null },
    servo_outputs: null,
    esc: null,
    vibration: null,
    wind: null,
    throttle: null,
    ekf: {
      source: null,
      ok: null,
      flags: null,
      variances: {
        velocity: null,
        pos_horiz: null,
        pos_vert: null,
        compass: null,
        terrain: null,
        airspeed: null,
      },
    },
    landed_state: null,
    mission: { current: null, reached: null, total: null, state: null },
    prearm: { can_arm: null, reasons: [], checked_at: null },
    traffic: null,
    collision: null,
    fence: null,
    sources: { position: null, battery: null },
    ages: {
      position: null,
      velocity: null,
      attitude: null,
      battery: null,
      gps: null,
      home: null,
      rc: null,
      servo_outputs: null,
      esc: null,
      vibration: null,
      wind: null,
      ekf: null,
      mission: null,
      landed_state: null,
      traffic: null,
      collision: null,
      fence: null,
    },
    last_heartbeat: null,
    last_update: null,
  };
}

/**
 * Until it knows where it is, ArduPilot sends 0,0; an ArduPlane reckons on from there without GPS, some metres a minute
 * (AP_AHRS_DCM). Within a kilometre of it there is only water.
 */
function isSomewhere({ lat, lon }: { readonly lat: number; readonly lon: number }): boolean {
  return Math.abs(lat) > NOWHERE_E7 || Math.abs(lon) > NOWHERE_E7;
}

/**
 * The vehicle's telemetry in the units of the API, with null for MAVLink's "unknown". A message only stores the time of its
 * group; ages are computed on reading.
 *
 * Two values come from two messages each. Position: GLOBAL_POSITION_INT, and the receiver's own GPS_RAW_INT (a fix of 3D or
 * better) while that has had none for 3 s. Battery: SYS_STATUS, and BATTERY_STATUS of the first battery while that has no
 * voltage. `sources` says which message was used.
 */
export class TelemetryModel {
  readonly #values = emptyTelemetry();
  /** On the clock, ms. */
  readonly #stamps: Record<TelemetryGroup, number> = {
    position: NEVER,
    velocity: NEVER,
    attitude: NEVER,
    battery: NEVER,
    gps: NEVER,
    home: NEVER,
    rc: NEVER,
    servo_outputs: NEVER,
    esc: NEVER,
    vibration: NEVER,
    wind: NEVER,
    ekf: NEVER,
    mission: NEVER,
    landed_state: NEVER,
    traffic: NEVER,
    collision: NEVER,
    fence: NEVER,
  };
  readonly #traffic = new Traffic();
  readonly #motors = new Motors();
  /** The newest GLOBAL_POSITION_INT: any, and one with a place. */
  #estimateAt = NEVER;
  #placeAt = NEVER;
  /** The newest SYS_STATUS that has a voltage. */
  #voltageAt = NEVER;
  #now = 0;

  /** The state of its sensors, of the newest SYS_STATUS. */
  sensors: Sensors | null = null;

  /** The same object as returned by the newest `read`, with its ages. */
  get values(): Telemetry {
    return this.#values;
  }

  /** @param now on the clock that `apply` was given */
  read(now: number): Telemetry {
    const { ages } = this.#values;
    for (const group of TELEMETRY_GROUPS) {
      const stamp = this.#stamps[group];
      ages[group] = stamp === NEVER ? null : Math.round(now - stamp) / 1000;
    }
    if (this.#stamps.traffic !== NEVER)
      this.#values.traffic = { vehicles: this.#traffic.list(now, this.#ownPlace(now)) };
    if (now - this.#stamps.collision > THREAT_MS) this.#values.collision = null;
    return this.#values;
  }

  /**
   * Takes one message of the vehicle.
   * @param now ms, monotonic
   * @returns the milliseconds since boot that the message carries, -1 when it carries none, null when it is not telemetry
   */
  apply(id: number, payload: Payload, now: number): number | null {
    this.#now = now;
    switch (id) {
      case MSG.ATTITUDE:
        return this.#attitude(decodeAttitude(payload));
      case MSG.GLOBAL_POSITION_INT:
        return this.#position(decodeGlobalPosition(payload));
      case MSG.RC_CHANNELS:
        return this.#rc(decodeRcChannels(payload));
      case MSG.GPS_RAW_INT:
        return this.#gps(decodeGpsRaw(payload));
      case MSG.SYS_STATUS:
        return this.#sysStatus(decodeSysStatus(payload));
      case MSG.BATTERY_STATUS:
        return this.#battery(decodeBatteryStatus(payload));
      case MSG.VFR_HUD:
        return this.#hud(decodeVfrHud(payload));
      case MSG.HOME_POSITION:
        return this.#home(decodeHomePosition(payload));
      case MSG.EKF_STATUS_REPORT:
        applyEkf(this.#values, 'EKF_STATUS_REPORT', decodeEkfStatus(payload));
        return this.#stamp('ekf');
      case MSG.ESTIMATOR_STATUS:
        applyEkf(this.#values, 'ESTIMATOR_STATUS', decodeEstimatorStatus(payload));
        return this.#stamp('ekf');
      case MSG.EXTENDED_SYS_STATE:
        this.#values.landed_state = LANDED_STATES[decodeLandedState(payload)] ?? null;
        return this.#stamp('landed_state');
      case MSG.ADSB_VEHICLE:
        return this.#aircraft(decodeAdsbVehicle(payload));
      case MSG.COLLISION:
        return this.#collision(decodeCollision(payload));
      case MSG.FENCE_STATUS:
        this.#values.fence = fenceOf(decodeFenceStatus(payload));
        return this.#stamp('fence');
      case MSG.SERVO_OUTPUT_RAW:
        this.#values.servo_outputs = this.#motors.outputs(decodeServoOutputs(payload));
        return this.#stamp('servo_outputs');
      case MSG.VIBRATION:
        return this.#vibration(decodeVibration(payload));
      case MSG.WIND:
        return this.#windFrom(decodeWind(payload));
      case MSG.WIND_COV:
        return this.#windTo(decodeWindCov(payload));
      case MSG.ESC_TELEMETRY_1_TO_4:
      case MSG.ESC_TELEMETRY_5_TO_8:
      case MSG.ESC_TELEMETRY_9_TO_12: {
        const first = 1 + 4 * (id - MSG.ESC_TELEMETRY_1_TO_4);
        return this.#esc(this.#motors.telemetry(first, decodeEscTelemetry(payload)));
      }
      case MSG.ESC_STATUS:
        return this.#esc(this.#motors.status(decodeEscStatus(payload)));
      case MSG.ESC_INFO:
        return this.#esc(this.#motors.info(decodeEscInfo(payload)));
      case MSG.MISSION_CURRENT:
        return this.#mission(decodeMissionCurrent(payload));
      case MSG.MISSION_ITEM_REACHED:
        this.#values.mission.reached = this.#item(decodeMissionItemReached(payload));
        return this.#stamp('mission');
      default:
        return null;
    }
  }

  /** @returns -1: the message carries no time since boot */
  #stamp(group: TelemetryGroup): -1 {
    this.#stamps[group] = this.#now;
    return -1;
  }

  #attitude(message: Attitude): number {
    const { attitude } = this.#values;
    attitude.roll = finite(message.roll);
    attitude.pitch = finite(message.pitch);
    attitude.yaw = finite(message.yaw);
    this.#stamp('attitude');
    return message.timeBootMs;
  }

  #position(message: GlobalPosition): number {
    const { position, velocity } = this.#values;
    this.#estimateAt = this.#now;
    if (isSomewhere(message)) {
      this.#placeAt = this.#now;
      this.#place('GLOBAL_POSITION_INT', message);
    } else if (this.#values.sources.position === 'GLOBAL_POSITION_INT') {
      this.#placeAt = NEVER; // GPS_RAW_INT is used at once
      this.#noPlace();
    }
    position.alt_rel = message.relativeAlt / 1000;
    position.heading = scaled(message.hdg, U16_UNKNOWN, 100);
    velocity.vx = scaled(message.vx, I16_UNKNOWN, 100);
    velocity.vy = scaled(message.vy, I16_UNKNOWN, 100);
    velocity.vz = scaled(message.vz, I16_UNKNOWN, 100);
    this.#stamp('velocity');
    return message.timeBootMs;
  }

  #place(source: 'GLOBAL_POSITION_INT' | 'GPS_RAW_INT', place: GlobalPosition | GpsRaw): void {
    const { position, sources } = this.#values;
    position.lat = place.lat / 1e7;
    position.lon = place.lon / 1e7;
    position.alt_msl = place.alt / 1000;
    sources.position = source;
    this.#stamp('position');
  }

  #noPlace(): void {
    const { position, sources } = this.#values;
    position.lat = null;
    position.lon = null;
    position.alt_msl = null;
    sources.position = null;
  }

  #gps(message: GpsRaw): number {
    const { gps, position, sources } = this.#values;
    gps.fix_type = message.fixType;
    gps.satellites = scaled(message.satellites, U8_UNKNOWN, 1);
    gps.eph = scaled(message.eph, U16_UNKNOWN, 100);
    gps.epv = scaled(message.epv, U16_UNKNOWN, 100);
    this.#stamp('gps');
    if (this.#now - this.#placeAt <= FRESH_MS) return -1;
    if (message.fixType >= FIX_3D && isSomewhere(message)) {
      this.#place('GPS_RAW_INT', message);
      if (this.#now - this.#estimateAt > FRESH_MS) {
        position.alt_rel = null; // it belonged to the old estimate, not to this position
        position.heading = null;
      }
    } else if (sources.position === 'GPS_RAW_INT') this.#noPlace();
    return -1;
  }

  #rc(message: RcChannels): number {
    const { rc } = this.#values;
    // Without a receiver there are no channels; an unused one in between reads 0, as on a receiver that sends nothing on it.
    rc.channels =
      message.count === 0
        ? null
        : message.channels.slice(0, message.count).map((us) => (us === U16_UNKNOWN ? 0 : us));
    rc.rssi = scaled(message.rssi, U8_UNKNOWN, 1);
    this.#stamp('rc');
    return message.timeBootMs;
  }

  #sysStatus(message: SysStatus): number {
    const { present, enabled, health } = message;
    this.sensors = { present, enabled, health };
    const voltage = scaled(message.voltage, U16_UNKNOWN, 1000);
    if (voltage === null) {
      if (this.#values.sources.battery === 'SYS_STATUS') this.#charge(null, null, null, null);
      return -1;
    }
    this.#voltageAt = this.#now;
    return this.#charge(
      'SYS_STATUS',
      voltage,
      this.#amperes(message.current),
      scaled(message.remaining, -1, 1),
    );
  }

  /** PX4's own unknown is -1 A, and is sent as -100 (BatteryStatus.msg). */
  #amperes(centiamperes: number): number | null {
    return this.#isPx4 && centiamperes === PX4_CURRENT_UNKNOWN ? null : scaled(centiamperes, -1, 100);
  }

  get #isPx4(): boolean {
    return this.#values.autopilot === AUTOPILOT_PX4;
  }

  #battery(message: BatteryStatus): number {
    if (message.id !== 0) return -1; // only the first battery, as in SYS_STATUS
    const { battery } = this.#values;
    battery.temperature = scaled(message.temperature, I16_UNKNOWN, 100);
    battery.state = batteryState(message.chargeState);
    const cells = [
      ...message.cells.filter((mv) => mv !== U16_UNKNOWN),
      ...message.cellsExt.filter((mv) => mv !== 0 && mv !== U16_UNKNOWN),
    ];
    const perCell = cells.length > 0 && cells.every((mv) => mv <= MAX_CELL_MV);
    battery.cell_voltages = perCell ? cells.map((mv) => mv / 1000) : null;
    if (this.#now - this.#voltageAt <= FRESH_MS || cells.length === 0) return this.#stamp('battery');
    const volts = cells.reduce((sum, mv) => sum + Math.min(mv, CELL_OVERFLOW), 0) / 1000;
    return this.#charge(
      'BATTERY_STATUS',
      volts,
      this.#amperes(message.current),
      scaled(message.remaining, -1, 1),
    );
  }

  #charge(
    source: Telemetry['sources']['battery'],
    voltage: number | null,
    current: number | null,
    remaining: number | null,
  ): number {
    const { battery, sources } = this.#values;
    sources.battery = source;
    battery.voltage = voltage;
    battery.current = current;
    battery.remaining = remaining;
    return source === null ? -1 : this.#stamp('battery');
  }

  #hud(message: VfrHud): number {
    const { velocity } = this.#values;
    velocity.airspeed = finite(message.airspeed);
    velocity.groundspeed = finite(message.groundspeed);
    velocity.climb = finite(message.climb);
    this.#values.throttle = scaled(message.throttle, U16_UNKNOWN, 1);
    return this.#stamp('velocity');
  }

  #home(message: HomePosition): number {
    const { home } = this.#values;
    home.lat = message.lat / 1e7;
    home.lon = message.lon / 1e7;
    home.alt_msl = message.alt / 1000;
    return this.#stamp('home');
  }

  #vibration({ x, y, z, clips }: Vibration): number {
    // PX4 puts measures of its gyroscope in x and y (streams/VIBRATION.hpp).
    const axes = this.#isPx4 ? { x: null, y: null } : { x: finite(x), y: finite(y) };
    this.#values.vibration = { ...axes, z: finite(z), clips: [...clips] };
    return this.#stamp('vibration');
  }

  /** ArduPilot says 0 while it estimates none: a copter without drag coefficients (EK3_DRAG_…), a plane that has not flown yet. */
  #windFrom({ speed, direction }: Wind): number {
    const known = Number.isFinite(speed) && Number.isFinite(direction) && speed > 0;
    this.#values.wind = known ? { speed, direction: (direction + 360) % 360 } : null;
    return this.#stamp('wind');
  }

  #windTo({ north, east }: WindCov): number {
    const speed = Math.hypot(north, east);
    const known = Number.isFinite(speed) && speed > 0;
    this.#values.wind = known ? { speed, direction: compass(Math.atan2(-east, -north)) } : null;
    return this.#stamp('wind');
  }

  #esc(escs: Esc[] | null): number {
    if (escs === null) return -1;
    this.#values.esc = escs;
    return this.#stamp('esc');
  }

  /** Null where it is not known, or was not told lately. */
  #ownPlace(now: number): Place | null {
    const { lat, lon } = this.#values.position;
    const known = lat !== null && lon !== null && now - this.#stamps.position <= OWN_PLACE_MS;
    return known ? { lat, lon } : null;
  }

  #aircraft(message: AdsbVehicle): number {
    const named = this.#traffic.take(message, this.#now, this.#ownPlace(this.#now));
    return named ? this.#stamp('traffic') : -1;
  }

  /** Of several threats the greater one stays until it is over; that another aircraft is none does not end it. */
  #collision(message: Collision): number {
    const threat = threatOf(message);
    const current = this.#now - this.#stamps.collision > THREAT_MS ? null : this.#values.collision;
    const lesser = threat === null || (threat.level === 'low' && current?.level === 'high');
    if (current !== null && current.id !== threatId(message) && lesser) return -1;
    this.#values.collision = threat;
    return this.#stamp('collision');
  }

  /** Null for ArduPilot's home, which is no item to fly. */
  #item(seq: number): number | null {
    return seq < (firstItemOf(this.#values.autopilot) ?? 0) ? null : seq;
  }

  #mission(message: MissionCurrent): number {
    const { mission } = this.#values;
    mission.current = this.#item(message.seq);
    mission.total = message.total === U16_UNKNOWN ? 0 : scaled(message.total, 0, 1);
    mission.state = MISSION_STATES[message.state] ?? null;
    return this.#stamp('mission');
  }
}
