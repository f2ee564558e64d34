/** Numbers of MAVLink enums, as far as the simulator says them. */

export const MavSeverity = { CRITICAL: 2, ERROR: 3, WARNING: 4, NOTICE: 5, INFO: 6 } as const;
export type MavSeverity = (typeof MavSeverity)[keyof typeof MavSeverity];

export const MavResult = {
  ACCEPTED: 0,
  TEMPORARILY_REJECTED: 1,
  DENIED: 2,
  UNSUPPORTED: 3,
  FAILED: 4,
  IN_PROGRESS: 5,
  CANCELLED: 6,
  COMMAND_UNSUPPORTED_MAV_FRAME: 9,
} as const;
export type MavResult = (typeof MavResult)[keyof typeof MavResult];

export const MavMissionResult = {
  ACCEPTED: 0,
  ERROR: 1,
  UNSUPPORTED_FRAME: 2,
  UNSUPPORTED: 3,
  NO_SPACE: 4,
  INVALID: 5,
  INVALID_PARAM1: 6,
  INVALID_PARAM5_X: 10,
  INVALID_PARAM6_Y: 11,
  INVALID_PARAM7: 12,
  INVALID_SEQUENCE: 13,
  DENIED: 14,
  OPERATION_CANCELLED: 15,
} as const;
export type MavMissionResult = (typeof MavMissionResult)[keyof typeof MavMissionResult];

export const MissionState = { NO_MISSION: 1, NOT_STARTED: 2, ACTIVE: 3, PAUSED: 4, COMPLETE: 5 } as const;
export const MavState = { STANDBY: 3, ACTIVE: 4, CRITICAL: 5 } as const;
export const MavType = { FIXED_WING: 1, QUADROTOR: 2, GCS: 6, GROUND_ROVER: 10, SUBMARINE: 12 } as const;
export const MavAutopilot = { ARDUPILOTMEGA: 3, PX4: 12 } as const;
export const MavBatteryChargeState = { OK: 1, LOW: 2 } as const;
export const EkfStatusFlags = {
  ATTITUDE: 1,
  VELOCITY_HORIZ: 2,
  VELOCITY_VERT: 4,
  POS_HORIZ_REL: 8,
  POS_HORIZ_ABS: 16,
  POS_VERT_ABS: 32,
  CONST_POS_MODE: 128,
  PRED_POS_HORIZ_REL: 256,
  PRED_POS_HORIZ_ABS: 512,
  UNINITIALIZED: 1024,
} as const;
