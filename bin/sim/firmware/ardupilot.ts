/** ArduPilot 4.5 in four families. All of them fly, drive or swim as the same point mass: only what the link sees differs. */
import { AutoMode } from '../flight/auto.ts';
import type { Craft } from '../flight/craft.ts';
import { DataflashLog } from '../flight/dataflash-log.ts';
import type { Words } from '../flight/firmware-words.ts';
import { GuidedMode, TakeoffMode } from '../flight/guided.ts';
import { type Mission, NAV } from '../flight/mission.ts';
import type { ModeSet } from '../flight/mode-set.ts';
import {
  type FlightMode,
  heightMode,
  holdMode,
  landMode,
  levelMode,
  type ModeId,
  stickMode,
  thrustMode,
} from '../flight/modes.ts';
import type { RadioHabits } from '../flight/radio.ts';
import { returnMode } from '../flight/rtl.ts';
import { ARDUPILOT_COMMANDS, startLanding } from '../mavlink/commands.ts';
import { NAK } from '../mavlink/ftp.ts';
import type { StreamPlan } from '../mavlink/streams.ts';
import { SENDERS } from '../mavlink/telemetry.ts';
import type { TelemetryView } from '../mavlink/telemetry-view.ts';
import { MavAutopilot, MavResult, MavState, MavType } from '../mavlink-values.ts';
import { type ParamRow, paramRows, parseParamRows } from '../params/ardupilot-param-table.ts';
import { BY_VALUE } from '../params/param-dialect.ts';
import { ArdupilotCalibration } from './ardupilot-calibration.ts';
import { ArdupilotMissions, ardupilotItems } from './ardupilot-missions.ts';
import type { Firmware } from './firmware.ts';

export const VEHICLES = ['copter', 'plane', 'rover', 'sub'] as const;
export type VehicleFamily = (typeof VEHICLES)[number];

interface Family {
  readonly type: number;
  readonly flies: boolean;
  readonly title: string;
  /** Entries `number NAME behaviour`; ArduPilot's mode.h of each vehicle. */
  readonly modes: string;
  /** Commands of ArduCopter that this one does not know. */
  readonly without: readonly number[];
  readonly rtl: number;
  readonly land: number;
  /** What it has besides ArduCopter's, in the form of the parameter table. */
  readonly params: string;
  /** ArduSub's modes are on buttons of a joystick. */
  readonly modeSwitch: RadioHabits['modeSwitch'];
}

const NAV_LAND = 21;
const NAV_TAKEOFF = 22;

const FAMILIES: Readonly<Record<VehicleFamily, Family>> = {
  copter: {
    type: MavType.QUADROTOR,
    flies: true,
    title: 'ArduCopter',
    modes:
      '0 STABILIZE thrust, 2 ALT_HOLD height, 3 AUTO auto, 4 GUIDED guided, 5 LOITER hold, 6 RTL return, ' +
      '7 CIRCLE hold, 9 LAND land, 16 POSHOLD hold, 17 BRAKE hold, 21 SMART_RTL return',
    without: [],
    rtl: 6,
    land: 9,
    params: '',
    modeSwitch: { channel: 'FLTMODE_CH', modes: 'FLTMODE' },
  },
  plane: {
    type: MavType.FIXED_WING,
    flies: true,
    title: 'ArduPlane',
    modes:
      '0 MANUAL level, 1 CIRCLE hold, 2 STABILIZE level, 3 TRAINING level, 4 ACRO level, 5 FBWA level, 6 FBWB level, ' +
      '7 CRUISE level, 8 AUTOTUNE level, 10 AUTO auto, 11 RTL return, 12 LOITER hold, 13 TAKEOFF takeoff, 15 GUIDED guided, ' +
      '17 QSTABILIZE level, 18 QHOVER level, 19 QLOITER hold, 20 QLAND land, 21 QRTL return',
    without: [NAV_LAND],
    rtl: 11,
    land: 11,
    params:
      'f TKOFF_ALT=50 TKOFF_DIST=200\nb Q_ENABLE=0 THR_MIN=0\n' +
      'b FLTMODE1=11 FLTMODE2=11 FLTMODE3=5 FLTMODE4=5 FLTMODE5=0 FLTMODE6=0 FLTMODE_CH=8',
    modeSwitch: { channel: 'FLTMODE_CH', modes: 'FLTMODE' },
  },
  rover: {
    type: MavType.GROUND_ROVER,
    flies: false,
    title: 'ArduRover',
    modes:
      '0 MANUAL level, 1 ACRO level, 3 STEERING level, 4 HOLD hold, 5 LOITER hold, 9 CIRCLE hold, 10 AUTO auto, ' +
      '11 RTL return, 12 SMART_RTL return, 15 GUIDED guided',
    without: [NAV_LAND, NAV_TAKEOFF],
    rtl: 11,
    land: 4,
    params: 'b MODE{1-6}=0 MODE_CH=8',
    modeSwitch: { channel: 'MODE_CH', modes: 'MODE' },
  },
  sub: {
    type: MavType.SUBMARINE,
    flies: false,
    title: 'ArduSub',
    modes:
      '0 STABILIZE level, 1 ACRO level, 2 ALT_HOLD level, 3 AUTO auto, 4 GUIDED guided, 7 CIRCLE hold, ' +
      '9 SURFACE hold, 16 POSHOLD hold, 19 MANUAL level',
    without: [NAV_LAND, NAV_TAKEOFF, 20],
    rtl: 9,
    land: 9,
    params: '',
    modeSwitch: undefined,
  },
};

