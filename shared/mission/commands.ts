/**
 * The commands of missions, fences and rally points: MAV_CMD number, name without `MAV_CMD_`, and `@` where x, y, z are a
 * place. What ArduPilot 4.5 or PX4 1.15 takes in an item (https://mavlink.io/en/messages/common.html#mav_commands).
 */
const TABLE = `
16 NAV_WAYPOINT @
17 NAV_LOITER_UNLIM @
18 NAV_LOITER_TURNS @
19 NAV_LOITER_TIME @
20 NAV_RETURN_TO_LAUNCH
21 NAV_LAND @
22 NAV_TAKEOFF @
30 NAV_CONTINUE_AND_CHANGE_ALT @
31 NAV_LOITER_TO_ALT @
80 NAV_ROI @
82 NAV_SPLINE_WAYPOINT @
83 NAV_ALTITUDE_WAIT
84 NAV_VTOL_TAKEOFF @
85 NAV_VTOL_LAND @
92 NAV_GUIDED_ENABLE
93 NAV_DELAY
94 NAV_PAYLOAD_PLACE @
112 CONDITION_DELAY
114 CONDITION_DISTANCE
115 CONDITION_YAW
177 DO_JUMP
178 DO_CHANGE_SPEED
179 DO_SET_HOME @
181 DO_SET_RELAY
182 DO_REPEAT_RELAY
183 DO_SET_SERVO
184 DO_REPEAT_SERVO
187 DO_SET_ACTUATOR
188 DO_RETURN_PATH_START @
189 DO_LAND_START @
191 DO_GO_AROUND @
193 DO_PAUSE_CONTINUE
194 DO_SET_REVERSE
195 DO_SET_ROI_LOCATION @
196 DO_SET_ROI_WPNEXT_OFFSET
197 DO_SET_ROI_NONE
200 DO_CONTROL_VIDEO
201 DO_SET_ROI @
202 DO_DIGICAM_CONFIGURE
203 DO_DIGICAM_CONTROL
204 DO_MOUNT_CONFIGURE
205 DO_MOUNT_CONTROL
206 DO_SET_CAM_TRIGG_DIST
207 DO_FENCE_ENABLE
208 DO_PARACHUTE
210 DO_INVERTED_FLIGHT
211 DO_GRIPPER
212 DO_AUTOTUNE_ENABLE
213 NAV_SET_YAW_SPEED
214 DO_SET_CAM_TRIGG_INTERVAL
215 DO_SET_RESUME_REPEAT_DIST
216 DO_SPRAYER
217 DO_SEND_SCRIPT_MESSAGE
218 DO_AUX_FUNCTION
222 DO_GUIDED_LIMITS
223 DO_ENGINE_CONTROL
260 OBLIQUE_SURVEY
400 COMPONENT_ARM_DISARM
530 SET_CAMERA_MODE
531 SET_CAMERA_ZOOM
532 SET_CAMERA_FOCUS
534 SET_CAMERA_SOURCE
600 JUMP_TAG
601 DO_JUMP_TAG
1000 DO_GIMBAL_MANAGER_PITCHYAW
1001 DO_GIMBAL_MANAGER_CONFIGURE
2000 IMAGE_START_CAPTURE
2001 IMAGE_STOP_CAPTURE
2003 DO_TRIGGER_CONTROL
2500 VIDEO_START_CAPTURE
2501 VIDEO_STOP_CAPTURE
3000 DO_VTOL_TRANSITION
4501 CONDITION_GATE @
5000 NAV_FENCE_RETURN_POINT @
5001 NAV_FENCE_POLYGON_VERTEX_INCLUSION @
5002 NAV_FENCE_POLYGON_VERTEX_EXCLUSION @
5003 NAV_FENCE_CIRCLE_INCLUSION @
5004 NAV_FENCE_CIRCLE_EXCLUSION @
5100 NAV_RALLY_POINT @
31000 WAYPOINT_USER_1 @
31001 WAYPOINT_USER_2 @
31002 WAYPOINT_USER_3 @
31003 WAYPOINT_USER_4 @
31004 WAYPOINT_USER_5 @
31005 SPATIAL_USER_1 @
31006 SPATIAL_USER_2 @
31007 SPATIAL_USER_3 @
31008 SPATIAL_USER_4 @
31009 SPATIAL_USER_5 @
31010 USER_1
31011 USER_2
31012 USER_3
31013 USER_4
31014 USER_5
42600 DO_WINCH
42702 NAV_SCRIPT_TIME
42703 NAV_ATTITUDE_TIME
`;

/** MAV_CMD numbers that the code names. */
export const CMD = {
  waypoint: 16,
  loiterUnlimited: 17,
  land: 21,
  takeoff: 22,
  vtolTakeoff: 84,
  vtolLand: 85,
  jump: 177,
  changeSpeed: 178,
  lookAt: 195,
  lookAhead: 197,
  triggerDistance: 206,
  returnPoint: 5000,
  polygonInclusion: 5001,
  polygonExclusion: 5002,
  circleInclusion: 5003,
  circleExclusion: 5004,
  rallyPoint: 5100,
} as const;

/** Those that a fence consists of, as far as they are known here. */
const FENCE: ReadonlySet<number> = new Set([
  CMD.returnPoint,
  CMD.polygonInclusion,
  CMD.polygonExclusion,
  CMD.circleInclusion,
  CMD.circleExclusion,
]);

export function isFence(command: number): boolean {
  return FENCE.has(command);
}

/** Whose param4 is a yaw, degrees. */
export const YAWED: ReadonlySet<number> = new Set([
  CMD.waypoint,
  CMD.loiterUnlimited,
  CMD.land,
  CMD.takeoff,
  CMD.vtolTakeoff,
  CMD.vtolLand,
]);

interface ItemCommand {
  readonly name: string;
  /** x, y and z are latitude, longitude and height. */
  readonly isPlace: boolean;
}

export const ITEM_COMMANDS: ReadonlyMap<number, ItemCommand> = new Map(
  TABLE.trim()
    .split('\n')
    .map((line) => {
      const [id, name = '', place] = line.split(' ');
      return [Number(id), { name, isPlace: place === '@' }];
    }),
);

/** Whether x, y and z of the command are a place; so it is also taken for a command that we do not know. */
export function isPlace(command: number): boolean {
  return ITEM_COMMANDS.get(command)?.isPlace ?? true;
}

/** MAV_FRAME_MISSION: the item has no place, and x and y are numbers of its command. */
export const FRAME_MISSION = 2;

/** Whether x and y are degrees (1e7 of them on the wire), rather than plain numbers. */
export function isInDegrees(frame: number, command: number): boolean {
  return frame !== FRAME_MISSION && isPlace(command);
}
