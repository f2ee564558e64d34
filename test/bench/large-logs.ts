import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { walkDataflash } from '../../shared/logs/dataflash.ts';
import { LogBytes } from '../../shared/logs/log-bytes.ts';
import { walkTlog } from '../../shared/logs/tlog.ts';
import { walkUlog } from '../../shared/logs/ulog.ts';
import { DataflashWriter } from '../support/dataflash-writer.ts';
import { UlogWriter } from '../support/ulog-writer.ts';

/** Logs of any size, each of one stretch of a flight again and again. */

const VTOL = join(
  dirname(createRequire(import.meta.url).resolve('node-mavlink/package.json')),
  'examples/vtol.tlog',
);
const STRETCH_S = 10;
const OUTPUTS = Object.fromEntries([1500, 1510, 1490, 1505].map((us, at) => [`C${at + 1}`, us]));

/** Bytes that come once, those that are repeated, and where in those the times are. */
interface Stretch {
  readonly head: Buffer;
  readonly body: Buffer;
  readonly times: readonly number[];
  readonly seconds: number;
  /** Adds to the time at a place. */
  readonly shift: (bytes: Buffer, at: number, micros: bigint) => void;
}

/** ArduPilot's, with three IMUs at 100 Hz. */
export function largeDataflash(size: number): Buffer {
  const log = new DataflashWriter();
  log.units('IMU', 's#EEEooo--O--zz');
  log.write('MSG', 0, { Message: 'ArduCopter V4.6.2 (1a2b3c4d)' });
  const head = log.bytes;
  for (let tick = 0; tick < STRETCH_S * 100; tick++) {
    const s = 1 + tick / 100;
    for (const sensor of [0, 1, 2])
      log.write('IMU', s, { I: sensor, GyrX: Math.sin(s), AccZ: -9.8 + Math.sin(s * 9) / 5 });
    if (tick % 4 === 0) log.write('ATT', s, { Roll: 9 * Math.sin(s), Pitch: 4 * Math.cos(s), Yaw: 90 });
    if (tick % 10 === 0) {
      log.write('POS', s, { Lat: 47.1 + Math.sin(s / 2) / 1e3, Lng: 8.2 + Math.cos(s / 2) / 1e3, Alt: 420 });
      log.write('RCOU', s, OUTPUTS);
      log.write('XKF4', s, { SV: 0.1, SP: 0.1 });
    }
    if (tick % 500 === 0) log.write('MODE', s, { Mode: 3 + tick / 500, ModeNum: 3 + tick / 500 });
  }
  const body = log.bytes.subarray(head.length);
  const times: number[] = [];
  const all = bytesOf(log.bytes);
  walkDataflash(all, () => {
    if (all.position >= head.length) times.push(all.position - head.length + 3);
    return true;
  });
  return repeated({ head, body, times, seconds: STRETCH_S, shift: shiftLittle }, size);
}

/** PX4's. */
export function largeUlog(size: number): Buffer {
  const log = new UlogWriter();
  const head = log.bytes;
  for (let tick = 0; tick < STRETCH_S * 200; tick++) {
    const s = 1 + tick / 200;
    log.data('vehicle_local_position', s, { vx: 4 + Math.sin(s), vy: 2 });
    log.data('vehicle_imu_status', s, { accel_vibration_metric: 2 + Math.sin(s) });
    if (tick % 20 === 0) {
      log.data('vehicle_global_position', s, { lat: 47.1 + Math.sin(s) / 1e3, lon: 8.2, alt: 400 });
      log.data('battery_status', s, { voltage_v: 16, voltage_cell_v: 4 });
      log.data('vehicle_status', s, { arming_state: 2, nav_state: tick < 1000 ? 3 : 5 });
    }
  }
  const body = log.bytes.subarray(head.length);
  const times: number[] = [];
  const all = bytesOf(log.bytes);
  walkUlog(all, (type) => {
    if (type === 'D') times.push(all.position - head.length + 5);
    return true;
  });
  return repeated({ head, body, times, seconds: STRETCH_S, shift: shiftLittle }, size);
}

/** A ground station's, of ArduPilot's simulated VTOL plane. */
export function largeTlog(size: number): Buffer {
  const body = readFileSync(VTOL);
  const times: number[] = [];
  const stamps: number[] = [];
  const all = bytesOf(body);
  walkTlog(all, (at) => {
    times.push(all.position);
    stamps.push(at);
    return true;
  });
  const seconds = Math.ceil((stamps.at(-1) ?? 0) - (stamps[0] ?? 0)) + 1;
  return repeated({ head: Buffer.alloc(0), body, times, seconds, shift: shiftBig }, size);
}

function bytesOf(bytes: Buffer): LogBytes {
  return new LogBytes((into, at) => bytes.copy(into, 0, at, at + into.length), bytes.length);
}

function repeated({ head, body, times, seconds, shift }: Stretch, size: number): Buffer {
  const count = Math.ceil((size - head.length) / body.length);
  const log = Buffer.alloc(head.length + count * body.length);
  head.copy(log);
  for (let round = 0; round < count; round++) {
    const start = head.length + round * body.length;
    body.copy(log, start);
    for (const at of times) shift(log, start + at, BigInt(round * seconds) * 1_000_000n);
  }
  return log;
}

function shiftLittle(bytes: Buffer, at: number, micros: bigint): void {
  bytes.writeBigUInt64LE(bytes.readBigUInt64LE(at) + micros, at);
}

function shiftBig(bytes: Buffer, at: number, micros: bigint): void {
  bytes.writeBigUInt64BE(bytes.readBigUInt64BE(at) + micros, at);
}
