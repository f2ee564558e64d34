import { compass, toLocal } from '../../../shared/flight/geo.ts';
import { AUTOPILOT_PX4 } from '../../../shared/flight/modes.ts';
import type { Vehicle } from '../flight/vehicle.ts';
import { MavType } from '../mavlink-values.ts';
import type { Channel } from './channel.ts';
import {
  AdsbVehicle,
  Altitude,
  Attitude,
  AutopilotVersion,
  BatteryStatus,
  EkfStatusReport,
  EscInfo,
  EscStatus,
  EscTelemetry1To4,
  EstimatorStatus,
  ExtendedSysState,
  FenceStatus,
  GlobalPositionInt,
  GpsRawInt,
  Heartbeat,
  HomePosition,
  LocalPositionNed,
  MagCalProgress,
  MagCalReport,
  MissionCurrent,
  RcChannels,
  ServoOutputRaw,
  SimState,
  SysStatus,
  SystemTime,
  VfrHud,
  Vibration,
  Wind,
} from './messages.ts';
import { packBattery } from './telemetry-battery.ts';
import { magCalProgress, magCalReports } from './telemetry-compass.ts';
import {
  adsbVehicle,
  autopilotVersion,
  ekfStatus,
  estimatorStatus,
  extendedState,
  fenceStatus,
  heartbeat,
  missionCurrent,
  sysStatus,
} from './telemetry-status.ts';
import type { TelemetryView } from './telemetry-view.ts';

const UNKNOWN16 = 0xffff;
const G = 9.80665;
/** Of RC_CHANNELS. */
const MAX_CHANNELS = 18;
/** Numbers of the motors of a quadcopter. */
const MOTORS: readonly number[] = [1, 2, 3, 4];

/** Sends one message as the vehicle is now. */
export type Sender = (channel: Channel, view: TelemetryView) => void;

const bootMs = (view: TelemetryView): number => Math.floor(view.vehicle.time * 1000) >>> 0;
const bootUs = (view: TelemetryView): bigint => BigInt(Math.floor(view.vehicle.time * 1e6));

/** One sender for each message that some firmware knows, by message id. One that has nothing to say sends nothing. */
export const SENDERS: ReadonlyMap<number, Sender> = new Map<number, Sender>([
  [Heartbeat.MSG_ID, heartbeat],
  [SysStatus.MSG_ID, sysStatus],
  [
    SystemTime.MSG_ID,
    (channel, view) =>
      channel.send(SystemTime, { timeUnixUsec: BigInt(Date.now()) * 1000n, timeBootMs: bootMs(view) }),
  ],
  [GpsRawInt.MSG_ID, gpsRaw],
  [Attitude.MSG_ID, attitude],
  [LocalPositionNed.MSG_ID, localPosition],
  [GlobalPositionInt.MSG_ID, globalPosition],
  [ServoOutputRaw.MSG_ID, servos],
  [MissionCurrent.MSG_ID, missionCurrent],
  [RcChannels.MSG_ID, rcChannels],
  [VfrHud.MSG_ID, vfrHud],
  [Vibration.MSG_ID, vibration],
  [EscTelemetry1To4.MSG_ID, escTelemetry],
  [EscStatus.MSG_ID, escStatus],
  [EscInfo.MSG_ID, escInfo],
  [BatteryStatus.MSG_ID, packBattery],
  [AutopilotVersion.MSG_ID, autopilotVersion],
  [SimState.MSG_ID, simState],
  [Wind.MSG_ID, wind],
  [MagCalReport.MSG_ID, magCalReports],
  [MagCalProgress.MSG_ID, magCalProgress],
  [EkfStatusReport.MSG_ID, ekfStatus],
  [EstimatorStatus.MSG_ID, estimatorStatus],
  [Altitude.MSG_ID, altitude],
  [HomePosition.MSG_ID, homePosition],
  [ExtendedSysState.MSG_ID, extendedState],
  [AdsbVehicle.MSG_ID, adsbVehicle],
  [FenceStatus.MSG_ID, fenceStatus],
]);

