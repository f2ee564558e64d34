import { isKeyOf } from '../member.ts';
/** The parts of a vehicle that an extension can play on the link, as `component_kind` of a manifest names them. */
export type ComponentKind = 'camera' | 'gimbal' | 'payload' | 'peripheral' | 'generic' | 'vio';

interface Kind {
  readonly capability: string;
  /** MAV_TYPE of its heartbeat. */
  readonly type: number;
  /** What it may send, by message id. */
  readonly messages: ReadonlySet<number>;
}

/** MAV_TYPE */
const ONBOARD_CONTROLLER = 18;
const GIMBAL = 26;
const CAMERA = 30;

/**
 * What any component says of itself or answers when it is asked. Not HEARTBEAT, which the node sends for it while it runs; nothing
 * that commands, writes or flies, which is mavlink.write. Ids: common.xml.
 */
const ANY: readonly number[] = [
  22, // PARAM_VALUE
  77, // COMMAND_ACK
  148, // AUTOPILOT_VERSION
  244, // MESSAGE_INTERVAL
  251, // NAMED_VALUE_FLOAT
  252, // NAMED_VALUE_INT
  253, // STATUSTEXT
  322, // PARAM_EXT_VALUE
  324, // PARAM_EXT_ACK
  395, // COMPONENT_INFORMATION
  396, // COMPONENT_INFORMATION_BASIC
  397, // COMPONENT_METADATA
];
/** CAMERA_INFORMATION to VIDEO_STREAM_STATUS, CAMERA_TRACKING_…, CAMERA_THERMAL_RANGE, but not what sets something. */
const OF_CAMERA: readonly number[] = [259, 260, 261, 262, 263, 269, 270, 271, 275, 276, 277];
/** MOUNT_ORIENTATION, GIMBAL_MANAGER_INFORMATION and _STATUS, GIMBAL_DEVICE_INFORMATION and _ATTITUDE_STATUS. */
const OF_GIMBAL: readonly number[] = [265, 280, 281, 283, 285];
/** Where it is, as the estimator of the vehicle takes it: GLOBAL_VISION_POSITION_ESTIMATE to VICON_…, ATT_POS_MOCAP, ODOMETRY. */
const OF_VIO: readonly number[] = [101, 102, 103, 104, 138, 331];

const peripheral: Kind = {
  capability: 'mavlink.component.peripheral',
  type: ONBOARD_CONTROLLER,
  messages: new Set(ANY),
};

export const COMPONENT_KINDS: Readonly<Record<ComponentKind, Kind>> = {
  camera: {
    capability: 'mavlink.component.camera',
    type: CAMERA,
    messages: new Set([...ANY, ...OF_CAMERA]),
  },
  gimbal: {
    capability: 'mavlink.component.gimbal',
    type: GIMBAL,
    messages: new Set([...ANY, ...OF_GIMBAL]),
  },
  payload: { ...peripheral, capability: 'mavlink.component.payload' },
  peripheral,
  generic: peripheral,
  vio: {
    capability: 'mavlink.component.vio',
    type: ONBOARD_CONTROLLER,
    messages: new Set([...ANY, ...OF_VIO]),
  },
};

/** MAV_COMP_ID of the autopilot, of ground stations, and of this node itself: nobody else is one of these. */
const TAKEN: ReadonlySet<unknown> = new Set([0, 1, 190, 191]);

export function isTakenComponent(id: unknown): boolean {
  return TAKEN.has(id);
}

/** Null for a word that is none. */
export function componentKind(kind: unknown): Kind | null {
  return isKeyOf(COMPONENT_KINDS, kind) ? COMPONENT_KINDS[kind] : null;
}
