import { styleText } from 'node:util';
import { PHASE_TEXT } from '../../shared/flight/phase.ts';
import { seenIn } from '../../shared/flight/seen.ts';
import { isObject, type JsonObject, listOf, recordOf } from '../../shared/member.ts';
import { clip } from './cells.ts';

/** The lines of `svc top`, from the answers of the API. Pure: the same snapshot gives the same lines. */

/** Answers of the API; an absent or null member is shown as a dash. */
export interface Snapshot {
  /** `GET /api/status/full`; null while the node does not answer. */
  readonly status: JsonObject | null;
  /** `GET /api/v1/diagnostics`. */
  readonly diagnostics: JsonObject | null;
  /** Newest first: entries of `GET /api/logs?level=warn`. */
  readonly warnings: readonly JsonObject[];
  /** Why there is no status. */
  readonly problem: string | null;
  /** Unix time, ms. */
  readonly at: number;
}

interface FrameOptions {
  readonly columns: number;
  readonly rows: number;
  readonly colour: boolean;
  /** Processes by memory instead of in their own order. */
  readonly byMemory: boolean;
}

const NONE = '–';

/** At most `rows` lines, none wider than `columns` cells. */
export function drawFrame(snapshot: Snapshot, options: FrameOptions): readonly string[] {
  const { columns, rows, colour } = options;
  const paint = (style: 'bold' | 'red' | 'yellow' | 'dim', line: string): string =>
    colour ? styleText(style, line, { validateStream: false }) : line;
  const lines: string[] = [];
  const put = (line: string, style?: 'bold' | 'red' | 'yellow' | 'dim'): void => {
    const cut = clip(line, columns);
    lines.push(style === undefined ? cut : paint(style, cut));
  };
  const time = new Date(snapshot.at).toISOString().slice(11, 19);
  const { status } = snapshot;
  if (status === null) {
    put(`svc top ${time}`, 'bold');
    put(`no node: ${snapshot.problem ?? 'it does not answer'}; trying again`, 'red');
    return lines.slice(0, rows);
  }
  put(
    `svc ${text(status, 'version')}  ${text(status, 'profile')} ${text(record(snapshot.diagnostics, 'device'), 'device_id')}  up ${span(at(status, 'uptime_seconds'))}  ${time}`,
    'bold',
  );
  const host = record(status, 'resources');
  put(
    `host     cpu ${number(host, 'cpu_percent', 0)} %  memory ${number(host, 'memory_percent', 0)} %  disk ${number(host, 'disk_percent', 0)} %  ` +
      `temperature ${number(record(status, 'health'), 'temperature', 0)} C  load ${loads(host)}`,
  );
  const config = record(status, 'config');
  if (typeof at(config, 'problem') === 'string') put(`config   BROKEN: ${text(config, 'problem')}`, 'red');
  vehicle(status, put);
  const links = endpoints(snapshot.diagnostics);
  put('');
  put(
    `${'process'.padEnd(16)} ${'state'.padEnd(9)} ${'pid'.padStart(7)} ${'restarts'.padStart(8)} ${'MiB'.padStart(7)} ${'up'.padStart(9)}`,
    'dim',
  );
  const processes = list(status, 'services').toSorted((a, b) =>
    options.byMemory ? Number(at(b, 'memory_mb') ?? 0) - Number(at(a, 'memory_mb') ?? 0) : 0,
  );
  for (const process of processes) {
    const state = text(process, 'state');
    put(
      `${text(process, 'name').padEnd(16)} ${state.padEnd(9)} ${text(process, 'pid').padStart(7)} ${text(process, 'restarts').padStart(8)} ` +
        `${number(process, 'memory_mb', 1).padStart(7)} ${span(at(process, 'uptime_seconds')).padStart(9)}`,
      state === 'running' ? undefined : 'red',
    );
  }
  if (links.length > 0) {
    put('');
    for (const link of links) put(link);
  }
  if (snapshot.warnings.length > 0) {
    put('');
    for (const entry of snapshot.warnings) {
      const level = text(entry, 'level');
      put(
        `${text(entry, 'timestamp').slice(11, 19)} ${level.padEnd(5)} ${text(entry, 'logger')} ${text(entry, 'message')}`,
        level === 'error' ? 'red' : 'yellow',
      );
    }
  }
  return lines.slice(0, rows);
}

