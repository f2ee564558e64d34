import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { largeDataflash, largeUlog } from '../bench/large-logs.ts';
import { fieldOf, openBytes } from '../support/viewer-log.ts';
import { pythonWith } from './side-by-side.ts';

const DRIVER = join(import.meta.dirname, 'drivers/log_values.py');
const VTOL = join(
  dirname(createRequire(import.meta.url).resolve('node-mavlink/package.json')),
  'examples/vtol.tlog',
);

type Field = readonly [message: string, field: string];

describe('the log viewer, and what pymavlink and pyulog read of the same log', function () {
  this.timeout(120_000);
  let python: string;
  let folder: string;

  before(async function () {
    const found = await pythonWith(['pymavlink', 'pyulog']);
    if (found === undefined) return this.skip();
    python = found;
    folder = await mkdtemp(join(tmpdir(), 'svc-viewer-'));
  });
  after(async () => {
    if (folder !== undefined) await rm(folder, { recursive: true });
  });

  const compare = async (kind: string, file: string, fields: readonly Field[]): Promise<void> => {
    const { stdout } = await promisify(execFile)(python, [DRIVER, kind, file, ...fields.flat()], {
      maxBuffer: 64e6,
    });
    const truth: Readonly<Record<string, readonly (readonly [number, number])[]>> = JSON.parse(stdout);
    const { log, summary } = openBytes(await readFile(file));
    const [from, to] = summary.span ?? [0, 0];
    for (const [message, field] of fields) {
      const key = `${message}.${field}`;
      const theirs = truth[key] ?? [];
      expect(theirs.length, key).to.be.above(5);
      const [, ...lines] = log.csv([fieldOf(summary, message, field)], from, to);
      const ours = lines.map((line) => line.trim().split(',').map(Number));
      expect(ours.length, key).to.equal(theirs.length);
      for (const [row, [at = 0, value = 0]] of theirs.entries()) {
        expect(ours[row]?.[0], key).to.be.closeTo(at, 2e-6);
        expect(ours[row]?.[1], key).to.be.closeTo(value, Math.abs(value) * 1e-12);
      }
    }
  };

  it('agree on a log of ArduPilot, each sensor by itself', async () => {
    const file = join(folder, 'flight.bin');
    await writeFile(file, largeDataflash(600_000));
    await compare('dataflash', file, [
      ['IMU[0]', 'AccZ'],
      ['IMU[2]', 'GyrX'],
      ['ATT', 'Roll'],
      ['ATT', 'Yaw'],
      ['POS', 'Lat'],
      ['XKF4', 'SV'],
      ['MODE', 'Mode'],
    ]);
  });

  it('agree on a log of PX4, lists too', async () => {
    const file = join(folder, 'flight.ulg');
    await writeFile(file, largeUlog(600_000));
    await compare('ulog', file, [
      ['vehicle_local_position', 'vx'],
      ['vehicle_global_position', 'lat'],
      ['battery_status', 'voltage_cell_v[2]'],
      ['vehicle_status', 'nav_state'],
    ]);
  });

  it('agree on a telemetry log of a real autopilot', async () => {
    await compare('tlog', VTOL, [
      ['ATTITUDE 1/1', 'roll'],
      ['GLOBAL_POSITION_INT 1/1', 'lat'],
      ['VFR_HUD 1/1', 'climb'],
      ['SYS_STATUS 1/1', 'voltage_battery'],
      ['RC_CHANNELS 1/1', 'chan3_raw'],
      ['SERVO_OUTPUT_RAW 1/1', 'servo8_raw'],
      ['SENSOR_OFFSETS 1/1', 'mag_declination'],
    ]);
  });
});
