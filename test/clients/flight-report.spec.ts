import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { FlightReport } from '../../shared/schemas/flight-report.ts';
import { DataflashWriter } from '../support/dataflash-writer.ts';
import { reportOfFile } from '../support/report-of.ts';
import { UlogWriter } from '../support/ulog-writer.ts';
import { pythonWith } from './side-by-side.ts';

const DRIVER = join(import.meta.dirname, 'drivers/flight_facts.py');
/** A flight of ArduPilot's simulated VTOL plane, as a ground station recorded it. */
const VTOL = join(
  dirname(createRequire(import.meta.url).resolve('node-mavlink/package.json')),
  'examples/vtol.tlog',
);

interface Facts {
  readonly start: number | null;
  readonly duration: number;
  readonly distance: number | null;
  readonly height: number | null;
  readonly speed: number | null;
  readonly from_home: number | null;
  readonly volts: readonly [number, number] | null;
  readonly used: number | null;
  readonly cell: number | null;
  readonly satellites: number | null;
  readonly hdop: number | null;
  readonly vibration: number | null;
  readonly clips: number | null;
  readonly modes: readonly (readonly [string | number, number])[];
  readonly arming: readonly (readonly [string, number])[];
}

describe('a flight report, and what pymavlink and pyulog read of the same log', function () {
  this.timeout(120_000);
  let python: string;
  let folder: string;

  before(async function () {
    const found = await pythonWith(['pymavlink', 'pyulog']);
    if (found === undefined) return this.skip();
    python = found;
    folder = await mkdtemp(join(tmpdir(), 'svc-report-'));
  });
  after(async () => {
    if (folder !== undefined) await rm(folder, { recursive: true });
  });

  const truthOf = async (kind: string, file: string): Promise<Facts> =>
    JSON.parse((await promisify(execFile)(python, [DRIVER, kind, file])).stdout);

  const near = (what: string, ours: number | null, theirs: number | null, by: number): void => {
    if (theirs === null) expect(ours, what).to.equal(null);
    else expect(ours, what).to.be.closeTo(theirs, by);
  };

  const compare = (report: FlightReport, truth: Facts): void => {
    const start = report.start === null ? null : Date.parse(report.start) / 1000;
    near('start', start, truth.start, 0.002);
    near('duration', report.duration_s, truth.duration, 0.002);
    near('distance', report.distance_m, truth.distance, 0.1);
    near('height', report.max.height_m, truth.height, 0.02);
    near('speed', report.max.speed_mps, truth.speed, 0.01);
    near('from home', report.max.distance_home_m, truth.from_home, 0.1);
    near('first voltage', report.battery.start, truth.volts?.[0] ?? null, 0.001);
    near('last voltage', report.battery.end, truth.volts?.[1] ?? null, 0.001);
    near('used', report.battery.used_mah, truth.used, 0.1);
    near('cell', report.battery.min_cell_v, truth.cell, 0.001);
    near('HDOP', report.gps.worst_hdop, truth.hdop, 0.01);
    near('vibration', report.vibration.max, truth.vibration, 0.01);
    expect(report.gps.min_satellites).to.equal(truth.satellites);
    expect(report.vibration.clips).to.equal(truth.clips);
    const arming = report.events.filter(({ kind }) => kind === 'armed' || kind === 'disarmed');
    expect(arming.map(({ kind }) => kind)).to.deep.equal(truth.arming.map(([kind]) => kind));
    for (const [index, { at_s: at }] of arming.entries())
      near('arming', at, truth.arming[index]?.[1] ?? null, 0.002);
    expect(report.modes).to.have.length(truth.modes.length);
    for (const [index, { from_s: from }] of report.modes.entries())
      near('mode', from, truth.modes[index]?.[1] ?? null, 0.002);
  };

  it('agree on a telemetry log of a real autopilot', async () => {
    const report = reportOfFile(VTOL, 'tlog');
    const truth = await truthOf('tlog', VTOL);
    compare(report, truth);
    expect(report.modes.map(({ name }) => name)).to.deep.equal(truth.modes.map(([name]) => name));
    expect(report.vehicle).to.equal('ArduPilot plane 3.10.0');
    expect(report.max.height_m).to.be.above(60);
  });

  it('agree on a log of ArduPilot', async () => {
    const file = join(folder, 'flight.bin');
    await writeFile(file, arduPilotFlight());
    const report = reportOfFile(file, 'onboard');
    const truth = await truthOf('dataflash', file);
    compare(report, truth);
    expect(report.modes.map(({ name }) => name)).to.deep.equal(truth.modes.map(([name]) => name));
    expect(report.vehicle).to.equal('ArduCopter V4.6.2 (1a2b3c4d)');
    expect(report.gps.glitches).to.equal(1);
  });

  it('agree on a log of PX4', async () => {
    const file = join(folder, 'flight.ulg');
    await writeFile(file, px4Flight());
    const report = reportOfFile(file, 'onboard');
    compare(report, await truthOf('ulog', file));
    expect(report.modes.map(({ name }) => name)).to.deep.equal(['AUTO.TAKEOFF', 'AUTO.MISSION', 'AUTO.RTL']);
    expect(report.vehicle).to.equal('PX4 v1.15.2');

    // As pyulog writes it, with other sizes and another order.
    const copy = join(folder, 'copy.ulg');
    const rewrite = 'import sys\nfrom pyulog import ULog\nULog(sys.argv[1]).write_ulog(sys.argv[2])';
    await promisify(execFile)(python, ['-c', rewrite, file, copy]);
    compare(reportOfFile(copy, 'onboard'), await truthOf('ulog', copy));
  });
});