function vehicle(status: JsonObject, put: (text: string, style?: 'bold' | 'red') => void): void {
  const telemetry = record(status, 'telemetry');
  const { armed, phase } = seenIn({ ...telemetry, armed: at(status, 'armed') });
  const simulated = at(status, 'fc_simulated') === true ? '  SIMULATED' : '';
  put(
    `vehicle  ${text(status, 'fc_link_hint')} ${text(status, 'fc_firmware')}  mode ${text(telemetry, 'mode')}  ` +
      `${PHASE_TEXT[phase]}${simulated}`,
    armed === true ? 'red' : 'bold',
  );
  const battery = record(telemetry, 'battery');
  const gps = record(telemetry, 'gps');
  const position = record(telemetry, 'position');
  const ekf = at(record(telemetry, 'ekf'), 'ok');
  put(
    `         battery ${number(battery, 'voltage', 1)} V ${number(battery, 'remaining', 0)} %  gps fix ${text(gps, 'fix_type')} ` +
      `sats ${text(gps, 'satellites')}  ekf ${ekf === true ? 'ok' : ekf === false ? 'NOT OK' : NONE}`,
  );
  put(
    `         ${number(position, 'lat', 6)} ${number(position, 'lon', 6)}  height ${number(position, 'alt_rel', 1)} m  ` +
      `speed ${number(record(telemetry, 'velocity'), 'groundspeed', 1)} m/s`,
  );
}

function endpoints(diagnostics: JsonObject | null): readonly string[] {
  const mavlink = record(diagnostics, 'mavlink');
  if (Object.keys(mavlink).length === 0) return [];
  const counters = record(mavlink, 'counters');
  const source =
    `mavlink  ${text(mavlink, 'source')}  rx ${text(counters, 'rx_frames')} tx ${text(counters, 'tx_frames')} ` +
    `lost ${text(counters, 'rx_lost')} bad ${text(counters, 'rx_bad_crc')}`;
  const others = list(mavlink, 'endpoints').map((endpoint) => {
    const peers = list(endpoint, 'peers').length;
    const problem = at(endpoint, 'problem');
    return `         ${text(endpoint, 'name')}  peers ${peers}${typeof problem === 'string' ? `  ${problem}` : ''}`;
  });
  return [source, ...others];
}

function at(value: JsonObject | null, name: string): unknown {
  return value !== null && Object.hasOwn(value, name) ? value[name] : undefined;
}

function record(value: JsonObject | null, name: string): JsonObject {
  return recordOf(at(value, name));
}

function list(value: JsonObject, name: string): readonly JsonObject[] {
  return listOf(at(value, name)).filter(isObject);
}

function show(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : NONE;
}

function text(value: JsonObject, name: string): string {
  return show(at(value, name));
}

function number(value: JsonObject, name: string, digits: number): string {
  const member = at(value, name);
  return typeof member === 'number' ? member.toFixed(digits) : NONE;
}

function loads(host: JsonObject): string {
  const load = at(host, 'load_avg');
  return Array.isArray(load) && typeof load[0] === 'number' ? load[0].toFixed(2) : NONE;
}

function span(seconds: unknown): string {
  if (typeof seconds !== 'number') return NONE;
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  if (hours >= 24) return `${Math.floor(hours / 24)}d ${hours % 24}h`;
  return hours > 0
    ? `${hours}h ${minutes}m`
    : minutes > 0
      ? `${minutes}m ${Math.floor(seconds % 60)}s`
      : `${Math.floor(seconds)}s`;
}