function gpsRaw(channel: Channel, view: TelemetryView): void {
  const { vehicle, params } = view;
  if (!view.gpsOk()) {
    // As ArduPilot with no fix: no position, and dilutions unknown.
    channel.send(GpsRawInt, { timeUsec: bootUs(view), fixType: 1, eph: UNKNOWN16, epv: UNKNOWN16 });
    return;
  }
  const place = vehicle.location;
  channel.send(GpsRawInt, {
    timeUsec: bootUs(view),
    fixType: 6,
    lat: place.lat * 1e7,
    lon: place.lon * 1e7,
    alt: place.alt * 1000,
    altEllipsoid: place.alt * 1000,
    eph: 121,
    epv: 200,
    vel: Math.min(UNKNOWN16, vehicle.groundSpeed * 100),
    cog: compass(Math.atan2(vehicle.ve, vehicle.vn)) * 100,
    satellitesVisible: params.get('SIM_GPS_NUMSATS'),
    hAcc: 300,
    vAcc: 300,
    velAcc: 40,
  });
}

function attitude(channel: Channel, view: TelemetryView): void {
  const { vehicle } = view;
  channel.send(Attitude, {
    timeBootMs: bootMs(view),
    roll: vehicle.roll,
    pitch: vehicle.pitch,
    yaw: vehicle.yaw,
    rollspeed: vehicle.rollRate,
    pitchspeed: vehicle.pitchRate,
    yawspeed: vehicle.yawRate,
  });
}

function localPosition(channel: Channel, view: TelemetryView): void {
  if (!view.positionOk()) return;
  const { vehicle } = view;
  channel.send(LocalPositionNed, {
    timeBootMs: bootMs(view),
    x: vehicle.n,
    y: vehicle.e,
    z: -vehicle.u,
    vx: vehicle.vn,
    vy: vehicle.ve,
    vz: -vehicle.vu,
  });
}

function globalPosition(channel: Channel, view: TelemetryView): void {
  const { vehicle } = view;
  const place = vehicle.location;
  const known = view.positionOk();
  // Without GPS an ArduPlane reckons on from 0,0 (AP_AHRS_DCM); a copter has no estimate then.
  const reckoned = view.firmware.type === MavType.FIXED_WING ? vehicle.time : 0;
  channel.send(GlobalPositionInt, {
    timeBootMs: bootMs(view),
    lat: known ? place.lat * 1e7 : reckoned * 60,
    lon: known ? place.lon * 1e7 : reckoned * -25,
    alt: known ? place.alt * 1000 : 0,
    relativeAlt: known ? vehicle.height * 1000 : 0,
    vx: vehicle.vn * 100,
    vy: vehicle.ve * 100,
    vz: -vehicle.vu * 100,
    hdg: Math.round(compass(vehicle.yaw) * 100) % 36000,
  });
}

function servos(channel: Channel, view: TelemetryView): void {
  const { vehicle } = view;
  const [servo1Raw = 0, servo2Raw = 0, servo3Raw = 0, servo4Raw = 0] = motors(vehicle);
  channel.send(ServoOutputRaw, {
    timeUsec: Math.floor(vehicle.time * 1e6) % 2 ** 32,
    servo1Raw,
    servo2Raw,
    servo3Raw,
    servo4Raw,
  });
}

/** µs of the four outputs. */
function motors(vehicle: Vehicle): number[] {
  const { tested } = vehicle;
  if (tested !== undefined)
    return MOTORS.map((motor) => (motor === tested.motor ? 1000 + tested.share * 1000 : 1000));
  if (!vehicle.armed) return MOTORS.map(() => 1000);
  const base = Math.max(1100, 1000 + vehicle.throttle * 1000);
  const lean = vehicle.landed ? 0 : 12;
  const { pitchRate, rollRate } = vehicle;
  return [pitchRate - rollRate, rollRate - pitchRate, pitchRate + rollRate, -pitchRate - rollRate].map(
    (turn) => base + lean * turn,
  );
}

/** Turns a minute of each motor: about 8000 at full throttle. */
function rpms(vehicle: Vehicle): number[] {
  return motors(vehicle).map((us) => Math.round((us - 1000) * 8));
}

function vibration(channel: Channel, view: TelemetryView): void {
  const { throttle, armed } = view.vehicle;
  const level = armed ? 2 + 8 * throttle : 0.01;
  const isPx4 = view.firmware.autopilot === AUTOPILOT_PX4;
  channel.send(Vibration, {
    timeUsec: bootUs(view),
    // PX4 puts two measures of its gyroscope, rad and rad/s, where others have axes (streams/VIBRATION.hpp).
    vibrationX: isPx4 ? level * 1e-6 : level,
    vibrationY: isPx4 ? level * 0.01 : level * 0.9,
    vibrationZ: level * 1.2,
  });
}

