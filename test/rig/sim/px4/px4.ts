/** PX4 1.15, as strict as main of March 2026, on a quadcopter, as its link sees it. The flight is the same point mass as with ArduPilot. */

import type { Firmware } from '../../../../bin/sim/firmware/firmware.ts';
import type { Words } from '../../../../bin/sim/flight/firmware-words.ts';
import { NAK } from '../../../../bin/sim/mavlink/ftp.ts';
import type { StreamPlan } from '../../../../bin/sim/mavlink/streams.ts';
import { SENDERS } from '../../../../bin/sim/mavlink/telemetry.ts';
import { cellBattery } from '../../../../bin/sim/mavlink/telemetry-battery.ts';
import type { TelemetryView } from '../../../../bin/sim/mavlink/telemetry-view.ts';
import { MavAutopilot, MavState, MavType } from '../../../../bin/sim/mavlink-values.ts';
import { BYTEWISE } from '../../../../bin/sim/params/param-dialect.ts';
import { armsIn } from '../../../../shared/flight/arming-modes.ts';
import { modeName } from '../../../../shared/flight/modes.ts';
import { Px4Calibration } from './calibration.ts';
import { PX4_COMMANDS } from './commands.ts';
import { isEvent, Px4Events } from './events.ts';
import { PX4_ITEMS, Px4Missions } from './missions.ts';
import { LOITER, modeSlot, px4Modes, switchMode } from './modes.ts';
import { px4Params } from './param-table.ts';
import { Ulog } from './ulog.ts';

// 1.15.4, official release.
const VERSION = (1 << 24) | (15 << 16) | (4 << 8) | 255;
const GIT_HASH = '99c40407';
// What is implemented: MISSION_INT 4, COMMAND_INT 8, PARAM_ENCODE_BYTEWISE 16, SET_POSITION_TARGET_GLOBAL_INT 256,
// MAVLINK2 8192, MISSION_FENCE 16384, MISSION_RALLY 32768.
const CAPABILITIES = 4 | 8 | 16 | 256 | 8192 | 16_384 | 32_768;
const DO_SET_MODE = 176;
const AMSL = 0;
/** MAV_FRAME_GLOBAL_INT: since February 2026 PX4 refuses every COMMAND_INT in another frame. */
const GLOBAL_INT = 5;
const BATTERY_STATUS = 147;
/** FENCE_STATUS, SIMSTATE, WIND, MAG_CAL_PROGRESS, MAG_CAL_REPORT, EKF_STATUS_REPORT, ESC_TELEMETRY_1_TO_4 */
const ARDUPILOT_ONLY: ReadonlySet<number> = new Set([162, 164, 168, 191, 192, 193, 11_030]);

// The "normal" stream set of a telemetry link, as far as the simulation has the messages. REQUEST_DATA_STREAM is unknown.
const STREAMS: StreamPlan = {
  groups: [],
  hz: new Map([
    [1, 1], // SYS_STATUS
    [2, 1], // SYSTEM_TIME
    [24, 1], // GPS_RAW_INT
    [30, 15], // ATTITUDE
    [32, 1], // LOCAL_POSITION_NED
    [33, 5], // GLOBAL_POSITION_INT
    [36, 1], // SERVO_OUTPUT_RAW
    [42, 1], // MISSION_CURRENT
    [65, 5], // RC_CHANNELS
    [74, 4], // VFR_HUD
    [141, 1], // ALTITUDE
    [BATTERY_STATUS, 0.5],
    [230, 0.5], // ESTIMATOR_STATUS
    [241, 0.1], // VIBRATION
    [242, 0.5], // HOME_POSITION
    [245, 1], // EXTENDED_SYS_STATE
    [290, 0.1], // ESC_INFO
    [291, 1], // ESC_STATUS
    [246, 10], // ADSB_VEHICLE: as they are heard
  ]),
  fixed: new Set([42]),
};

