import {
  common,
  type MavLinkData,
  MavLinkProtocolV1,
  MavLinkProtocolV2,
  minimal,
  standard,
} from 'node-mavlink';
import { frameCrc } from '../../shared/mavlink/crc.ts';

export type Wire = 'v1' | 'v2' | 'signed';

/** Of signed samples. */
export const SAMPLE_KEY = Buffer.alloc(32, 7);

/** One frame as node-mavlink writes it. */
export function encodeAs(message: MavLinkData, wire: Wire, seq = 0, system = 1, component = 1): Buffer {
  if (wire === 'v1') return new MavLinkProtocolV1(system, component).serialize(message, seq);
  const flags = wire === 'signed' ? MavLinkProtocolV2.IFLAG_SIGNED : 0;
  const protocol = new MavLinkProtocolV2(system, component, flags);
  const frame = protocol.serialize(message, seq);
  return wire === 'signed' ? protocol.sign(frame, 1, SAMPLE_KEY, Date.UTC(2026, 0, 1)) : frame;
}

/** A frame with any header and payload; `extra` is its CRC_EXTRA. */
export function rawV2(fields: {
  id: number;
  payload: Uint8Array;
  extra?: number;
  incompat?: number;
  seq?: number;
  system?: number;
  component?: number;
}): Buffer {
  const { id, payload, extra = 0, incompat = 0, seq = 0, system = 1, component = 1 } = fields;
  const head = [0xfd, payload.length, incompat, 0, seq, system, component];
  const frame = Buffer.from([...head, id & 0xff, (id >> 8) & 0xff, id >> 16, ...payload, 0, 0]);
  frame.writeUInt16LE(frameCrc(frame, 1, frame.length - 2, extra), frame.length - 2);
  return (incompat & 1) === 1 ? Buffer.concat([frame, Buffer.alloc(13, 0x55)]) : frame;
}

export function heartbeat(
  options: { armed?: boolean; customMode?: number; type?: number; autopilot?: number } = {},
): MavLinkData {
  const message = new minimal.Heartbeat();
  const baseMode: number = 1 + (options.armed === true ? 128 : 0);
  message.type = options.type ?? 2;
  message.autopilot = options.autopilot ?? 3;
  message.baseMode = baseMode;
  message.customMode = options.customMode ?? 0;
  message.systemStatus = 3;
  message.mavlinkVersion = 3;
  return message;
}

export function attitude(timeBootMs: number, roll = 0.1, pitch = -0.2, yaw = 1.5): MavLinkData {
  const message = new common.Attitude();
  Object.assign(message, { timeBootMs, roll, pitch, yaw });
  return message;
}

export function autopilotVersion(options: { capabilities?: number; uid?: number } = {}): MavLinkData {
  const message = new standard.AutopilotVersion();
  const zeros = (count: number): number[] => Array.from({ length: count }, () => 0);
  const fields = {
    capabilities: BigInt(options.capabilities ?? 0),
    uid: BigInt(options.uid ?? 0),
    flightSwVersion: (4 << 24) | (5 << 16) | (7 << 8) | 255,
    middlewareSwVersion: 0,
    osSwVersion: 0,
    boardVersion: 0,
    vendorId: 0,
    productId: 0,
    flightCustomVersion: zeros(8),
    middlewareCustomVersion: zeros(8),
    osCustomVersion: zeros(8),
    uid2: zeros(18),
  };
  return Object.assign(message, fields);
}

export function commandAck(
  command: number,
  result: number,
  targetSystem = 1,
  targetComponent = 191,
): MavLinkData {
  const message = new common.CommandAck();
  Object.assign(message, { command, result, progress: 0, resultParam2: 0, targetSystem, targetComponent });
  return message;
}

export function paramValue(name: string, value: number, index: number, count: number): MavLinkData {
  const message = new common.ParamValue();
  Object.assign(message, {
    paramId: name,
    paramValue: value,
    paramIndex: index,
    paramCount: count,
    paramType: 9,
  });
  return message;
}

export function statusText(severity: number, text: string, id = 0, chunkSeq = 0): MavLinkData {
  const message = new common.StatusText();
  Object.assign(message, { severity, text, id, chunkSeq });
  return message;
}

export function globalPosition(timeBootMs: number, lat: number, lon: number): MavLinkData {
  const message = new common.GlobalPositionInt();
  Object.assign(message, {
    timeBootMs,
    lat: Math.round(lat * 1e7),
    lon: Math.round(lon * 1e7),
    alt: 500_000,
    relativeAlt: 12_000,
    vx: 100,
    vy: -50,
    vz: 0,
    hdg: 9000,
  });
  return message;
}

export function homePosition(lat: number, lon: number): MavLinkData {
  const message = new common.HomePosition();
  const [latitude, longitude] = [Math.round(lat * 1e7), Math.round(lon * 1e7)];
  Object.assign(message, { latitude, longitude, altitude: 488_000, q: [1, 0, 0, 0] });
  return message;
}

export function missionCurrent(seq: number): MavLinkData {
  const message = new common.MissionCurrent();
  message.seq = seq;
  return message;
}

export function vfrHud(throttle: number): MavLinkData {
  const message = new common.VfrHud();
  Object.assign(message, { airspeed: 3, groundspeed: 4, alt: 500, climb: 0.5, heading: 90, throttle });
  return message;
}

/** The mix of a real vehicle, for streams in tests and benchmarks. */
export function mixedMessages(count: number): MavLinkData[] {
  const makers: ((index: number) => MavLinkData)[] = [
    (index) => attitude(index * 100, Math.sin(index), Math.cos(index), index / 7),
    (index) => globalPosition(index * 200, 48.1 + index / 1e5, 11.5 - index / 1e5),
    (index) => vfrHud(index % 100),
    (index) => attitude(index * 100 + 50, 0, 0, 0),
    () => heartbeat(),
    (index) => statusText(6, `EKF3 IMU${index % 3} is using GPS`),
    (index) => paramValue(`PARAM_${index}`, index * 1.25, index, count),
    (index) => commandAck(400 + (index % 10), index % 5),
  ];
  return Array.from({ length: count }, (_, index) => (makers[index % makers.length] ?? heartbeat)(index));
}

/** The heartbeat of a ground station. */
export function groundHeartbeatFrame(): Buffer {
  return encodeAs(heartbeat({ type: 6, autopilot: 8 }), 'v2', 0, 255, 190);
}
