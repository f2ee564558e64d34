/**
 * What a command does, for everything that asks who may send it and when: the command row, frames, mission items, extensions, fleet
 * and connector. `read` changes nothing of the flight or the vehicle; `flight` flies it or moves what it carries; `setup` changes
 * how it is set up; `destructive` can cost it, or takes a protection away; `keyonly` is for the pairing key alone.
 */
export const COMMAND_CLASSES = ['read', 'flight', 'setup', 'destructive', 'keyonly'] as const;
export type CommandClass = (typeof COMMAND_CLASSES)[number];

export interface Classed {
  /** All of them count: who sends it needs each. */
  readonly classes: readonly CommandClass[];
  /** Refused while the vehicle is armed, or may be. */
  readonly guarded: boolean;
  /** Ends a flight or pauses it, so it is not for the pilot in command alone. */
  readonly ends: boolean;
}

/** param1 to param4, NaN where it is NaN. */
export type CommandParams = readonly [number, number, number, number];

/**
 * Every MAV_CMD of common.xml and ardupilotmega.xml, and those of the other dialects that we know
 * (https://mavlink.io/en/messages/common.html#mav_commands): its number, its name, its class. `?`: by its parameters, below; `!`: not
 * while armed, as `setup` and `keyonly` never are; `.`: ends a flight or pauses it. What is not here is `keyonly`.
 * `test/property/command-classes.spec.ts` compares it with mavlink-mappings.
 */
