import { expect } from 'chai';
import fc from 'fast-check';
import { ardupilotmega, common, type MavLinkData, MavLinkProtocolV2, minimal, standard } from 'node-mavlink';
import {
  decodeAttitude,
  decodeAutopilotVersion,
  decodeBatteryStatus,
  decodeCommandAck,
  decodeGlobalPosition,
  decodeGpsRaw,
  decodeHeartbeat,
  decodeHomePosition,
  decodeParamValue,
  decodeRcChannels,
  decodeStatusText,
  decodeSysStatus,
  decodeSystemTimeBootMs,
  decodeVfrHud,
} from '../../shared/mavlink/decode.ts';
import { decodeWind, decodeWindCov } from '../../shared/mavlink/decode-flight.ts';
import { decodeHighLatency, decodeHighLatency2 } from '../../shared/mavlink/decode-latency.ts';
import { decodeLogData, decodeLogEntry } from '../../shared/mavlink/decode-logs.ts';
import {
  decodeAdsbVehicle,
  decodeCollision,
  decodeFenceStatus,
} from '../../shared/mavlink/decode-traffic.ts';
import { crcExtraOf, shapeOf } from '../../shared/mavlink/dialect.ts';
import { Framer } from '../../shared/mavlink/framer.ts';
import { MSG } from '../../shared/mavlink/messages.ts';
import { Payload } from '../../shared/mavlink/payload.ts';
import { rawV2 } from '../link/mavlink-samples.ts';

interface MessageClass {
  new (): MavLinkData;
  readonly FIELDS: (typeof MavLinkData)['FIELDS'];
  readonly MSG_ID: number;
}

/** Reads with our decoder and with node-mavlink's, and says what the two must have in common. */
interface Case {
  readonly clazz: MessageClass;
  readonly ours: (payload: Payload) => unknown;
  readonly theirs: (message: Record<string, never>) => unknown;
}

const ascii = (text: unknown): string => String(text).replace(/[^\x20-\x7e]/g, '?');

