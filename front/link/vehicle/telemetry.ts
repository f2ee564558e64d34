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
  decodeHighLatency,
  decodeHighLatency2,
  type HighLatency,
} from '../../../shared/mavlink/decode-latency.ts';
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
import { type Esc, emptyTelemetry, type Telemetry } from '../../../shared/rpc/telemetry.ts';
import { firstItemOf } from '../../../shared/schemas/mission-item.ts';
import { amperes, Batteries } from './batteries.ts';
import { applyEkf, knowsPlace } from './ekf.ts';
import { finite, headingOf, isPlace, scaled, signed16, signed32, within } from './known.ts';
import { Motors } from './motors.ts';
import { Traffic } from './traffic.ts';
import { fenceOf, threatId, threatOf } from './warnings.ts';

const U8_UNKNOWN = 0xff;
const U16_UNKNOWN = 0xffff;
/** GPS_UNKNOWN_DOP of ArduPilot (AP_GPS), hundredths. */
const DOP_UNKNOWN = 9999;
/** Radians; a larger angle is no measurement. */
const MOST_ANGLE = 2 * Math.PI + 0.01;
/** An estimator that said nothing for this long says nothing of the place. */
const EKF_MS = 10_000;
/** If the better of two messages came within this time, the other one is ignored. */
const FRESH_MS = 3000;
/** GPS_FIX_TYPE_3D_FIX: below it the receiver's altitude and position are not reliable. */
const FIX_3D = 3;
/** ArduPilot repeats the report of a threat each second or so; when it says nothing more, there is none. */
const THREAT_MS = 5000;
/** Where the vehicle was this long ago tells nothing about its distance to others. */
const OWN_PLACE_MS = 10_000;
const NEVER = Number.NEGATIVE_INFINITY;

/** By MAV_LANDED_STATE; 0 is "undefined". */
const LANDED_STATES = [null, 'on_ground', 'in_air', 'takeoff', 'landing'] as const;
/** By MISSION_STATE; 0 is "unknown". */
const MISSION_STATES = [null, 'none', 'not_started', 'active', 'paused', 'complete'] as const;

const NOT_STARTED = 2;

/** MAV_SYS_STATUS_SENSOR bits. */
export type Sensors = Pick<SysStatus, 'present' | 'enabled' | 'health'>;

/**
 * The vehicle's telemetry in the units of the API, with null for MAVLink's "unknown". A message only stores the time of its
 * group; ages are computed on reading.
 *
 * Two values come from two messages each. Position: GLOBAL_POSITION_INT, and the receiver's own GPS_RAW_INT (a fix of 3D or
 * better) while that has had none for 3 s. Battery: SYS_STATUS, and BATTERY_STATUS of the main battery while that has no
 * voltage. HIGH_LATENCY stands for both on a link that has nothing else. `sources` says which message was used.
 */