const TABLE = `
16 NAV_WAYPOINT flight
17 NAV_LOITER_UNLIM flight
18 NAV_LOITER_TURNS flight
19 NAV_LOITER_TIME flight
20 NAV_RETURN_TO_LAUNCH flight .
21 NAV_LAND flight .
22 NAV_TAKEOFF flight
23 NAV_LAND_LOCAL flight
24 NAV_TAKEOFF_LOCAL flight
25 NAV_FOLLOW flight
30 NAV_CONTINUE_AND_CHANGE_ALT flight
31 NAV_LOITER_TO_ALT flight
32 DO_FOLLOW flight
33 DO_FOLLOW_REPOSITION flight
34 DO_ORBIT flight
35 DO_FIGURE_EIGHT flight
80 NAV_ROI flight
81 NAV_PATHPLANNING flight
82 NAV_SPLINE_WAYPOINT flight
83 NAV_ALTITUDE_WAIT flight
84 NAV_VTOL_TAKEOFF flight
85 NAV_VTOL_LAND flight
92 NAV_GUIDED_ENABLE flight
93 NAV_DELAY flight
94 NAV_PAYLOAD_PLACE flight
95 NAV_LAST keyonly
112 CONDITION_DELAY flight
113 CONDITION_CHANGE_ALT flight
114 CONDITION_DISTANCE flight
115 CONDITION_YAW flight
159 CONDITION_LAST keyonly
176 DO_SET_MODE flight
177 DO_JUMP flight
178 DO_CHANGE_SPEED flight
179 DO_SET_HOME flight
180 DO_SET_PARAMETER keyonly
181 DO_SET_RELAY flight
182 DO_REPEAT_RELAY flight
183 DO_SET_SERVO flight
184 DO_REPEAT_SERVO flight
185 DO_FLIGHTTERMINATION destructive
186 DO_CHANGE_ALTITUDE flight
187 DO_SET_ACTUATOR flight
188 DO_RETURN_PATH_START flight
189 DO_LAND_START flight
190 DO_RALLY_LAND flight
191 DO_GO_AROUND flight
192 DO_REPOSITION flight
193 DO_PAUSE_CONTINUE ?
194 DO_SET_REVERSE flight
195 DO_SET_ROI_LOCATION flight
196 DO_SET_ROI_WPNEXT_OFFSET flight
197 DO_SET_ROI_NONE flight
198 DO_SET_ROI_SYSID flight
200 DO_CONTROL_VIDEO flight
201 DO_SET_ROI flight
202 DO_DIGICAM_CONFIGURE flight
203 DO_DIGICAM_CONTROL flight
204 DO_MOUNT_CONFIGURE flight
205 DO_MOUNT_CONTROL flight
206 DO_SET_CAM_TRIGG_DIST flight
207 DO_FENCE_ENABLE ?
208 DO_PARACHUTE destructive
209 DO_MOTOR_TEST destructive
210 DO_INVERTED_FLIGHT flight
211 DO_GRIPPER flight
212 DO_AUTOTUNE_ENABLE flight
213 NAV_SET_YAW_SPEED flight
214 DO_SET_CAM_TRIGG_INTERVAL flight
215 DO_SET_RESUME_REPEAT_DIST flight
216 DO_SPRAYER flight
217 DO_SEND_SCRIPT_MESSAGE flight
218 DO_AUX_FUNCTION ?
220 DO_MOUNT_CONTROL_QUAT flight
221 DO_GUIDED_MASTER flight
222 DO_GUIDED_LIMITS flight
223 DO_ENGINE_CONTROL ?
224 DO_SET_MISSION_CURRENT flight
240 DO_LAST keyonly
241 PREFLIGHT_CALIBRATION setup
242 PREFLIGHT_SET_SENSOR_OFFSETS setup
243 PREFLIGHT_UAVCAN setup
245 PREFLIGHT_STORAGE destructive !
246 PREFLIGHT_REBOOT_SHUTDOWN destructive !
247 DO_UPGRADE keyonly
252 OVERRIDE_GOTO flight .
260 OBLIQUE_SURVEY flight
262 DO_SET_STANDARD_MODE ?
300 MISSION_START flight
309 ACTUATOR_GROUP_TEST destructive
310 ACTUATOR_TEST destructive
311 CONFIGURE_ACTUATOR setup
400 COMPONENT_ARM_DISARM ?
401 RUN_PREARM_CHECKS flight
405 ILLUMINATOR_ON_OFF flight
406 DO_ILLUMINATOR_CONFIGURE flight
410 GET_HOME_POSITION read
420 INJECT_FAILURE keyonly
500 START_RX_PAIR setup
510 GET_MESSAGE_INTERVAL read
511 SET_MESSAGE_INTERVAL read
512 REQUEST_MESSAGE read
519 REQUEST_PROTOCOL_VERSION read
520 REQUEST_AUTOPILOT_CAPABILITIES read
521 REQUEST_CAMERA_INFORMATION read
522 REQUEST_CAMERA_SETTINGS read
525 REQUEST_STORAGE_INFORMATION read
526 STORAGE_FORMAT destructive
527 REQUEST_CAMERA_CAPTURE_STATUS read
528 REQUEST_FLIGHT_INFORMATION read
529 RESET_CAMERA_SETTINGS flight
530 SET_CAMERA_MODE flight
531 SET_CAMERA_ZOOM flight
532 SET_CAMERA_FOCUS flight
533 SET_STORAGE_USAGE flight
534 SET_CAMERA_SOURCE flight
600 JUMP_TAG flight
601 DO_JUMP_TAG flight
610 DO_SET_SYS_CMP_ID keyonly
611 DO_SET_GLOBAL_ORIGIN flight
620 EXTERNAL_ATTITUDE_ESTIMATE setup
1000 DO_GIMBAL_MANAGER_PITCHYAW flight
1001 DO_GIMBAL_MANAGER_CONFIGURE flight
2000 IMAGE_START_CAPTURE flight
2001 IMAGE_STOP_CAPTURE flight
2002 REQUEST_CAMERA_IMAGE_CAPTURE read
2003 DO_TRIGGER_CONTROL flight
2004 CAMERA_TRACK_POINT flight
2005 CAMERA_TRACK_RECTANGLE flight
2010 CAMERA_STOP_TRACKING flight
2020 CAMERA_START_MTI flight
2021 CAMERA_STOP_MTI flight
2500 VIDEO_START_CAPTURE flight
2501 VIDEO_STOP_CAPTURE flight
2502 VIDEO_START_STREAMING flight
2503 VIDEO_STOP_STREAMING flight
2504 REQUEST_VIDEO_STREAM_INFORMATION read
2505 REQUEST_VIDEO_STREAM_STATUS read
2510 LOGGING_START flight
2511 LOGGING_STOP setup
2520 AIRFRAME_CONFIGURATION flight
2600 CONTROL_HIGH_LATENCY flight
2800 PANORAMA_CREATE flight
3000 DO_VTOL_TRANSITION flight
3001 ARM_AUTHORIZATION_REQUEST flight
4000 SET_GUIDED_SUBMODE_STANDARD flight
4001 SET_GUIDED_SUBMODE_CIRCLE flight
4501 CONDITION_GATE flight
5000 NAV_FENCE_RETURN_POINT flight
5001 NAV_FENCE_POLYGON_VERTEX_INCLUSION flight
5002 NAV_FENCE_POLYGON_VERTEX_EXCLUSION flight
5003 NAV_FENCE_CIRCLE_INCLUSION flight
5004 NAV_FENCE_CIRCLE_EXCLUSION flight
5100 NAV_RALLY_POINT flight
5200 UAVCAN_GET_NODE_INFO read
5300 DO_SET_SAFETY_SWITCH_STATE destructive !
10001 DO_ADSB_OUT_IDENT flight
12900 ODID_SET_EMERGENCY flight
30001 PAYLOAD_PREPARE_DEPLOY flight
30002 PAYLOAD_CONTROL_DEPLOY flight
31000 WAYPOINT_USER_1 destructive
31001 WAYPOINT_USER_2 destructive
31002 WAYPOINT_USER_3 destructive
31003 WAYPOINT_USER_4 destructive
31004 WAYPOINT_USER_5 destructive
31005 SPATIAL_USER_1 destructive
31006 SPATIAL_USER_2 destructive
31007 SPATIAL_USER_3 destructive
31008 SPATIAL_USER_4 destructive
31009 SPATIAL_USER_5 destructive
31010 USER_1 destructive
31011 USER_2 destructive
31012 USER_3 destructive
31013 USER_4 destructive
31014 USER_5 destructive
32000 CAN_FORWARD keyonly
32100 REQUEST_OPERATOR_CONTROL flight
40001 RESET_MPPT setup
40002 PAYLOAD_CONTROL flight
42000 POWER_OFF_INITIATED destructive !
42001 SOLO_BTN_FLY_CLICK flight
42002 SOLO_BTN_FLY_HOLD flight
42003 SOLO_BTN_PAUSE_CLICK flight .
42004 FIXED_MAG_CAL setup
42005 FIXED_MAG_CAL_FIELD setup
42006 FIXED_MAG_CAL_YAW setup
42007 SET_EKF_SOURCE_SET flight
42424 DO_START_MAG_CAL setup
42425 DO_ACCEPT_MAG_CAL setup
42426 DO_CANCEL_MAG_CAL setup
42427 SET_FACTORY_TEST_MODE keyonly
42428 DO_SEND_BANNER read
42429 ACCELCAL_VEHICLE_POS setup
42501 GIMBAL_RESET flight
42502 GIMBAL_AXIS_CALIBRATION_STATUS read
42503 GIMBAL_REQUEST_AXIS_CALIBRATION setup
42505 GIMBAL_FULL_RESET setup
42600 DO_WINCH flight
42650 FLASH_BOOTLOADER keyonly
42651 BATTERY_RESET setup
42700 DEBUG_TRAP keyonly
42701 SCRIPTING setup
42702 NAV_SCRIPT_TIME flight
42703 NAV_ATTITUDE_TIME flight
43000 GUIDED_CHANGE_SPEED flight
43001 GUIDED_CHANGE_ALTITUDE flight
43002 GUIDED_CHANGE_HEADING flight
43003 EXTERNAL_POSITION_ESTIMATE setup
43004 EXTERNAL_WIND_ESTIMATE setup
43005 SET_HAGL flight
60002 STORM32_DO_GIMBAL_MANAGER_CONTROL_PITCHYAW flight
60010 STORM32_DO_GIMBAL_MANAGER_SETUP flight
60020 QSHOT_DO_CONFIGURE flight
`;