// 4.5.7, official release (FIRMWARE_VERSION_TYPE 255).
const VERSION = (4 << 24) | (5 << 16) | (7 << 8) | 255;
const GIT_HASH = '2a3dc4b7';
// What is implemented: PARAM_FLOAT 2, MISSION_INT 4, COMMAND_INT 8, SET_POSITION_TARGET_GLOBAL_INT 256, MAVLINK2 8192,
// MISSION_FENCE 16384, MISSION_RALLY 32768.
const CAPABILITIES = 2 | 4 | 8 | 256 | 8192 | 16_384 | 32_768;
const [AMSL, RELATIVE_ALT] = [0, 3];
const DO_SET_HOME = 179;
const DO_REPOSITION = 192;
const SET_MODE = 11; // ArduPilot acknowledges the message under the message's own number
/** ALTITUDE, ESTIMATOR_STATUS, ESC_INFO, ESC_STATUS */
const PX4_ONLY: ReadonlySet<number> = new Set([141, 230, 290, 291]);

// ArduCopter 4.5's stream groups, without the messages that the simulation does not have.
const STREAMS: StreamPlan = {
  groups: [
    { stream: 1, param: 'SR0_RAW_SENS', messages: [] },
    { stream: 2, param: 'SR0_EXT_STAT', messages: [1, 42, 24, 162] },
    { stream: 3, param: 'SR0_RC_CHAN', messages: [36, 65] },
    { stream: 4, param: 'SR0_RAW_CTRL', messages: [] },
    { stream: 6, param: 'SR0_POSITION', messages: [33, 32] },
    { stream: 10, param: 'SR0_EXTRA1', messages: [30, 164] },
    { stream: 11, param: 'SR0_EXTRA2', messages: [74] },
    { stream: 12, param: 'SR0_EXTRA3', messages: [2, 147, 168, 192, 191, 193, 241, 11_030] },
  ],
  hz: new Map(),
  fixed: new Set(),
};

// Texts of ArduPilot 4.5.
const WORDS: Words = {
  armed: 'Arming motors',
  disarmed: () => 'Disarming motors',
  reason: (reason, mode) => {
    switch (reason) {
      case 'attitude':
        return 'Gyros still settling';
      case 'gps':
        return 'GPS 1: Bad fix';
      case 'arm-voltage':
        return 'Battery 1 below minimum arming voltage';
      case 'battery':
        return 'Battery 1 low voltage failsafe';
      case 'fence':
        return 'vehicle outside fence';
      case 'position':
        return 'Need Position Estimate';
      case 'mode':
        return `${mode} mode not armable`;
    }
  },
  armRefused: (reasons) => reasons.map((reason) => `Arm: ${reason}`),
  preArm: (reason) => `PreArm: ${reason}`,
  noSuchMode: (number) => `No such mode ${number}`,
  refused: (name, reason) => `Mode change to ${name} failed: ${reason}`,
  missionReceived: 'Flight plan received',
  positionFound: ['EKF3 IMU0 origin set', 'EKF3 IMU0 is using GPS'],
  hitGround: (speed) => `SIM Hit ground at ${speed.toFixed(6)} m/s`,
};

const ROVER_WORDS: Words = {
  ...WORDS,
  reason: (reason, mode) => (reason === 'mode' ? 'Mode not armable' : WORDS.reason(reason, mode)),
};