const GPS_WEEK = 2400;

/** Two minutes out and back. */
function arduPilotFlight(): Buffer {
  const log = new DataflashWriter();
  log.write('PARM', 10, { Name: 'BATT_LOW_VOLT', Value: 10.5 });
  log.write('MSG', 10, { Message: 'ArduCopter V4.6.2 (1a2b3c4d)' });
  log.write('MODE', 10, { Mode: 4, ModeNum: 4 });
  log.write('EV', 11, { Id: 10 });
  log.write('ORGN', 11, { Type: 1, Lat: 47.1, Lng: 8.2, Alt: 400 });
  log.write('EV', 12, { Id: 28 });
  for (let s = 12; s < 130; s += 0.25) {
    const out = Math.min(s - 12, 130 - s) * 3e-5;
    log.write('GPS', s, {
      Status: 3,
      GMS: Math.round(s * 1000) + 5000,
      GWk: GPS_WEEK,
      NSats: 14 + Math.round(Math.sin(s)),
      HDop: 0.9 + 0.1 * Math.cos(s),
      Spd: 3 + Math.sin(s / 7),
    });
    log.write('POS', s, { Lat: 47.1 + out, Lng: 8.2 + out / 2, Alt: 400 + out * 1e4, RelHomeAlt: out * 1e4 });
    log.write('BAT', s, { Volt: 12.4 - s / 100, CurrTot: s * 4 });
    log.write('BAT', s, { Inst: 1, Volt: 3, CurrTot: 9000 });
    log.write('BCL', s, { V1: 4130 - s * 3, V2: 4120 - s * 3, V3: 4110 - s * 4 });
    log.write('VIBE', s, { IMU: 0, VibeX: 5, VibeY: 6 + Math.sin(s), VibeZ: 9, Clip: Math.floor(s / 40) });
    log.write('VIBE', s, { IMU: 1, VibeX: 50, VibeY: 6, VibeZ: 9, Clip: 0 });
    log.write('XKF4', s, { SV: 0.1, SP: 0.2, SH: 0.1, SM: 0.1, SS: s > 60 && s < 70 ? 1 << 14 : 0 });
  }
  log.write('MODE', 130, { Mode: 9, ModeNum: 9 });
  log.write('EV', 134, { Id: 18 });
  log.write('EV', 135, { Id: 11 });
  log.write('MODE', 136, { Mode: 0, ModeNum: 0 });
  return log.bytes;
}

function px4Flight(): Buffer {
  const log = new UlogWriter();
  const status = (at: number, arming: number, nav: number): void =>
    log.data('vehicle_status', at, { arming_state: arming, nav_state: nav });
  status(20, 1, 17);
  for (let s = 21; s < 80; s += 0.5) {
    status(s, 2, s < 30 ? 17 : s < 60 ? 3 : 5);
    const out = Math.min(s - 21, 80 - s) * 4e-5;
    log.data('vehicle_land_detected', s, { landed: s < 22 ? 1 : 0 });
    log.data('vehicle_global_position', s, { lat: 47.1 + out, lon: 8.2 - out, alt: 400 + out * 1e4 });
    log.data('vehicle_local_position', s, { vx: 4 + Math.sin(s), vy: 2 });
    log.data('vehicle_gps_position', s, {
      time_utc_usec: 1.76e15 + s * 1e6,
      hdop: 0.8 + 0.1 * Math.sin(s),
      fix_type: 3,
      satellites_used: 13,
    });
    const cells = [4.1 - s / 200, 4.1 - s / 180, 4.1 - s / 190, 4.1 - s / 200];
    log.data('battery_status', s, { voltage_v: 16.4 - s / 50, discharged_mah: s * 5, voltage_cell_v: cells });
    log.data('vehicle_imu_status', s, {
      accel_vibration_metric: 2 + Math.sin(s),
      accel_clipping: [0, Math.floor(s / 30), 1],
    });
    log.data('estimator_status', s, { vel_test_ratio: 0.2, pos_test_ratio: 0.1 });
  }
  status(81, 1, 5);
  return log.bytes;
}
