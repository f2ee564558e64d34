/* oxlint-disable no-underscore-dangle -- node-mavlink names its fields so */
import { common, type MavLinkData, MavLinkProtocolV2, minimal } from 'node-mavlink';
import { frameCrc } from '../../shared/mavlink/crc.ts';
import { crcExtraOf } from '../../shared/mavlink/dialect.ts';
import { STX_V2 } from '../../shared/mavlink/frame-head.ts';
import { MSG } from '../../shared/mavlink/messages.ts';
import type { PositionSetPoint, Sticks, VelocitySetPoint } from '../../shared/rpc/link-state.ts';
import { type Signer, setupNone } from './signer.ts';

/** MAV_COMP_ID_ONBOARD_COMPUTER: who we are on the link (docs/contract/flight.md). */
export const OWN_COMPONENT = 191;
const TYPE_ONBOARD_CONTROLLER = 18;
const AUTOPILOT_INVALID = 8;
const STATE_ACTIVE = 4;
const NO_FLAGS: number = 0;
const MAVLINK_VERSION = 3;

/** Position only: velocity, acceleration, yaw and yaw rate are to be ignored. */
/** Velocity and yaw rate. */
const MASK_VELOCITY: number = 0b0000_0101_1100_0111;
/** Position and yaw. */
const MASK_POSITION_YAW: number = 0b0000_1001_1111_1000;
const FRAME_LOCAL_NED = 1;
/** Deprecated in MAVLink, and the only frame of the vehicle's own axes that both firmwares take. */
const FRAME_BODY_NED = 8;
const MASK_POSITION_ONLY: number = 0b0000_1101_1111_1000;

/** MAV_FRAME */
export const FRAME_GLOBAL = 0;
export const FRAME_GLOBAL_RELATIVE_ALT = 3;
export const FRAME_GLOBAL_INT = 5;
export const FRAME_GLOBAL_RELATIVE_ALT_INT = 6;

/** The component that a message is for. */
export interface Target {
  readonly system: number;
  readonly component: number;
}

export interface FtpRequest {
  readonly seq: number;
  readonly session: number;
  readonly opcode: number;
  readonly offset: number;
  /** Bytes of `data`, or bytes asked for. */
  readonly size: number;
  readonly data: Buffer;
}

export type Params7 = readonly [number, number, number, number, number, number, number];

/** Builds every frame that we send in our own name, as v2; node-mavlink does the encoding. */
export class Encoder {
  /** System id that we send as: the vehicle's, once it is known. */
  system = 1;
  component: number;
  #seq = 0;
  /** Signs all our frames, once there is a key. */
  signer: Signer | null = null;
  /** Frames that were signed. */
  signed = 0;

  /** @param component who we are on the link */
  constructor(component = OWN_COMPONENT) {
    this.component = component;
  }

  /**
   * We are part of the vehicle, and no ground station, so that its ground-station failsafe still works (docs/threat-model.md
   * J13).
   * @param type MAV_TYPE
   */
  heartbeat(type = TYPE_ONBOARD_CONTROLLER): Buffer {
    const message = new minimal.Heartbeat();
    message.type = type;
    message.autopilot = AUTOPILOT_INVALID;
    message.baseMode = NO_FLAGS;
    message.customMode = 0;
    message.systemStatus = STATE_ACTIVE;
    message.mavlinkVersion = MAVLINK_VERSION;
    return this.#encode(message);
  }

  /** @param confirmation 0 at the first send of a command, then counting */
  commandLong(target: Target, command: number, params: Params7, confirmation: number): Buffer {
    const message = new common.CommandLong();
    message.targetSystem = target.system;
    message.targetComponent = target.component;
    message.command = command;
    message.confirmation = confirmation;
    [
      message._param1,
      message._param2,
      message._param3,
      message._param4,
      message._param5,
      message._param6,
      message._param7,
    ] = params;
    return this.#encode(message);
  }

  /** @param params the first four as they are, then latitude and longitude in degrees and altitude in m */
  commandInt(target: Target, command: number, frame: number, params: Params7): Buffer {
    const message = new common.CommandInt();
    message.targetSystem = target.system;
    message.targetComponent = target.component;
    message.command = command;
    message.frame = frame;
    message.current = 0;
    message.autocontinue = 0;
    const [p1, p2, p3, p4, lat, lon, alt] = params;
    message._param1 = p1;
    message._param2 = p2;
    message._param3 = p3;
    message._param4 = p4;
    message._param5 = degE7(lat);
    message._param6 = degE7(lon);
    message._param7 = alt;
    return this.#encode(message);
  }

  /** @param alt m above home */
  positionTarget(target: Target, lat: number, lon: number, alt: number): Buffer {
    return this.#encode(this.#globalTarget(target, lat, lon, alt));
  }

