import { EkfStatusFlags, MissionState } from '../mavlink-values.ts';
import type { Channel } from './channel.ts';
import {
  AdsbVehicle,
  AutopilotVersion,
  EkfStatusReport,
  EstimatorStatus,
  ExtendedSysState,
  FenceStatus,
  Heartbeat,
  MissionCurrent,
  SysStatus,
} from './messages.ts';
import type { TelemetryView } from './telemetry-view.ts';

// MAV_SYS_STATUS_SENSOR: gyro, accelerometer, compass, barometer, GPS, rate/attitude/yaw/altitude/position control,
// motors, RC, AHRS, battery; and the pre-arm check, which each firmware reports in its own way.
const GPS = 32;
const AHRS = 0x20_0000;
const PREARM = 0x1000_0000;
const SENSORS = 0x0201_fc0f | GPS | AHRS;

export function heartbeat(channel: Channel, view: TelemetryView): void {
  const { firmware } = view;
  channel.send(Heartbeat, {
    type: firmware.type,
    autopilot: firmware.autopilot,
    customMode: view.mode().number,
    mavlinkVersion: 3,
    ...firmware.heartbeat(view),
  });
}

export function sysStatus(channel: Channel, view: TelemetryView): void {
  const { vehicle, params } = view;
  const health = (SENSORS & ~(GPS | AHRS)) | (view.gpsOk() ? GPS : 0) | (view.attitudeOk() ? AHRS : 0);
  const checks = view.firmware.preArmBit(view);
  channel.send(SysStatus, {
    onboardControlSensorsPresent: SENSORS | (checks.present ? PREARM : 0),
    onboardControlSensorsEnabled: SENSORS | (checks.enabled ? PREARM : 0),
    onboardControlSensorsHealth: health | (checks.healthy ? PREARM : 0),
    load: 171,
    voltageBattery: view.volts() * 1000,
    currentBattery: vehicle.battery.amps * 100,
    batteryRemaining: vehicle.battery.remaining(params.get('BATT_CAPACITY')),
  });
}

export function missionCurrent(channel: Channel, view: TelemetryView): void {
  const { mission } = view;
  const states = {
    'not-started': MissionState.NOT_STARTED,
    active: MissionState.ACTIVE,
    paused: MissionState.PAUSED,
    complete: MissionState.COMPLETE,
  };
  const [missionId, fenceId, rallyPointsId] = view.listIds();
  channel.send(MissionCurrent, {
    seq: Math.max(0, Math.min(mission.current, mission.items.length - 1 + mission.first)),
    total: mission.items.length,
    missionState: mission.items.length === 0 ? MissionState.NO_MISSION : states[mission.state],
    missionMode: view.mode().kind === 'mission' ? 1 : 2,
    missionId,
    fenceId,
    rallyPointsId,
  });
}

/** The uid stays that of the board, whatever its system id is set to. */
export function autopilotVersion(channel: Channel, view: TelemetryView): void {
  const { firmware } = view;
  const serial = Buffer.from(`svc-sim-${String(view.uid).padStart(10, '0')}`, 'latin1');
  channel.send(AutopilotVersion, {
    capabilities: view.capabilities(),
    flightSwVersion: firmware.version,
    boardVersion: 3 << 16, // SITL's board id in the upper half
    flightCustomVersion: [...Buffer.from(firmware.gitHash, 'latin1')],
    uid: serial.readBigUInt64LE(serial.length - 8),
    uid2: [...serial],
  });
}

export function ekfStatus(channel: Channel, view: TelemetryView): void {
  const attitudeOnly = EkfStatusFlags.ATTITUDE | EkfStatusFlags.VELOCITY_VERT | EkfStatusFlags.POS_VERT_ABS;
  const position =
    EkfStatusFlags.VELOCITY_HORIZ |
    EkfStatusFlags.POS_HORIZ_REL |
    EkfStatusFlags.POS_HORIZ_ABS |
    EkfStatusFlags.PRED_POS_HORIZ_REL |
    EkfStatusFlags.PRED_POS_HORIZ_ABS;
  channel.send(EkfStatusReport, {
    flags: view.positionOk()
      ? attitudeOnly | position
      : view.attitudeOk()
        ? attitudeOnly | EkfStatusFlags.CONST_POS_MODE
        : EkfStatusFlags.UNINITIALIZED,
    velocityVariance: 0.02,
    posHorizVariance: 0.03,
    posVertVariance: 0.02,
    compassVariance: 0.01,
  });
}

/** Nothing while the fence is off. */
export function fenceStatus(channel: Channel, view: TelemetryView): void {
  const fence = view.fence();
  if (!fence.enabled) return;
  channel.send(FenceStatus, {
    breachStatus: fence.breached ? 1 : 0,
    breachCount: fence.count,
    breachType: fence.type,
    breachTime: fence.breachMs,
    breachMitigation: 1, // none: there is no avoidance
  });
}

/** One aircraft at a time. */
export function adsbVehicle(channel: Channel, view: TelemetryView): void {
  const aircraft = view.aircraft();
  if (aircraft === undefined) return;
  const { icao, callsign, lat, lon, alt, heading, speed } = aircraft;
  channel.send(AdsbVehicle, {
    ICAOAddress: icao,
    callsign,
    lat: lat * 1e7,
    lon: lon * 1e7,
    altitude: alt * 1000,
    altitudeType: 1,
    heading: heading * 100,
    horVelocity: speed * 100,
    verVelocity: 0,
    emitterType: 1,
    // ADSB_FLAGS: coordinates, altitude, heading, velocity, callsign, simulated, vertical velocity.
    flags: 1 | 2 | 4 | 8 | 16 | 64 | 128,
  });
}

export function extendedState(channel: Channel, view: TelemetryView): void {
  const { vehicle } = view;
  const landing = !vehicle.landed && (vehicle.vu < -0.2 || vehicle.u < 0.1) && view.mode().kind === 'land';
  channel.send(ExtendedSysState, {
    vtolState: 0,
    // MAV_LANDED_STATE: ON_GROUND 1, IN_AIR 2, TAKEOFF 3, LANDING 4.
    landedState: vehicle.landed || !vehicle.flies ? 1 : landing ? 4 : view.mode().kind === 'takeoff' ? 3 : 2,
  });
}

/** PX4's estimator state, ESTIMATOR_STATUS_FLAGS. */
export function estimatorStatus(channel: Channel, view: TelemetryView): void {
  const attitude = 1 | 4 | 32; // ATTITUDE, VELOCITY_VERT, POS_VERT_ABS
  const position = 2 | 8 | 16 | 256 | 512; // VELOCITY_HORIZ, POS_HORIZ_REL, POS_HORIZ_ABS, PRED_POS_HORIZ_REL, _ABS
  const constantPosition = 128; // PX4 says it of every vehicle at rest too
  const aboveGround = 64;
  channel.send(EstimatorStatus, {
    timeUsec: BigInt(Math.floor(view.vehicle.time * 1e6)),
    flags: view.positionOk()
      ? attitude | position | (view.vehicle.landed ? aboveGround | constantPosition : 0)
      : view.attitudeOk()
        ? attitude | constantPosition
        : 0,
    velRatio: 0.02,
    posHorizRatio: 0.03,
    posVertRatio: 0.02,
    magRatio: 0.01,
    posHorizAccuracy: 0.3,
    posVertAccuracy: 0.4,
  });
}
