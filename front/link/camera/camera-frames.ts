import { common, type MavLinkData, standard } from 'node-mavlink';
import type { CameraDone, CameraState } from '../../../shared/rpc/camera.ts';
import { VERSION } from '../../../shared/version.ts';

/**
 * The messages of MAVLink's camera protocol (https://mavlink.io/en/services/camera.html), as this node's camera says them. What
 * is not known has the value that the protocol has for it.
 */

const MIB = 2 ** 20;
const NOT_KNOWN: number = Number.NaN;
/** For a latitude, longitude or altitude. */
const NO_PLACE = 2_147_483_647;
const SVC = 'svc';
const NAME_BYTES = 32;

/** A stream that reaches the ground station which asks. */
export interface Stream {
  readonly kind: 'rtp' | 'mpegts';
  readonly port: number;
}

/** ms since svc-link started, as `time_boot_ms`. */
type Uptime = number;

type Picture = NonNullable<CameraDone['picture']>;

export interface Place {
  /** Degrees, m; null: not known. */
  readonly lat: number | null;
  readonly lon: number | null;
  readonly alt_msl: number | null;
  readonly alt_rel: number | null;
}

export function information(at: Uptime, camera: CameraState, stream: Stream | null): MavLinkData {
  const message = new common.CameraInformation();
  const { CAPTURE_IMAGE, CAPTURE_VIDEO, CAN_CAPTURE_IMAGE_IN_VIDEO_MODE, HAS_VIDEO_STREAM } =
    common.CameraCapFlags;
  message.timeBootMs = at;
  message.vendorName = bytesOf(SVC);
  message.modelName = bytesOf(camera.name);
  message.firmwareVersion = versionNumber(VERSION);
  message.focalLength = NOT_KNOWN;
  message.sensorSizeH = NOT_KNOWN;
  message.sensorSizeV = NOT_KNOWN;
  message.resolutionH = camera.width ?? 0;
  message.resolutionV = camera.height ?? 0;
  message.flags =
    CAPTURE_IMAGE |
    CAPTURE_VIDEO |
    CAN_CAPTURE_IMAGE_IN_VIDEO_MODE |
    (stream === null ? 0 : HAS_VIDEO_STREAM);
  return message;
}

export function settings(at: Uptime): MavLinkData {
  const message = new common.CameraSettings();
  message.timeBootMs = at;
  message.modeId = common.CameraMode.VIDEO;
  message.zoomLevel = NOT_KNOWN;
  message.focusLevel = NOT_KNOWN;
  return message;
}

export function storage(at: Uptime, { storage: found }: CameraState): MavLinkData {
  const message = new common.StorageInformation();
  message.timeBootMs = at;
  message.storageId = 1;
  message.storageCount = 1;
  message.status = found === null ? common.StorageStatus.NOT_SUPPORTED : common.StorageStatus.READY;
  message.totalCapacity = (found?.total_bytes ?? 0) / MIB;
  message.availableCapacity = (found?.free_bytes ?? 0) / MIB;
  // What recording leaves free counts as used.
  message.usedCapacity = message.totalCapacity - message.availableCapacity;
  message.type = common.StorageType.UNKNOWN;
  message.name = '';
  message.storageUsage =
    common.StorageUsageFlag.SET | common.StorageUsageFlag.PHOTO | common.StorageUsageFlag.VIDEO;
  return message;
}

/** @param pictures that were taken @param taking one is under way */
export function captureStatus(
  at: Uptime,
  { recording_ms: recording, storage: found }: CameraState,
  pictures: number,
  taking: boolean,
): MavLinkData {
  const message = new common.CameraCaptureStatus();
  message.timeBootMs = at;
  message.imageStatus = taking ? 1 : 0;
  message.videoStatus = recording === null ? 0 : 1;
  message.imageInterval = 0;
  message.recordingTimeMs = Math.round(recording ?? 0);
  message.availableCapacity = (found?.free_bytes ?? 0) / MIB;
  message.imageCount = pictures;
  return message;
}

export function streamInformation(camera: CameraState, { kind, port }: Stream): MavLinkData {
  const message = new common.VideoStreamInformation();
  const { RTPUDP, MPEG_TS } = common.VideoStreamType;
  fillStream(message, camera);
  message.count = 1;
  message.type = kind === 'rtp' ? RTPUDP : MPEG_TS;
  message.name = SVC;
  message.uri = String(port);
  const { H264, H265 } = common.VideoStreamEncoding;
  message.encoding = camera.codec === 'h265' ? H265 : H264;
  return message;
}

export function streamStatus(camera: CameraState): MavLinkData {
  const message = new common.VideoStreamStatus();
  fillStream(message, camera);
  return message;
}

function fillStream(
  message: common.VideoStreamInformation | common.VideoStreamStatus,
  { fps, width, height, bitrate_kbps: kbps }: CameraState,
): void {
  message.streamId = 1;
  message.flags = common.VideoStreamStatusFlags.RUNNING;
  message.framerate = fps ?? 0;
  message.resolutionH = width ?? 0;
  message.resolutionV = height ?? 0;
  message.bitrate = (kbps ?? 0) * 1000;
}

/** @param index counts from 0 */
export function imageCaptured(
  at: Uptime,
  place: Place | null,
  index: number,
  { file, captured_at: captured }: Picture,
): MavLinkData {
  const message = new common.CameraImageCaptured();
  message.timeBootMs = at;
  message.timeUtc = BigInt(captured) * 1000n;
  message.lat = scaled(place?.lat, 1e7);
  message.lon = scaled(place?.lon, 1e7);
  message.alt = scaled(place?.alt_msl, 1000);
  message.relativeAlt = scaled(place?.alt_rel, 1000);
  message.q = [NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN];
  message.imageIndex = index;
  message.captureResult = standard.MavBool.TRUE;
  message.fileUrl = file;
  return message;
}

/** COMMAND_ACK to whoever sent the command. @param result MAV_RESULT */
export function commandAck(
  { system, component }: { readonly system: number; readonly component: number },
  command: number,
  result: number,
): MavLinkData {
  const message = new common.CommandAck();
  message.command = command;
  message.result = result;
  message.targetSystem = system;
  message.targetComponent = component;
  return message;
}

function scaled(value: number | null | undefined, factor: number): number {
  return value === null || value === undefined ? NO_PLACE : Math.round(value * factor);
}

/** The last byte stays 0. */
function bytesOf(text: string): number[] {
  const bytes = Buffer.alloc(NAME_BYTES);
  bytes.write(text, 0, NAME_BYTES - 1, 'utf8');
  return [...bytes];
}

/** `major.minor.patch` as CAMERA_INFORMATION has it, major in the lowest byte; what follows a `-` is not in it. */
function versionNumber(version: string): number {
  const [major = 0, minor = 0, patch = 0] = version.split(/[.-]/).map(Number);
  return ((patch & 0xff) << 16) | ((minor & 0xff) << 8) | (major & 0xff);
}