function classed(classes: readonly CommandClass[], guarded = false, ends = false): Classed {
  return {
    classes,
    guarded: guarded || classes.includes('setup') || classes.includes('keyonly'),
    ends,
  };
}

export const FLIGHT = classed(['flight']);
const ENDS = classed(['flight'], false, true);
const DESTRUCTIVE = classed(['destructive']);
/** A protection is switched off: set up otherwise, and taken away. */
const FENCE_OFF = classed(['setup', 'destructive']);
const SETUP = classed(['setup']);
export const KEYONLY = classed(['keyonly']);

const COMPONENT_ARM_DISARM = 400;

/**
 * AUX_FUNC of ArduPilot (libraries/RC_Channel/RC_Channel.h) that fly, or move what the vehicle carries: modes, missions, camera,
 * mount, relays, gripper, winch, sprayer, landing gear, lights, sounds.
 */
const FLYING_FUNCTIONS: ReadonlySet<number> = new Set([
  0, 2, 3, 4, 7, 9, 13, 15, 16, 17, 18, 19, 24, 27, 28, 29, 30, 33, 34, 35, 36, 37, 39, 42, 44, 45, 51, 52,
  53, 54, 55, 56, 57, 59, 60, 61, 63, 66, 67, 68, 69, 70, 71, 72, 73, 75, 77, 78, 79, 83, 92, 93, 96, 98, 99,
  102, 107, 108, 113, 150, 151, 152, 160, 163, 166, 167, 168, 169, 170, 173, 174, 175, 178, 183, 185, 186,
  212, 213, 214, 215, 216, 217, 218, 219,
]);
/** Those that calibrate or learn: trim, compass, airspeed, optical flow. */
const SETTING_FUNCTIONS: ReadonlySet<number> = new Set([
  5, 50, 62, 91, 97, 155, 158, 162, 171, 180, 181, 182,
]);
const AUX_FENCE = 11;
const AUX_HIGH = 2;