/** The personality of one ArduPilot family. The parameters are nearly ArduCopter's for all of them. */
export function ardupilot(name: VehicleFamily): Firmware {
  const family = FAMILIES[name];
  return {
    autopilot: MavAutopilot.ARDUPILOTMEGA,
    type: family.type,
    flies: family.flies,
    capabilities: CAPABILITIES,
    version: VERSION,
    gitHash: GIT_HASH,
    banner: [`${family.title} V4.5.7 (${GIT_HASH})`, 'Frame: QUAD/X'],
    bannerWithParams: true,
    sticksOfAnyone: false,
    params: { rows: rowsOf(family), aliases: new Map(), hidden: [] },
    paramDialect: BY_VALUE,
    firstItem: 1,
    keepsMission: true,
    missions: (options) => new ArdupilotMissions({ ...options, dialect: ardupilotItems(name === 'plane') }),
    calibration: (tools) => new ArdupilotCalibration(tools),
    streams: STREAMS,
    senders: new Map([...SENDERS].filter(([id]) => !PX4_ONLY.has(id))),
    commands: new Map([
      ...[...ARDUPILOT_COMMANDS].filter(([id]) => !family.without.includes(id)),
      // Only a plane that hovers takes off by command: this one has no such motors.
      ...(name === 'plane'
        ? ([
            [NAV_TAKEOFF, () => MavResult.FAILED],
            [NAV.landStart, startLanding],
          ] as const)
        : []),
    ]),
    setMode: (customMode) => ({ ack: SET_MODE, params: [customMode] }),
    intFrame: undefined,
    longFrame,
    ftpNotOpen: NAK.fileNotFound,
    paramFile: true,
    logs: 'ardupilot',
    beginLog: (params, state, wall) => new DataflashLog(params, state, wall),
    initialMode: 0,
    radio: {
      modeSwitch: family.modeSwitch,
      switchPosition,
      switchMode: (value) => value,
      saysNoRadio: true,
      throttleStaysDown: name === 'copter',
      // AP_Arming::rc_calibration_checks
      trimOutside: (channel, _params, below) =>
        below
          ? `RC${channel}_MIN is greater than RC${channel}_TRIM`
          : `RC${channel}_MAX is less than RC${channel}_TRIM`,
    },
    words: name === 'rover' ? ROVER_WORDS : WORDS,
    events: undefined,
    textsForStations: false,
    textEnd: '',
    modes: (craft, mission) => modeSet(craft, mission, family),
    family: name,
    lasts: undefined,
    modeCheck: name === 'copter' ? 'arming' : 'always',
    heartbeat: (view) => heartbeat(view),
    // With all checks switched off it has no opinion; an armed vehicle is healthy (GCS.cpp).
    preArmBit: (view) => ({
      present: true,
      enabled: view.params.get('ARMING_CHECK') !== 0,
      healthy: view.params.get('ARMING_CHECK') !== 0 && (view.vehicle.armed || view.preArmOk()),
    }),
  };
}

/** ArduCopter's, with those of the family instead of the ones of the same name and of the switch for the mode. */
function rowsOf({ params, modeSwitch }: Family): readonly ParamRow[] {
  const own = parseParamRows(params);
  const names = new Set(own.map(({ name }) => name));
  const isOther = (name: string): boolean => name.startsWith('FLTMODE') && modeSwitch?.modes !== 'FLTMODE';
  return [...paramRows().filter(({ name }) => !names.has(name) && !isOther(name)), ...own];
}

/** RC_Channel::read_6pos_switch */
function switchPosition(us: number): number | undefined {
  if (us <= 800 || us >= 2200) return undefined;
  if (us < 1231) return 0;
  if (us < 1361) return 1;
  if (us < 1491) return 2;
  if (us < 1621) return 3;
  return us < 1750 ? 4 : 5;
}

/** GCS_MAVLINK::mav_frame_for_command_long */
function longFrame(command: number): number | undefined {
  if (command === DO_REPOSITION) return undefined;
  return command === DO_SET_HOME ? AMSL : RELATIVE_ALT;
}

function modeSet(craft: Craft, mission: Mission, family: Family): ModeSet {
  const entries = family.modes.split(', ').map((entry) => {
    const [number = '', name = '', behaviour = ''] = entry.split(' ');
    return { id: { number: Number(number), name }, behaviour };
  });
  const idOf = (wanted: string): ModeId => {
    const entry = entries.find(({ behaviour }) => behaviour === wanted);
    if (entry === undefined) throw new Error(`${family.title} has no mode that is ${wanted}`);
    return entry.id;
  };
  const guided = new GuidedMode(craft, idOf('guided'));
  const habits = { needsTakeoff: true, announces: true };
  const auto = new AutoMode(craft, mission, idOf('auto'), habits);
  const all = entries.map(({ id, behaviour }): FlightMode => {
    switch (behaviour) {
      case 'guided':
        return guided;
      case 'auto':
        return auto;
      case 'hold':
        return id.name === 'LOITER' || id.name === 'POSHOLD' ? stickMode(craft, id) : holdMode(craft, id);
      case 'return':
        return returnMode(craft, id);
      case 'takeoff':
        return new TakeoffMode(craft, id);
      case 'land':
        return landMode(craft, id);
      case 'thrust':
        return thrustMode(craft, id);
      case 'height':
        return heightMode(craft, id);
      default:
        return levelMode(craft, id);
    }
  });
  return { all, guided, offboard: guided, takeoff: guided, auto, rtl: family.rtl, land: family.land };
}

function heartbeat(view: TelemetryView): { baseMode: number; systemStatus: number } {
  const { vehicle } = view;
  const custom = 1;
  const stabilized = 16;
  const manualInput = 64;
  const guided = view.mode().needsPosition ? 8 : 0; // ArduCopter's list of "guided" modes is the ones that need a position
  return {
    baseMode:
      custom | stabilized | manualInput | guided | (vehicle.armed || vehicle.tested !== undefined ? 128 : 0), // it arms for a motor test
    systemStatus: view.failsafe() ? MavState.CRITICAL : vehicle.landed ? MavState.STANDBY : MavState.ACTIVE,
  };
}
