import type { Channel } from './channel.ts';
import { EkfStatusFlags, MavAutopilot, MavState, MavType, MissionState } from './mavlink-values.ts';
import {
  AutopilotVersion,
  EkfStatusReport,
  ExtendedSysState,
  Heartbeat,
  MissionCurrent,
  SysStatus,
} from './messages.ts';
import type { TelemetryView } from './telemetry-view.ts';

/** ArduCopter 4.5.7, official release (FIRMWARE_VERSION_TYPE 255). */
const VERSION = (4 << 24) | (5 << 16) | (7 << 8) | 255;
export const VERSION_TEXT = 'ArduCopter V4.5.7 (2a3dc4b7)';
// What is implemented: PARAM_FLOAT 2, MISSION_INT 4, COMMAND_INT 8, SET_POSITION_TARGET_GLOBAL_INT 256, MAVLINK2 8192.
const CAPABILITIES = 2 | 4 | 8 | 256 | 8192;

// MAV_SYS_STATUS_SENSOR: gyro, accelerometer, compass, barometer, GPS, rate/attitude/yaw/altitude/position control,
// motors, RC, AHRS, battery; and the pre-arm check, which is "healthy" when it passes.
const GPS = 32;
const AHRS = 0x20_0000;
const PREARM = 0x1000_0000;
const SENSORS = 0x0201_fc0f | GPS | AHRS | PREARM;

export function heartbeat(channel: Channel, view: TelemetryView): void {
  const { vehicle } = view;
  const mode = view.mode();
  const custom = 1;
  const stabilized = 16;
  const manualInput = 64;
  const guided = mode.needsPosition ? 8 : 0; // ArduCopter's list of "guided" modes is the ones that need a position
  channel.send(Heartbeat, {
    type: MavType.QUADROTOR,
    autopilot: MavAutopilot.ARDUPILOTMEGA,
    baseMode: custom | stabilized | manualInput | guided | (vehicle.armed ? 128 : 0),
    customMode: mode.number,
    systemStatus: view.failsafe() ? MavState.CRITICAL : vehicle.landed ? MavState.STANDBY : MavState.ACTIVE,
    mavlinkVersion: 3,
  });
}

export function sysStatus(channel: Channel, view: TelemetryView): void {
  const { vehicle, params } = view;
  const health =
    (SENSORS & ~(GPS | AHRS | PREARM)) |
    (view.gpsOk() ? GPS : 0) |
    (view.attitudeOk() ? AHRS : 0) |
    (view.preArmOk() ? PREARM : 0);
  channel.send(SysStatus, {
    onboardControlSensorsPresent: SENSORS,
    onboardControlSensorsEnabled: SENSORS,
    onboardControlSensorsHealth: health,
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
  channel.send(MissionCurrent, {
    seq: Math.min(mission.current, mission.items.length),
    total: mission.items.length,
    missionState: mission.items.length === 0 ? MissionState.NO_MISSION : states[mission.state],
    missionMode: view.mode().number === 3 ? 1 : 2,
  });
}

export function autopilotVersion(channel: Channel, view: TelemetryView): void {
  const sysid = view.params.get('SYSID_THISMAV');
  const serial = Buffer.from(`svc-sim-${String(sysid).padStart(10, '0')}`, 'latin1');
  channel.send(AutopilotVersion, {
    capabilities: CAPABILITIES,
    flightSwVersion: VERSION,
    boardVersion: 3 << 16, // SITL's board id in the upper half
    flightCustomVersion: [...Buffer.from('2a3dc4b7', 'latin1')],
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

export function extendedState(channel: Channel, view: TelemetryView): void {
  const { vehicle } = view;
  const landing = !vehicle.landed && (vehicle.vu < -0.2 || vehicle.u < 0.1) && view.mode().number === 9;
  channel.send(ExtendedSysState, { vtolState: 0, landedState: vehicle.landed ? 1 : landing ? 4 : 2 });
}