function auxFunction([wanted, position]: CommandParams): Classed {
  if (wanted === AUX_FENCE) return position === AUX_HIGH ? FLIGHT : FENCE_OFF;
  if (FLYING_FUNCTIONS.has(wanted)) return FLIGHT;
  return SETTING_FUNCTIONS.has(wanted) ? SETUP : DESTRUCTIVE;
}

/** MAV_STANDARD_MODE that hold, return or land: POSITION_HOLD, SAFE_RECOVERY, LAND. */
const ENDING_STANDARD_MODES: ReadonlySet<number> = new Set([1, 5, 7]);

const BY_PARAMETERS: ReadonlyMap<number, (params: CommandParams) => Classed> = new Map([
  [193, ([go]) => (go === 0 ? ENDS : FLIGHT)],
  [207, ([on]) => (on === 1 ? FLIGHT : FENCE_OFF)],
  [218, auxFunction],
  [223, ([start]) => (start === 1 ? FLIGHT : DESTRUCTIVE)],
  [262, ([mode]) => (ENDING_STANDARD_MODES.has(mode) ? ENDS : FLIGHT)],
  // param2: 21196 whatever the vehicle does, also in flight; ArduPilot has 2989, past the arming checks.
  [
    COMPONENT_ARM_DISARM,
    ([arm, magic]) => (magic !== 0 && !Number.isNaN(magic) ? DESTRUCTIVE : arm === 0 ? ENDS : FLIGHT),
  ],
]);

interface Entry {
  readonly name: string;
  /** Null: by the parameters. */
  readonly classed: Classed | null;
}

/** The table, by MAV_CMD. */
export const COMMANDS: ReadonlyMap<number, Entry> = new Map(
  TABLE.trim()
    .split('\n')
    .map((line) => {
      const [id, name = '', word, mark] = line.split(' ');
      const found = COMMAND_CLASSES.find((each) => each === word);
      const entry = {
        name,
        classed: found === undefined ? null : classed([found], mark === '!', mark === '.'),
      };
      return [Number(id), entry];
    }),
);

/** What a command does, sent now. @param command MAV_CMD */
export function classOfCommand(command: number, params: CommandParams): Classed {
  return COMMANDS.get(command)?.classed ?? BY_PARAMETERS.get(command)?.(params) ?? KEYONLY;
}

/** What an item of a mission does: as the command, but whether it comes on the ground or in the air is not known. */
export function classOfItem(command: number, params: CommandParams): Classed {
  if (command === COMPONENT_ARM_DISARM && params[0] !== 1) return DESTRUCTIVE; // nothing asks whether it has landed
  return classOfCommand(command, params);
}

/** `MAV_CMD_…` without its beginning; null for one that the table lacks. */
export function commandName(command: number): string | null {
  return COMMANDS.get(command)?.name ?? null;
}