const CASES: Readonly<Record<string, Case>> = {
  HEARTBEAT: {
    clazz: minimal.Heartbeat,
    ours: decodeHeartbeat,
    theirs: ({ customMode, type, autopilot, baseMode, systemStatus }) => ({
      customMode,
      type,
      autopilot,
      baseMode,
      systemStatus,
    }),
  },
  ATTITUDE: {
    clazz: common.Attitude,
    ours: decodeAttitude,
    theirs: ({ timeBootMs, roll, pitch, yaw }) => ({ timeBootMs, roll, pitch, yaw }),
  },
  LOG_ENTRY: {
    clazz: common.LogEntry,
    ours: decodeLogEntry,
    theirs: ({ id, numLogs: count, lastLogNum: last, timeUtc: time, size }) => ({
      id,
      count,
      last,
      time,
      size,
    }),
  },
  LOG_DATA: {
    clazz: common.LogData,
    ours: (payload) => {
      const { id, offset, data } = decodeLogData(payload);
      return { id, offset, data: [...data] };
    },
    theirs: (message) => {
      const { id, ofs: offset, count, data } = message as unknown as common.LogData;
      return { id, offset, data: data.slice(0, Math.min(90, count)) };
    },
  },
  GLOBAL_POSITION_INT: {
    clazz: common.GlobalPositionInt,
    ours: decodeGlobalPosition,
    theirs: ({ timeBootMs, lat, lon, alt, relativeAlt, vx, vy, vz, hdg }) => ({
      timeBootMs,
      lat,
      lon,
      alt,
      relativeAlt,
      vx,
      vy,
      vz,
      hdg,
    }),
  },
  GPS_RAW_INT: {
    clazz: common.GpsRawInt,
    ours: decodeGpsRaw,
    theirs: ({ lat, lon, alt, eph, epv, fixType, satellitesVisible }) => ({
      lat,
      lon,
      alt,
      eph,
      epv,
      fixType,
      satellites: satellitesVisible,
    }),
  },
  SYS_STATUS: {
    clazz: common.SysStatus,
    ours: decodeSysStatus,
    theirs: ({
      onboardControlSensorsPresent,
      onboardControlSensorsEnabled,
      onboardControlSensorsHealth,
      voltageBattery,
      currentBattery,
      batteryRemaining,
    }) => ({
      present: onboardControlSensorsPresent,
      enabled: onboardControlSensorsEnabled,
      health: onboardControlSensorsHealth,
      voltage: voltageBattery,
      current: currentBattery,
      remaining: batteryRemaining,
    }),
  },
  ADSB_VEHICLE: {
    clazz: common.AdsbVehicle,
    ours: (payload) => {
      const message = decodeAdsbVehicle(payload);
      return { ...message, callsign: ascii(message.callsign) };
    },
    theirs: (message) => ({
      icao: message['ICAOAddress'],
      lat: message['lat'],
      lon: message['lon'],
      altitude: message['altitude'],
      heading: message['heading'],
      horizontalSpeed: message['horVelocity'],
      verticalSpeed: message['verVelocity'],
      flags: message['flags'],
      squawk: message['squawk'],
      altitudeType: message['altitudeType'],
      callsign: ascii(message['callsign']),
      emitter: message['emitterType'],
      silentS: message['tslc'],
    }),
  },
  COLLISION: {
    clazz: common.Collision,
    ours: decodeCollision,
    theirs: (message) => ({
      id: message['id'],
      time: message['timeToMinimumDelta'],
      vertical: message['altitudeMinimumDelta'],
      horizontal: message['horizontalMinimumDelta'],
      source: message['src'],
      action: message['action'],
      level: message['threatLevel'],
    }),
  },
  FENCE_STATUS: {
    clazz: common.FenceStatus,
    ours: decodeFenceStatus,
    theirs: ({ breachCount, breachStatus, breachType }) => ({
      count: breachCount,
      status: breachStatus,
      type: breachType,
    }),
  },
  WIND: {
    clazz: ardupilotmega.Wind,
    ours: decodeWind,
    theirs: ({ direction, speed }) => ({ direction, speed }),
  },
  WIND_COV: {
    clazz: common.WindCov,
    ours: decodeWindCov,
    theirs: ({ windX: north, windY: east }) => ({ north, east }),
  },
  BATTERY_STATUS: {
    clazz: common.BatteryStatus,
    ours: decodeBatteryStatus,
    theirs: ({
      id,
      temperature,
      voltages,
      voltagesExt,
      currentBattery,
      batteryRemaining,
      currentConsumed,
      chargeState,
      batteryFunction,
    }) => ({
      id,
      temperature,
      cells: voltages,
      cellsExt: voltagesExt,
      current: currentBattery,
      remaining: batteryRemaining,
      consumed: currentConsumed,
      chargeState,
      function: batteryFunction,
    }),
  },
  HIGH_LATENCY2: {
    clazz: common.HighLatency2,
    ours: (payload) => {
      const { kind, lat, lon, altitude, heading, airspeed, battery, failures, item } =
        decodeHighLatency2(payload);
      return { ...kind, lat, lon, altitude, heading, airspeed, battery, failures, item };
    },
    theirs: (message) => ({
      type: message['type'],
      autopilot: message['autopilot'],
      lat: message['latitude'],
      lon: message['longitude'],
      altitude: message['altitude'],
      heading: 2 * Number(message['heading']),
      airspeed: Number(message['airspeed']) / 5,
      battery: message['battery'],
      failures: message['failureFlags'],
      item: message['wpNum'],
    }),
  },
  HIGH_LATENCY: {
    clazz: common.HighLatency,
    ours: (payload) => {
      const { customMode, baseMode, lat, lon, altitude, battery, gps, attitude, landed, item } =
        decodeHighLatency(payload);
      return { customMode, baseMode, lat, lon, altitude, battery, ...gps, ...attitude, landed, item };
    },
    theirs: (message) => ({
      customMode: message['customMode'],
      baseMode: message['baseMode'],
      lat: message['latitude'],
      lon: message['longitude'],
      altitude: message['altitudeAmsl'],
      battery: message['batteryRemaining'],
      fixType: message['gpsFixType'],
      satellites: message['gpsNsat'],
      roll: message['roll'],
      pitch: message['pitch'],
      landed: message['landedState'],
      item: message['wpNum'],
    }),
  },
  VFR_HUD: {
    clazz: common.VfrHud,
    ours: decodeVfrHud,
    theirs: ({ airspeed, groundspeed, alt, climb, heading, throttle }) => ({
      airspeed,
      groundspeed,
      alt,
      climb,
      heading,
      throttle,
    }),
  },
  RC_CHANNELS: {
    clazz: common.RcChannels,
    ours: decodeRcChannels,
    theirs: (message) => ({
      timeBootMs: message['timeBootMs'],
      channels: Array.from({ length: 18 }, (_, index) => message[`chan${index + 1}Raw`]),
      count: message['chancount'],
      rssi: message['rssi'],
    }),
  },
  HOME_POSITION: {
    clazz: common.HomePosition,
    ours: decodeHomePosition,
    theirs: ({ latitude, longitude, altitude }) => ({ lat: latitude, lon: longitude, alt: altitude }),
  },
  STATUSTEXT: {
    clazz: common.StatusText,
    ours: (payload) => {
      const { severity, bytes, id, part } = decodeStatusText(payload);
      return { severity, text: ascii(bytes), id, part };
    },
    theirs: ({ severity, text, id, chunkSeq }) => ({ severity, text: ascii(text), id, part: chunkSeq }),
  },
  COMMAND_ACK: {
    clazz: common.CommandAck,
    ours: decodeCommandAck,
    theirs: ({ command, result, targetSystem, targetComponent }) => ({
      command,
      result,
      targetSystem,
      targetComponent,
    }),
  },
  PARAM_VALUE: {
    clazz: common.ParamValue,
    ours: (payload) => {
      const { name, type, count, index } = decodeParamValue(payload);
      return { name: ascii(name), type, count, index };
    },
    theirs: ({ paramId, paramType, paramCount, paramIndex }) => ({
      name: ascii(paramId),
      type: paramType,
      count: paramCount,
      index: paramIndex,
    }),
  },
  AUTOPILOT_VERSION: {
    clazz: standard.AutopilotVersion,
    ours: decodeAutopilotVersion,
    theirs: ({ capabilities, flightSwVersion, uid, uid2 }) => {
      const long = Buffer.from(uid2 as unknown as readonly number[]).toString('hex');
      const short = Buffer.alloc(8);
      short.writeBigUInt64LE(BigInt.asUintN(64, BigInt(String(uid))));
      const version = Number(flightSwVersion);
      const text = [version >>> 24, (version >>> 16) & 0xff, (version >>> 8) & 0xff].join('.');
      return {
        capabilities: Number(BigInt.asUintN(32, BigInt(String(capabilities)))),
        flightSwVersion,
        text: version === 0 ? null : text,
        uid: [long, short.toString('hex')].find((hex) => !/^0+$/.test(hex)) ?? null,
      };
    },
  },
  SYSTEM_TIME: {
    clazz: common.SystemTime,
    ours: decodeSystemTimeBootMs,
    theirs: ({ timeBootMs }) => timeBootMs,
  },
};

