import type { Telemetry } from '../../shared/ipc/link-protocol.ts';
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
} from '../../shared/mavlink/decode.ts';
import { MSG } from '../../shared/mavlink/messages.ts';
import type { Payload } from '../../shared/mavlink/payload.ts';

const U8_UNKNOWN = 0xff;
const U16_UNKNOWN = 0xffff;
const I16_UNKNOWN = 0x7fff;
/** No cell of a flight battery has more; a "cell" above it is the whole pack, as ArduPilot sends it without a cell monitor. */
const MAX_CELL_MV = 5000;

/** Telemetry of which nothing was received. */
export function emptyTelemetry(): Telemetry {
  return {
    mav_type: null,
    autopilot: null,
    armed: null,
    mode: null,
    position: { lat: null, lon: null, alt_msl: null, alt_rel: null, heading: null },
    velocity: { vx: null, vy: null, vz: null, groundspeed: null, airspeed: null, climb: null },
    attitude: { roll: null, pitch: null, yaw: null },
    battery: { voltage: null, current: null, remaining: null, temperature: null, cell_voltages: null },
    gps: { fix_type: null, satellites: null, eph: null, epv: null },
    home: { lat: null, lon: null, alt_msl: null },
    rc: { channels: null, rssi: null },
    throttle: null,
    last_heartbeat: null,
    last_update: null,
  };
}

/**
 * Writes one message of the vehicle into `telemetry`, in its units, MAVLink's "unknown" as null.
 * @returns the milliseconds since boot that the message carries, -1 when it carries none, null when it is not telemetry
 */
export function applyTelemetry(telemetry: Telemetry, id: number, payload: Payload): number | null {
  switch (id) {
    case MSG.ATTITUDE:
      return applyAttitude(telemetry, decodeAttitude(payload));
    case MSG.GLOBAL_POSITION_INT:
      return applyPosition(telemetry, decodeGlobalPosition(payload));
    case MSG.RC_CHANNELS:
      return applyRc(telemetry, decodeRcChannels(payload));
    case MSG.GPS_RAW_INT:
      return applyGps(telemetry, decodeGpsRaw(payload));
    case MSG.SYS_STATUS:
      return applySysStatus(telemetry, decodeSysStatus(payload));
    case MSG.BATTERY_STATUS:
      return applyBattery(telemetry, decodeBatteryStatus(payload));
    case MSG.VFR_HUD:
      return applyHud(telemetry, decodeVfrHud(payload));
    case MSG.HOME_POSITION:
      return applyHome(telemetry, decodeHomePosition(payload));
    default:
      return null;
  }
}

function applyAttitude({ attitude }: Telemetry, message: Attitude): number {
  attitude.roll = finite(message.roll);
  attitude.pitch = finite(message.pitch);
  attitude.yaw = finite(message.yaw);
  return message.timeBootMs;
}

function applyPosition({ position, velocity }: Telemetry, message: GlobalPosition): number {
  // ArduPilot sends 0,0 until it knows where it is.
  const known = message.lat !== 0 || message.lon !== 0;
  position.lat = known ? message.lat / 1e7 : null;
  position.lon = known ? message.lon / 1e7 : null;
  position.alt_msl = known ? message.alt / 1000 : null;
  position.alt_rel = message.relativeAlt / 1000;
  position.heading = scaled(message.hdg, U16_UNKNOWN, 100);
  velocity.vx = scaled(message.vx, I16_UNKNOWN, 100);
  velocity.vy = scaled(message.vy, I16_UNKNOWN, 100);
  velocity.vz = scaled(message.vz, I16_UNKNOWN, 100);
  return message.timeBootMs;
}

function applyRc({ rc }: Telemetry, message: RcChannels): number {
  // Without a receiver there are no channels; an unused one in between reads 0, as on a receiver that sends nothing on it.
  rc.channels =
    message.count === 0
      ? null
      : message.channels.slice(0, message.count).map((us) => (us === U16_UNKNOWN ? 0 : us));
  rc.rssi = scaled(message.rssi, U8_UNKNOWN, 1);
  return message.timeBootMs;
}

function applyGps({ gps }: Telemetry, message: GpsRaw): number {
  gps.fix_type = message.fixType;
  gps.satellites = scaled(message.satellites, U8_UNKNOWN, 1);
  gps.eph = scaled(message.eph, U16_UNKNOWN, 100);
  gps.epv = scaled(message.epv, U16_UNKNOWN, 100);
  return -1;
}

function applySysStatus({ battery }: Telemetry, message: SysStatus): number {
  battery.voltage = scaled(message.voltage, U16_UNKNOWN, 1000);
  battery.current = scaled(message.current, -1, 100);
  battery.remaining = scaled(message.remaining, -1, 1);
  return -1;
}

function applyBattery({ battery }: Telemetry, message: BatteryStatus): number {
  if (message.id !== 0) return -1; // the first battery is the one that SYS_STATUS speaks of
  battery.temperature = scaled(message.temperature, I16_UNKNOWN, 100);
  const cells = [
    ...message.cells.filter((mv) => mv !== U16_UNKNOWN),
    ...message.cellsExt.filter((mv) => mv !== 0 && mv !== U16_UNKNOWN),
  ];
  const perCell = cells.length > 0 && cells.every((mv) => mv <= MAX_CELL_MV);
  battery.cell_voltages = perCell ? cells.map((mv) => mv / 1000) : null;
  return -1;
}

function applyHud(telemetry: Telemetry, message: VfrHud): number {
  telemetry.velocity.airspeed = finite(message.airspeed);
  telemetry.velocity.groundspeed = finite(message.groundspeed);
  telemetry.velocity.climb = finite(message.climb);
  telemetry.throttle = scaled(message.throttle, U16_UNKNOWN, 1);
  return -1;
}

function applyHome({ home }: Telemetry, message: HomePosition): number {
  home.lat = message.lat / 1e7;
  home.lon = message.lon / 1e7;
  home.alt_msl = message.alt / 1000;
  return -1;
}

function scaled(raw: number, unknown: number, divisor: number): number | null {
  return raw === unknown ? null : raw / divisor;
}

/** NaN is MAVLink's "unknown" float; an infinity is no measurement either, and JSON has neither. */
function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