export class TelemetryModel {
  readonly #values = emptyTelemetry();
  /** When each group was told last, on the clock, ms. */
  readonly #stamps = new Map<TelemetryGroup, number>();
  readonly #traffic = new Traffic();
  readonly #motors = new Motors();
  readonly #batteries = new Batteries();
  /** The newest GLOBAL_POSITION_INT: any, and one with a place. */
  #estimateAt = NEVER;
  #placeAt = NEVER;
  /** Id and length of the mission that the vehicle has told of; null: none yet. */
  #whichMission: string | null = null;
  /** The vehicle has told something of a place, if only that it has none. */
  #told = false;
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
      const stamp = this.#stamps.get(group);
      ages[group] = stamp === undefined ? null : Math.round(now - stamp) / 1000;
    }
    if (this.#stamps.has('traffic'))
      this.#values.traffic = { vehicles: this.#traffic.list(now, this.#ownPlace(now)) };
    if (now - this.#at('collision') > THREAT_MS) this.#values.collision = null;
    this.#values.position.state = this.#placeState(now);
    return this.#values;
  }

  /**
   * Takes one message of the vehicle.
   * @param now ms, monotonic
   * @param component who said it, where that is not the autopilot itself
   * @returns the milliseconds since boot that the message carries, -1 when it carries none, null when it is not telemetry
   */
  apply(id: number, payload: Payload, now: number, component: number | null = null): number | null {
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
        return this.#battery(decodeBatteryStatus(payload), component);
      case MSG.HIGH_LATENCY:
        return this.#latency('HIGH_LATENCY', decodeHighLatency(payload));
      case MSG.HIGH_LATENCY2:
        return this.#latency('HIGH_LATENCY2', decodeHighLatency2(payload));
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

  #at(group: TelemetryGroup): number {
    return this.#stamps.get(group) ?? NEVER;
  }

  /** @returns -1: the message carries no time since boot */
  #stamp(group: TelemetryGroup): -1 {
    this.#stamps.set(group, this.#now);
    return -1;
  }

  #attitude(message: Attitude): number {
    const { roll, pitch, yaw } = message;
    const known = (angle: number): number | null => within(angle, -MOST_ANGLE, MOST_ANGLE);
    this.#angles(known(roll), known(pitch), known(yaw));
    return message.timeBootMs;
  }

  /** @param roll radians, as `pitch` and `yaw` */
  #angles(roll: number | null, pitch: number | null, yaw: number | null): void {
    const angles = { roll_deg: degrees(roll), pitch_deg: degrees(pitch), yaw_deg: degrees(yaw) };
    Object.assign(this.#values.attitude, angles, { roll, pitch, yaw });
    this.#stamp('attitude');
  }

  #position(message: GlobalPosition): number {
    const { position, velocity } = this.#values;
    this.#estimateAt = this.#now;
    this.#told = true;
    if (isPlace(message)) {
      // Where the estimate has lost its place, a receiver that has a fix is better than where it stands still.
      if (this.#hasPlace(this.#now) || !this.#hasFix(this.#now)) {
        this.#placeAt = this.#now;
        this.#place('GLOBAL_POSITION_INT', message);
      } else this.#placeAt = NEVER;
    } else if (this.#values.sources.position === 'GLOBAL_POSITION_INT') {
      this.#placeAt = NEVER; // GPS_RAW_INT is used at once
      this.#noPlace();
    }
    position.alt_rel = signed32(message.relativeAlt, 1000);
    position.heading = headingOf(message.hdg);
    velocity.vx = signed16(message.vx, 100);
    velocity.vy = signed16(message.vy, 100);
    velocity.vz = signed16(message.vz, 100);
    this.#stamp('velocity');
    return message.timeBootMs;
  }

  #place(
    source: NonNullable<Telemetry['sources']['position']>,
    place: { readonly lat: number; readonly lon: number; readonly alt: number },
  ): void {
    const { position, sources } = this.#values;
    position.lat = place.lat / 1e7;
    position.lon = place.lon / 1e7;
    position.alt_msl = signed32(place.alt, 1000);
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
    gps.eph = message.eph === DOP_UNKNOWN ? null : scaled(message.eph, U16_UNKNOWN, 100);
    gps.epv = message.epv === DOP_UNKNOWN ? null : scaled(message.epv, U16_UNKNOWN, 100);
    this.#stamp('gps');
    if (this.#now - this.#placeAt <= FRESH_MS) return -1;
    if (message.fixType >= FIX_3D && isPlace(message)) {
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
    // Without a receiver there are no channels.
    const used = message.channels.slice(0, message.count);
    const last = used.findLastIndex((us) => us !== U16_UNKNOWN);
    rc.channels = last < 0 ? null : used.slice(0, last + 1).map((us) => scaled(us, U16_UNKNOWN, 1));
    rc.rssi = scaled(message.rssi, U8_UNKNOWN, 1);
    this.#stamp('rc');
    return message.timeBootMs;
  }

  #sysStatus(message: SysStatus): number {
    const { present, enabled, health } = message;
    this.sensors = { present, enabled, health };
    const current = amperes(message.current, this.#isPx4);
    const remaining = within(message.remaining, 0, 100);
    // ArduPilot without a monitor says 0 mV, and -1 for the rest.
    const nothing = message.voltage === 0 && current === null && remaining === null;
    const voltage = nothing ? null : scaled(message.voltage, U16_UNKNOWN, 1000);
    if (voltage === null) {
      if (this.#values.sources.battery === 'SYS_STATUS') this.#charge(null, null, null, null);
      return -1;
    }
    this.#voltageAt = this.#now;
    return this.#charge('SYS_STATUS', voltage, current, remaining);
  }

  get #isPx4(): boolean {
    return this.#values.autopilot === AUTOPILOT_PX4;
  }

  #battery(message: BatteryStatus, component: number | null): number {
    this.#batteries.take(message, component ?? 0, component === null, this.#isPx4, this.#now);
    const { main, list, state } = this.#batteries;
    const { battery } = this.#values;
    this.#values.batteries = list;
    battery.state = state;
    battery.temperature = main?.temperature_c ?? null;
    battery.cell_voltages = main?.cells_v ?? null;
    if (main === null || main.voltage_v === null || this.#now - this.#voltageAt <= FRESH_MS)
      return this.#stamp('battery');
    return this.#charge('BATTERY_STATUS', main.voltage_v, main.current_a, main.remaining_percent);
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

  /** One message for position, speeds, battery and mission. */
  #latency(source: 'HIGH_LATENCY' | 'HIGH_LATENCY2', message: HighLatency): number {
    const { position, velocity, gps, mission } = this.#values;
    this.#told = true;
    if (isPlace(message)) this.#place(source, { ...message, alt: message.altitude * 1000 });
    else this.#noPlace();
    position.alt_rel = null; // it is not told
    position.heading = within(message.heading, 0, 360);
    velocity.vx = null;
    velocity.vy = null;
    velocity.vz = null;
    velocity.groundspeed = message.groundspeed;
    velocity.airspeed = message.airspeed;
    velocity.climb = message.climb;
    this.#stamp('velocity');
    this.#values.throttle = within(message.throttle, 0, 100);
    const remaining = within(message.battery, 0, 100);
    if (remaining !== null) this.#charge(source, null, null, remaining);
    mission.current = this.#item(message.item);
    this.#stamp('mission');
    if (message.attitude !== null) {
      const { roll, pitch } = message.attitude;
      const yaw = position.heading === null ? null : radians(position.heading * 100);
      this.#angles(radians(roll), radians(pitch), yaw);
    }
    if (message.gps !== null) {
      gps.fix_type = message.gps.fixType;
      gps.satellites = scaled(message.gps.satellites, U8_UNKNOWN, 1);
      this.#stamp('gps');
    }
    if (message.landed !== null) {
      this.#values.landed_state = LANDED_STATES[message.landed] ?? null;
      this.#stamp('landed_state');
    }
    this.#values.sources.position = this.#values.position.lat === null ? null : source;
    return -1;
  }

  /** The estimator has told lately that it has no place: where it says that it is, it was. */
  #hasPlace(now: number): boolean {
    const { ekf } = this.#values;
    return now - this.#at('ekf') > EKF_MS || ekf.source === null || ekf.flags === null
      ? true
      : knowsPlace(ekf.source, ekf.flags);
  }

  #hasFix(now: number): boolean {
    return now - this.#at('gps') <= FRESH_MS && (this.#values.gps.fix_type ?? 0) >= FIX_3D;
  }

  #placeState(now: number): Telemetry['position']['state'] {
    const { position, sources, gps } = this.#values;
    if (position.lat === null) return this.#told ? 'lost' : null;
    if (sources.position !== 'GLOBAL_POSITION_INT') return 'ok';
    if (!this.#hasPlace(now)) return 'lost';
    // The receiver has no fix: the estimate goes on by what else it has.
    return gps.fix_type !== null && !this.#hasFix(now) ? 'estimated' : 'ok';
  }

  #hud(message: VfrHud): number {
    const { velocity } = this.#values;
    velocity.airspeed = finite(message.airspeed);
    velocity.groundspeed = finite(message.groundspeed);
    velocity.climb = finite(message.climb);
    // An ArduPlane with reverse thrust puts its negative share into the unsigned field.
    this.#values.throttle = within((message.throttle << 16) >> 16, -100, 100);
    return this.#stamp('velocity');
  }

  #home(message: HomePosition): number {
    const { home } = this.#values;
    const set = isPlace(message);
    home.lat = set ? message.lat / 1e7 : null;
    home.lon = set ? message.lon / 1e7 : null;
    home.alt_msl = set ? signed32(message.alt, 1000) : null;
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
    const recent = now - this.#at('position') <= OWN_PLACE_MS;
    const known = lat !== null && lon !== null && recent && this.#placeState(now) !== 'lost';
    return known ? { lat, lon } : null;
  }

  #aircraft(message: AdsbVehicle): number {
    const named = this.#traffic.take(message, this.#now, this.#ownPlace(this.#now));
    return named ? this.#stamp('traffic') : -1;
  }

  /** Of several threats the greater one stays until it is over; that another aircraft is none does not end it. */
  #collision(message: Collision): number {
    const threat = threatOf(message);
    const current = this.#now - this.#at('collision') > THREAT_MS ? null : this.#values.collision;
    const lesser = threat === null || (threat.level === 'low' && current?.level === 'high');
    if (current !== null && current.id !== threatId(message) && lesser) return -1;
    this.#values.collision = threat;
    return this.#stamp('collision');
  }

  /** Null for ArduPilot's home, which is no item to fly. */
  #item(seq: number): number | null {
    const isItem = seq >= (firstItemOf(this.#values.autopilot) ?? 0) && seq !== U16_UNKNOWN;
    return isItem ? seq : null;
  }

  #mission(message: MissionCurrent): number {
    const { mission } = this.#values;
    mission.current = this.#item(message.seq);
    const which = `${message.id} ${message.total}`;
    // Of another mission, or of a flight of this one that is over.
    if ((this.#whichMission !== null && which !== this.#whichMission) || message.state === NOT_STARTED)
      mission.reached = null;
    this.#whichMission = which;
    mission.total = message.total === U16_UNKNOWN ? 0 : scaled(message.total, 0, 1);
    mission.state = MISSION_STATES[message.state] ?? null;
    return this.#stamp('mission');
  }
}

function degrees(angle: number | null): number | null {
  return angle === null ? null : Math.round((angle * 18_000) / Math.PI) / 100;
}

function radians(cdeg: number): number {
  return (cdeg / 100) * (Math.PI / 180);
}