  #globalTarget(target: Target, lat: number, lon: number, alt: number): common.SetPositionTargetGlobalInt {
    const message = new common.SetPositionTargetGlobalInt();
    message.timeBootMs = 0;
    message.targetSystem = target.system;
    message.targetComponent = target.component;
    message.coordinateFrame = FRAME_GLOBAL_RELATIVE_ALT_INT;
    message.typeMask = MASK_POSITION_ONLY;
    message.latInt = degE7(lat);
    message.lonInt = degE7(lon);
    message.alt = alt;
    return message;
  }

  /** @param seq as the vehicle counts */
  missionSetCurrent(target: Target, seq: number): Buffer {
    const message = new common.MissionSetCurrent();
    message.targetSystem = target.system;
    message.targetComponent = target.component;
    message.seq = seq;
    return this.#encode(message);
  }

  /** @param point m/s, yaw rate in degrees a second (0 if absent) */
  velocityTarget(target: Target, point: Omit<VelocitySetPoint, 'type'>): Buffer {
    const { frame, vx, vy, vz, yaw_rate: yawRate = 0 } = point;
    const message = new common.SetPositionTargetLocalNed();
    message.timeBootMs = 0;
    message.targetSystem = target.system;
    message.targetComponent = target.component;
    message.coordinateFrame = frame === 'body' ? FRAME_BODY_NED : FRAME_LOCAL_NED;
    message.typeMask = MASK_VELOCITY;
    message.vx = vx;
    message.vy = vy;
    message.vz = vz;
    message.yawRate = (yawRate * Math.PI) / 180;
    return this.#encode(message);
  }

  /**
   * @param point degrees, m above home; without a yaw it turns as it likes
   * @param sea the same height in m above sea level, for a vehicle that takes that; null: above home
   */
  placeTarget(
    target: Target,
    { lat, lon, alt, yaw }: Omit<PositionSetPoint, 'type'>,
    sea: number | null = null,
  ): Buffer {
    const message = this.#globalTarget(target, lat, lon, sea ?? alt);
    if (sea !== null) message.coordinateFrame = FRAME_GLOBAL_INT;
    if (yaw !== undefined) {
      message.typeMask = MASK_POSITION_YAW;
      message.yaw = (yaw * Math.PI) / 180;
    }
    return this.#encode(message);
  }

  paramRequestList(target: Target): Buffer {
    const message = new common.ParamRequestList();
    message.targetSystem = target.system;
    message.targetComponent = target.component;
    return this.#encode(message);
  }

  paramRequestRead(target: Target, index: number): Buffer {
    const message = new common.ParamRequestRead();
    message.targetSystem = target.system;
    message.targetComponent = target.component;
    message.paramIndex = index;
    message.paramId = '';
    return this.#encode(message);
  }

  /** @param sticks as in MANUAL_CONTROL */
  manualControl({ system }: Target, { x, y, z, r, buttons = 0 }: Sticks): Buffer {
    const message = new common.ManualControl();
    message.target = system;
    message.x = Math.round(x);
    message.y = Math.round(y);
    message.z = Math.round(z);
    message.r = Math.round(r);
    message.buttons = buttons;
    return this.#encode(message);
  }

  /** @param severity MAV_SEVERITY; @param text at most 50 characters */
  statusText(severity: number, text: string): Buffer {
    const message = new common.StatusText();
    message.severity = severity;
    message.text = text;
    message.id = 0;
    message.chunkSeq = 0;
    return this.#encode(message);
  }

  paramRequestByName(target: Target, name: string): Buffer {
    const message = new common.ParamRequestRead();
    message.targetSystem = target.system;
    message.targetComponent = target.component;
    message.paramIndex = -1;
    message.paramId = name;
    return this.#encode(message);
  }

  /** @param bits the value's four bytes: as a JavaScript number they could be a NaN, and would not survive */
  paramSet(target: Target, name: string, bits: number, type: number): Buffer {
    const payload = Buffer.alloc(23);
    payload.writeUInt32LE(bits, 0);
    payload.writeUInt8(target.system, 4);
    payload.writeUInt8(target.component, 5);
    payload.write(name, 6, 16, 'latin1');
    payload.writeUInt8(type, 22);
    return this.frame(MSG.PARAM_SET, payload);
  }

  /** SETUP_SIGNING. @param payload of `Signer.setup` or `setupNone` @param signer null: unsigned, whatever else is signed */
  setupSigning(payload: Buffer, signer: Signer | null): Buffer {
    return this.frame(MSG.SETUP_SIGNING, payload, signer);
  }

  /** The payload that ends signing on the vehicle. */
  setupNone({ system, component }: Target): Buffer {
    return setupNone(system, component);
  }

  ftp(target: Target, request: FtpRequest): Buffer {
    const payload = Buffer.alloc(254);
    payload.writeUInt8(target.system, 1);
    payload.writeUInt8(target.component, 2);
    payload.writeUInt16LE(request.seq, 3);
    payload.writeUInt8(request.session, 5);
    payload.writeUInt8(request.opcode, 6);
    payload.writeUInt8(request.size, 7);
    payload.writeUInt32LE(request.offset, 11);
    payload.set(request.data, 15);
    return this.frame(MSG.FILE_TRANSFER_PROTOCOL, payload);
  }

  /** LOG_REQUEST_LIST. @param first to `last`: ids; 0 to 65535 for all */
  logRequestList(target: Target, first: number, last: number): Buffer {
    const payload = Buffer.alloc(6);
    payload.writeUInt16LE(first, 0);
    payload.writeUInt16LE(last, 2);
    return this.#addressed(MSG.LOG_REQUEST_LIST, payload, target, 4);
  }

  /** LOG_REQUEST_DATA. @param count bytes */
  logRequestData(target: Target, id: number, offset: number, count: number): Buffer {
    const payload = Buffer.alloc(12);
    payload.writeUInt32LE(offset, 0);
    payload.writeUInt32LE(count, 4);
    payload.writeUInt16LE(id, 8);
    return this.#addressed(MSG.LOG_REQUEST_DATA, payload, target, 10);
  }

  /** LOG_ERASE: all logs. */
  logErase(target: Target): Buffer {
    return this.#addressed(MSG.LOG_ERASE, Buffer.alloc(2), target, 0);
  }

  /** LOG_REQUEST_END: ArduPilot logs again from then on. */
  logRequestEnd(target: Target): Buffer {
    return this.#addressed(MSG.LOG_REQUEST_END, Buffer.alloc(2), target, 0);
  }

  /** REQUEST_EVENT: events that were lost. */
  requestEvents(target: Target, first: number, last: number): Buffer {
    const payload = Buffer.alloc(6);
    payload.writeUInt16LE(first, 0);
    payload.writeUInt16LE(last, 2);
    payload.writeUInt8(target.system, 4);
    payload.writeUInt8(target.component, 5);
    return this.frame(MSG.REQUEST_EVENT, payload);
  }

  /** GPS_RTCM_DATA. @param data at most 180 bytes */
  gpsRtcmData(flags: number, data: Buffer): Buffer {
    const payload = Buffer.alloc(182);
    payload.writeUInt8(flags, 0);
    payload.writeUInt8(data.length, 1);
    data.copy(payload, 2);
    return this.frame(MSG.GPS_RTCM_DATA, payload);
  }

  /** @param stream MAV_DATA_STREAM */
  requestDataStream(target: Target, stream: number, rateHz: number): Buffer {
    const message = new common.RequestDataStream();
    message.targetSystem = target.system;
    message.targetComponent = target.component;
    message.reqStreamId = stream;
    message.reqMessageRate = rateHz;
    message.startStop = 1;
    return this.#encode(message);
  }

  /** @param at where target_system and target_component stand */
  #addressed(id: number, payload: Buffer, target: Target, at: number): Buffer {
    payload.writeUInt8(target.system, at);
    payload.writeUInt8(target.component, at + 1);
    return this.frame(id, payload);
  }

  /** A v2 frame around an encoded payload. @param signer null: unsigned, whatever else is signed */
  frame(id: number, payload: Buffer, signer: Signer | null = this.signer): Buffer {
    const { system, component } = this;
    const frame = frameOf({ id, payload, seq: this.#nextSeq(), system, component });
    return this.#finish(frame, signer);
  }

  #finish(frame: Buffer, signer: Signer | null): Buffer {
    if (signer === null) return frame;
    this.signed++;
    return signer.sign(frame);
  }

  #nextSeq(): number {
    const seq = this.#seq;
    this.#seq = (seq + 1) & 0xff;
    return seq;
  }

  /** Any message of node-mavlink, as it is. */
  message(message: MavLinkData): Buffer {
    return this.#encode(message);
  }

  #encode(message: MavLinkData): Buffer {
    const frame = new MavLinkProtocolV2(this.system, this.component).serialize(message, this.#nextSeq());
    return this.#finish(frame, this.signer);
  }
}

export function frameOf(fields: {
  readonly id: number;
  readonly payload: Buffer;
  readonly seq: number;
  readonly system: number;
  readonly component: number;
}): Buffer {
  const { id, payload, seq, system, component } = fields;
  let length = payload.length;
  while (length > 1 && payload[length - 1] === 0) length--; // v2 cuts zero bytes off the end
  const frame = Buffer.alloc(length + 12);
  frame.writeUInt8(STX_V2, 0);
  frame.writeUInt8(length, 1);
  frame.writeUInt8(seq, 4);
  frame.writeUInt8(system, 5);
  frame.writeUInt8(component, 6);
  frame.writeUIntLE(id, 7, 3);
  payload.copy(frame, 10, 0, length);
  frame.writeUInt16LE(frameCrc(frame, 1, 10 + length, crcExtraOf(id)), 10 + length);
  return frame;
}

function degE7(degrees: number): number {
  return Math.round(degrees * 1e7);
}