/** As an ESC with telemetry of its own. */
function escTelemetry(channel: Channel, view: TelemetryView): void {
  channel.send(EscTelemetry1To4, {
    temperature: MOTORS.map(() => 31),
    voltage: MOTORS.map(() => Math.round(view.volts() * 100)),
    current: MOTORS.map(() => Math.round((view.vehicle.battery.amps / MOTORS.length) * 100)),
    rpm: rpms(view.vehicle),
    count: MOTORS.map(() => 1 + (bootMs(view) % 60_000)),
  });
}

function escStatus(channel: Channel, view: TelemetryView): void {
  channel.send(EscStatus, {
    timeUsec: bootUs(view),
    index: 0,
    rpm: rpms(view.vehicle),
    voltage: MOTORS.map(() => view.volts()),
    current: MOTORS.map(() => view.vehicle.battery.amps / MOTORS.length),
  });
}

function escInfo(channel: Channel, view: TelemetryView): void {
  channel.send(EscInfo, {
    timeUsec: bootUs(view),
    index: 0,
    count: MOTORS.length,
    info: 0b1111,
    temperature: MOTORS.map(() => 3100),
  });
}

function rcChannels(channel: Channel, view: TelemetryView): void {
  const { channels, saysNoRadio } = view.radio;
  if (channels.length === 0 && !saysNoRadio) return;
  const raw = Object.fromEntries(
    Array.from({ length: MAX_CHANNELS }, (_, i) => [`chan${i + 1}Raw`, channels[i] ?? UNKNOWN16]),
  );
  channel.send(RcChannels, { ...raw, timeBootMs: bootMs(view), chancount: channels.length, rssi: 255 });
}

function vfrHud(channel: Channel, view: TelemetryView): void {
  const { vehicle } = view;
  channel.send(VfrHud, {
    airspeed: vehicle.airSpeed,
    groundspeed: vehicle.groundSpeed,
    alt: vehicle.location.alt,
    climb: vehicle.vu,
    heading: Math.floor(compass(vehicle.yaw)),
    throttle: vehicle.throttle * 100,
  });
}

function simState(channel: Channel, view: TelemetryView): void {
  if (!view.simulated()) return;
  const { vehicle } = view;
  const place = vehicle.location;
  channel.send(SimState, {
    roll: vehicle.roll,
    pitch: vehicle.pitch,
    yaw: vehicle.yaw,
    xacc: Math.sin(vehicle.pitch) * G,
    yacc: -Math.sin(vehicle.roll) * G,
    zacc: -G,
    xgyro: vehicle.rollRate,
    ygyro: vehicle.pitchRate,
    zgyro: vehicle.yawRate,
    lat: place.lat * 1e7,
    lng: place.lon * 1e7,
  });
}

/** A plane finds it in flight; a copter without drag coefficients says 0 from -180 degrees (GCS_MAVLink_Copter.cpp, send_wind). */
function wind(channel: Channel, view: TelemetryView): void {
  const { n, e } = view.vehicle.wind;
  const known = view.firmware.type === MavType.FIXED_WING && !view.vehicle.landed;
  channel.send(Wind, {
    direction: known ? (Math.atan2(-e, -n) * 180) / Math.PI : -180,
    speed: known ? Math.hypot(n, e) : 0,
    speedZ: 0,
  });
}

function homePosition(channel: Channel, view: TelemetryView): void {
  if (!view.positionOk()) return; // home is set by the first position
  const { home, origin } = view.vehicle;
  const local = toLocal(origin, home);
  channel.send(HomePosition, {
    latitude: home.lat * 1e7,
    longitude: home.lon * 1e7,
    altitude: home.alt * 1000,
    x: local.n,
    y: local.e,
    z: -local.u,
    q: [1, 0, 0, 0],
    timeUsec: bootUs(view),
  });
}

function altitude(channel: Channel, view: TelemetryView): void {
  const { vehicle } = view;
  channel.send(Altitude, {
    timeUsec: bootUs(view),
    altitudeMonotonic: vehicle.location.alt,
    altitudeAmsl: vehicle.location.alt,
    altitudeLocal: vehicle.u,
    altitudeRelative: vehicle.height,
    altitudeTerrain: vehicle.u,
    bottomClearance: vehicle.u,
  });
}