/** The payload as a vehicle sends it: zero bytes cut off its end, but never the first one. */
function truncated(payload: Uint8Array): Uint8Array {
  let { length } = payload;
  while (length > 1 && payload[length - 1] === 0) length--;
  return payload.subarray(0, length);
}

describe('MAVLink decode', () => {
  for (const [name, { clazz, ours, theirs }] of Object.entries(CASES)) {
    it(`reads ${name} as node-mavlink does, truncated or not`, () => {
      const id = MSG[name as keyof typeof MSG];
      expect(clazz.MSG_ID).to.equal(id);
      const full = shapeOf(id)?.fullLength ?? 0;
      const bytes = fc.oneof(
        // ASCII, because node-mavlink reads text as latin-1.
        fc.array(fc.integer({ min: 0, max: 127 }), { minLength: full, maxLength: full }),
        fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 32, max: 126 })), {
          minLength: full,
          maxLength: full,
        }),
      );
      const scratch = new Payload();
      fc.assert(
        fc.property(bytes, fc.nat(full), (raw, zeros) => {
          const payload = truncated(Uint8Array.from(raw).fill(0, full - zeros));
          const frame = rawV2({ id, payload, extra: crcExtraOf(id) });
          let seen: unknown = null;
          const framer = new Framer((view) => {
            expect(view.id).to.equal(id);
            seen = ours(scratch.load(view));
          });
          framer.push(frame, 0);
          const padded = Buffer.alloc(256);
          padded.set(payload);
          const message = new MavLinkProtocolV2().data(padded, clazz as never);
          expect(seen).to.deep.equal(theirs(message as unknown as Record<string, never>));
        }),
        { numRuns: 100 },
      );
    });
  }

  it('keeps the bits of a parameter value, and says when the last part of a text has come', () => {
    const payload = new Payload();
    const read = <T>(bytes: Buffer, decode: (from: Payload) => T): T | null => {
      let out: T | null = null;
      new Framer((frame) => {
        out = decode(payload.load(frame));
      }).push(bytes, 0);
      return out;
    };
    const value = Buffer.alloc(25);
    value.writeFloatLE(0.1, 0);
    value.write('SIXTEEN_CHARS_16', 8);
    const param = read(rawV2({ id: MSG.PARAM_VALUE, payload: value, extra: 220 }), decodeParamValue);
    expect(param).to.include({ name: 'SIXTEEN_CHARS_16', bits: 0x3dcccccd });
    const long = Buffer.concat([Buffer.from([3]), Buffer.alloc(50, 'x'), Buffer.from([7, 0, 1])]);
    const part = read(rawV2({ id: MSG.STATUSTEXT, payload: long, extra: 83 }), decodeStatusText);
    expect(part).to.deep.equal({ severity: 3, bytes: Buffer.alloc(50, 'x'), id: 7, part: 1, final: false });
  });
});