const WORDS: Words = {
  armed: 'Armed by external command',
  disarmed: (cause) => (cause === 'command' ? 'Disarmed by external command' : 'Disarmed by landing'),
  reason: (reason) => {
    switch (reason) {
      case 'attitude':
        return 'ekf2 missing data';
      case 'gps':
        return 'GPS fix too low';
      case 'arm-voltage':
      case 'battery':
        return 'Low battery';
      case 'fence':
        return 'Geofence violation';
      case 'position':
        return 'No valid position estimate';
      case 'mode':
        return 'Mode not suitable for arming';
    }
  },
  armRefused: (reasons) => [
    ...reasons.filter((reason) => !isEvent(reason)).map((reason) => `Preflight Fail: ${reason}`),
    'Arming denied: Resolve system health failures first',
  ],
  preArm: () => undefined,
  noSuchMode: () => 'Unsupported auto mode',
  refused: (name) => `Switching to mode '${name}' is currently not possible`,
  missionReceived: undefined,
  positionFound: ['Ready for takeoff!'],
  hitGround: undefined,
};

export function px4(): Firmware {
  return {
    autopilot: MavAutopilot.PX4,
    type: MavType.QUADROTOR,
    flies: true,
    capabilities: CAPABILITIES,
    version: VERSION,
    gitHash: GIT_HASH,
    banner: [],
    bannerWithParams: false,
    sticksOfAnyone: true,
    params: px4Params(),
    paramDialect: BYTEWISE,
    firstItem: 0,
    keepsMission: false,
    missions: (options) => new Px4Missions({ ...options, dialect: PX4_ITEMS }),
    calibration: (tools) => new Px4Calibration(tools),
    streams: STREAMS,
    senders: new Map([
      ...[...SENDERS].filter(([id]) => !ARDUPILOT_ONLY.has(id)),
      [BATTERY_STATUS, cellBattery] as const,
    ]),
    commands: PX4_COMMANDS,
    setMode: (custom) => ({ ack: DO_SET_MODE, params: [(custom >>> 16) & 0xff, custom >>> 24] }),
    intFrame: GLOBAL_INT,
    longFrame: () => AMSL,
    ftpNotOpen: NAK.invalidSession,
    paramFile: false,
    logs: 'px4',
    beginLog: (params, state, wall) => new Ulog(params, state, wall),
    initialMode: LOITER,
    radio: {
      modeSwitch: { channel: 'RC_MAP_FLTMODE', modes: 'COM_FLTMODE' },
      switchPosition: modeSlot,
      switchMode,
      throttleStaysDown: false,
      saysNoRadio: false,
      // rcCalibrationCheck.cpp
      trimOutside: (channel, { min, max, trim }, below) =>
        `RC ERROR: RC${channel}_TRIM ${below ? '<' : '>'} ${below ? 'MIN' : 'MAX'} (${trim}/${below ? min : max})`,
    },
    words: WORDS,
    events: (channel, bootMs, params) => new Px4Events(channel, bootMs, params),
    textsForStations: true,
    textEnd: '\t',
    modes: px4Modes,
    family: 'px4',
    modeCheck: 'always',
    lasts: ({ kind, number }) =>
      kind !== 'takeoff' && armsIn('px4', modeName('px4', number), () => null) !== false,
    heartbeat,
    // In `health` alone (SYS_STATUS.hpp), for the present mode.
    preArmBit: (view) => ({ present: false, enabled: false, healthy: view.preArmOk() }),
  };
}

function heartbeat(view: TelemetryView): { baseMode: number; systemStatus: number } {
  const { vehicle } = view;
  const custom = 1;
  const [auto, guided, stabilize, manualInput, armed] = [4, 8, 16, 64, 128];
  const mode = view.mode();
  const own = mode.kind === 'manual' ? manualInput : auto | guided;
  return {
    baseMode: custom | stabilize | own | (vehicle.armed ? armed : 0),
    systemStatus: view.failsafe() ? MavState.CRITICAL : vehicle.armed ? MavState.ACTIVE : MavState.STANDBY,
  };
}
