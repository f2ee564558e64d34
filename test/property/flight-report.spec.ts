import { readFileSync } from 'node:fs';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { Reporter } from '../../residual/app/reports/reporter.ts';
import { ApiError } from '../../shared/errors.ts';
import { RULES } from '../../shared/reports/findings.ts';
import { Flight } from '../../shared/reports/flight.ts';
import type { ReportWork } from '../../shared/reports/report-work.ts';
import { type FlightReport, flightReport } from '../../shared/schemas/flight-report.ts';
import { validatorOf } from '../../shared/schemas/validator.ts';
import { DataflashWriter } from '../support/dataflash-writer.ts';
import { ownChild } from '../support/own-children.ts';
import { reportOfBytes } from '../support/report-of.ts';
import { UlogWriter } from '../support/ulog-writer.ts';

type Kind = ReportWork['kind'];

const VTOL = join(
  dirname(createRequire(import.meta.url).resolve('node-mavlink/package.json')),
  'examples/vtol.tlog',
);
const violations = validatorOf(flightReport);
const MB = 1024 * 1024;

/** A short flight of everything that the reader knows. */
function dataflash(change: (log: DataflashWriter) => void = () => undefined): DataflashWriter {
  const log = new DataflashWriter();
  log.write('MSG', 1, { Message: 'ArduCopter V4.6.2 (1a2b3c4d)' });
  log.write('PARM', 1, { Name: 'FS_EKF_THRESH', Value: 0.8 });
  log.write('PARM', 1, { Name: 'BATT_LOW_VOLT', Value: 10.5 });
  log.write('PARM', 1, { Name: 'BATT_CRT_VOLT', Value: 10 });
  for (const motor of [1, 2, 3, 4])
    log.write('PARM', 1, { Name: `SERVO${motor}_FUNCTION`, Value: 32 + motor });
  log.write('EV', 2, { Id: 10 });
  log.write('EV', 2, { Id: 28 });
  for (let s = 3; s < 30; s++) {
    log.write('GPS', s, { Status: 3, NSats: 14, HDop: 0.9, GWk: 2400, GMS: s * 1000 });
    log.write('POS', s, { Lat: 47 + s * 1e-5, Lng: 8, Alt: 400, RelHomeAlt: 10 });
    log.write('BAT', s, { Volt: 12, CurrTot: s });
    log.write('VIBE', s, { VibeX: 5 });
    log.write('MAG', s, { MagX: 300, MagY: 200 });
    log.write('XKF4', s, { SM: 0.1, SV: 0.1, SP: 0.1 });
    log.write('RCOU', s, outputs(1500, 1510, 1490, 1505));
  }
  change(log);
  log.write('EV', 31, { Id: 11 });
  return log;
}

const outputs = (...pwm: readonly number[]): Readonly<Record<string, number>> =>
  Object.fromEntries(pwm.map((value, index) => [`C${index + 1}`, value]));

function ulog(change: (log: UlogWriter) => void = () => undefined): UlogWriter {
  const log = new UlogWriter();
  log.data('vehicle_status', 1, { arming_state: 2, nav_state: 3, vehicle_type: 1 });
  for (let s = 2; s < 20; s++) {
    log.data('vehicle_global_position', s, { lat: 47 + s * 1e-5, lon: 8, alt: 400 });
    log.data('vehicle_gps_position', s, { hdop: 0.8, fix_type: 3, satellites_used: 15 });
    log.data('battery_status', s, { voltage_v: 16, discharged_mah: s, voltage_cell_v: 4 });
    log.data('vehicle_imu_status', s, { accel_vibration_metric: 2 });
    log.data('estimator_status', s, { vel_test_ratio: 0.2 });
  }
  change(log);
  log.data('vehicle_status', 21, { arming_state: 1, nav_state: 3 });
  return log;
}

interface Logs {
  readonly df: DataflashWriter;
  readonly px4: UlogWriter;
}

/** From 20 to 22 s, as often as a vehicle writes it. */
function often(write: (s: number) => void): void {
  for (let s = 20; s < 22; s += 0.1) write(s);
}

const tilted = (degrees: number): readonly number[] => [
  Math.cos((degrees * Math.PI) / 360),
  Math.sin((degrees * Math.PI) / 360),
  0,
  0,
];

/** By the name of a rule and its firmware: what breaks its limit. */
const BROKEN: Readonly<Record<string, (log: Logs) => void>> = {
  'parameter any': ({ df }) => {
    df.write('PARM', 20, { Name: 'FS_EKF_THRESH', Value: 0.8 });
    df.write('PARM', 30, { Name: 'FS_EKF_THRESH', Value: 1 });
  },
  'brown-out any': ({ df }) => {
    df.write('POWR', 29, { Vcc: 5 });
    df.write('POWR', 30, { Vcc: 4.5 });
  },
  'ESC any': ({ df }) => {
    for (const rpm of [5000, 200])
      often((s) => {
        for (const Instance of [0, 1, 2, 3])
          df.write('ESC', s, { Instance, RPM: Instance === 2 ? rpm : 5000 });
      });
  },
  'motor lost any': ({ df }) => often((s) => df.write('RCOU', s, outputs(1960, 1150, 1500, 1500))),
  'motor lost px4': ({ px4 }) =>
    often((s) =>
      px4.data('actuator_motors', s, { control: [0.4, 0.4, 0.97, 0.1, ...Array<number>(8).fill(NaN)] }),
    ),
  'thrust loss any': ({ df }) => df.write('MSG', 30, { Message: 'Potential Thrust Loss (3)' }),
  'ESC failure any': ({ px4 }) => px4.data('failure_detector_status', 20, { fd_arm_escs: 1 }),
  'motor failure any': ({ px4 }) => px4.data('failure_detector_status', 20, { fd_motor: 1 }),
  'vibration ardupilot': ({ df }) => often((s) => df.write('VIBE', s, { VibeZ: 31 })),
  'vibration px4': ({ px4 }) =>
    often((s) => px4.data('vehicle_imu_status', s, { accel_vibration_metric: 12 })),
  'clipping ardupilot': ({ df }) => df.write('VIBE', 30, { Clip: 4 }),
  'accelerometer px4': ({ px4 }) => px4.data('estimator_status', 20, { solution_status_flags: 1 << 11 }),
  'compass field any': ({ df }) => df.write('MAG', 30, { MagX: 500, MagY: 200 }),
  'GPS fix any': ({ df }) => df.write('GPS', 30, { Status: 1, NSats: 14, HDop: 0.9 }),
  'GPS jump any': ({ df }) => {
    df.write('GPS', 30, { Status: 3, NSats: 14, HDop: 0.9, Lat: 47, Lng: 8 });
    df.write('GPS', 30.2, { Status: 3, NSats: 14, HDop: 0.9, Lat: 47.001, Lng: 8, Spd: 4 });
  },
  'compass ardupilot': ({ df }) => often((s) => df.write('XKF4', s, { SM: 0.9 })),
  'compass px4': ({ px4 }) => px4.data('estimator_status', 20, { hdg_test_ratio: 1.2 }),
  'battery voltage ardupilot': ({ df }) => df.write('BAT', 30, { Volt: 10.2 }),
  'battery cells px4': ({ px4 }) => px4.data('battery_status', 20, { voltage_cell_v: [4, 3.5, 4, 4] }),
  'battery state any': ({ px4 }) => px4.data('battery_status', 20, { warning: 2, voltage_cell_v: 4 }),
  'GPS glitch any': ({ df }) => df.write('ERR', 30, { Subsys: 11, ECode: 2 }),
  'GPS precision ardupilot': ({ df }) => df.write('GPS', 30, { NSats: 14, HDop: 2.1, Status: 3 }),
  'satellites ardupilot': ({ df }) => df.write('GPS', 30, { NSats: 11, Status: 3 }),
  'satellites px4': ({ px4 }) => px4.data('vehicle_gps_position', 20, { satellites_used: 8, fix_type: 3 }),
  'EKF lane switch any': ({ df }) => {
    df.write('XKF4', 30, { PI: 1, C: 0, SM: 0.1 });
    df.write('ERR', 30, { Subsys: 24, ECode: 1 });
  },
  'EKF ardupilot': ({ df }) => df.write('XKF4', 30, { SV: 0.9, SP: 0.9 }),
  'EKF px4': ({ px4 }) => px4.data('estimator_status', 20, { pos_test_ratio: 1.1 }),
  'attitude any': ({ df }) => often((s) => df.write('ATT', s, { DesRoll: 5, Roll: -20 })),
  'tipped over any': ({ px4 }) => often((s) => px4.data('vehicle_attitude', s, { q: tilted(70) })),
  'attitude failure any': ({ px4 }) => px4.data('failure_detector_status', 20, { fd_roll: 1 }),
  'failsafe any': ({ df }) => df.write('ERR', 30, { Subsys: 5, ECode: 1 }),
  'impact any': ({ df }) => df.write('IMU', 30, { AccX: 60, AccZ: 90 }),
  'crash any': ({ df }) => df.write('ERR', 30, { Subsys: 12, ECode: 1 }),
  'trouble any': ({ df }) => df.write('ERR', 30, { Subsys: 30, ECode: 1 }),
  'motor balance ardupilot': ({ df }) => {
    for (let s = 0; s < 30; s++) df.write('RCOU', 30, outputs(1700, 1500, 1500, 1500));
  },
};
/** What a telemetry log alone shows, and the end of a log, have tests of their own. */
const APART: readonly string[] = ['telemetry any', 'ends in the air any'];

describe('a flight report', function () {
  this.timeout(120_000);
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-report-'));
  });
  after(async () => rm(folder, { recursive: true }));

  const report = (bytes: Buffer, kind: Kind = 'onboard'): FlightReport => reportOfBytes(folder, bytes, kind);

  it('of a flight within all limits has no findings', () => {
    expect(report(dataflash().bytes).findings).to.deep.equal([]);
    expect(report(ulog().bytes).findings).to.deep.equal([]);
  });

  for (const { name, firmware, source } of RULES) {
    const rule = `${name} ${firmware ?? 'any'}`;
    if (APART.includes(rule)) continue;
    it(`finds ${rule}, and names the limit`, () => {
      expect(source).to.match(/^(?:ours, after )?https:\/\//);
      const found = [
        ...report(dataflash((df) => BROKEN[rule]?.({ df, px4: new UlogWriter() })).bytes).findings,
        ...report(ulog((px4) => BROKEN[rule]?.({ df: new DataflashWriter(), px4 })).bytes).findings,
      ];
      expect(found).to.have.length(1);
      expect(found[0]?.text).to.match(/\. .+\.$/);
      expect(found[0]?.name).to.equal(name);
      if (name !== 'motor balance') expect(found[0]?.at_s).to.be.above(0);
    });
  }

  it('has times since its first record, though the parameters of PX4 stand before it', () => {
    const log = new UlogWriter(100);
    log.param('BAT1_V_EMPTY', 3.6);
    for (let s = 100; s < 120; s++)
      log.data('vehicle_status', s, { arming_state: s > 103 && s < 118 ? 2 : 1, nav_state: 3 });
    const { duration_s: duration, events } = report(log.bytes);
    expect(duration).to.equal(14);
    expect(events.map(({ at_s: at }) => at)).to.deep.equal([4, 18]);
  });

  it('says when a vehicle was not heard, of a telemetry log', () => {
    const flight = new Flight();
    flight.take(1000, { kind: 'log', log: 'tlog' });
    for (const s of [1000, 1001, 1002, 1012, 1013]) flight.take(s, { kind: 'armed', armed: true });
    const [first] = flight.report().findings;
    expect(first).to.include({ name: 'telemetry', severity: 'warning', from: 2, to: 12 });
  });

  it('of a motor that never turned, or one that stopped on the ground, says nothing', () => {
    const log = dataflash((df) => {
      for (let s = 20; s < 22; s += 0.1)
        for (const Instance of [0, 1, 2, 3, 4])
          df.write('ESC', s, { Instance, RPM: Instance === 4 ? 0 : 5000 });
      df.write('EV', 30, { Id: 18 });
      for (let s = 30; s < 31; s += 0.1)
        for (const Instance of [0, 1, 2, 3]) df.write('ESC', s, { Instance, RPM: Instance === 0 ? 0 : 5000 });
    });
    expect(report(log.bytes).findings).to.deep.equal([]);
  });

  it('says null for what a log does not say', () => {
    const log = new DataflashWriter();
    log.write('MSG', 1, { Message: 'nothing' });
    expect(report(log.bytes)).to.deep.equal({
      vehicle: null,
      start: null,
      duration_s: 0,
      distance_m: null,
      max: { height_m: null, speed_mps: null, speed_ms: null, distance_home_m: null },
      battery: { start: null, end: null, min: null, min_at_s: null, used_mah: null, min_cell_v: null },
      gps: { min_satellites: null, worst_hdop: null, glitches: null },
      vibration: { max: null, clips: null },
      modes: [],
      events: [],
      track: [],
      findings: [],
    });
  });

  it('lists a part of a million modes, and says so', () => {
    const log = dataflash((df) => {
      for (let n = 0; n < 2000; n++) {
        df.write('MODE', 30, { ModeNum: n % 7 });
        df.write('ERR', 30, { Subsys: 12, ECode: 1 });
      }
    });
    const { modes, events, findings } = report(log.bytes);
    expect([modes.length, events.length]).to.deep.equal([500, 500]);
    expect(findings.at(-1)?.text).to.include('more modes or events');
  });

  it('shows no control characters of a log', () => {
    const log = ulog((px4) => px4.text(20, '3', '\u001b[31mbad\u001b[0m\u001b[2J\nnews'));
    expect(report(log.bytes).events.map(({ text }) => text)).to.include('bad [2J news');
  });

  const samples: readonly (readonly [string, Kind, () => Buffer])[] = [
    ['a telemetry log', 'tlog', () => readFileSync(VTOL).subarray(0, 60_000)],
    ['a log of ArduPilot', 'onboard', () => dataflash().bytes],
    ['a log of PX4', 'onboard', () => ulog().bytes],
  ];
  for (const [what, kind, sample] of samples) {
    it(`of ${what} that was cut, changed, or filled with noise is a report or a refusal`, () => {
      const whole = sample();
      const change = fc.record({ at: fc.nat(whole.length - 1), bytes: fc.uint8Array({ maxLength: 40 }) });
      fc.assert(
        fc.property(fc.array(change, { maxLength: 30 }), fc.nat(whole.length), (changes, length) => {
          const bytes = Buffer.from(whole);
          for (const { at, bytes: noise } of changes) bytes.set(noise.subarray(0, bytes.length - at), at);
          expectAnswer(() => report(bytes.subarray(0, length), kind));
        }),
        { numRuns: 150 },
      );
    });
  }

  it('of any bytes is a report or a refusal', () => {
    const heads = [Buffer.alloc(0), Buffer.from([0xa3, 0x95, 128]), ulog().bytes.subarray(0, 16)];
    fc.assert(
      fc.property(fc.constantFrom(...heads), fc.uint8Array({ maxLength: 3000 }), (head, bytes) => {
        for (const kind of ['tlog', 'onboard'] as const)
          expectAnswer(() => report(Buffer.concat([head, bytes]), kind));
      }),
      { numRuns: 300 },
    );
  });

  it('of formats that contain each other, or are huge, is a refusal or a report', () => {
    const log = new UlogWriter();
    log.message('F', Buffer.from('vehicle_status:uint64_t timestamp;a b;'));
    log.message('F', Buffer.from('a:a[65535] x;a y;'));
    log.message('F', Buffer.from('home_position:uint64_t timestamp;double[99999] lat;'));
    for (let n = 0; n < 3000; n++) log.message('F', Buffer.from(`f${n}:${'uint8_t a;'.repeat(500)}`));
    for (let id = 0; id < 3000; id++)
      log.message('A', Buffer.concat([Buffer.of(0, id & 0xff, id >> 8), Buffer.from('vehicle_status')]));
    log.data('vehicle_status', 1, { arming_state: 2, nav_state: 3 });
    expectAnswer(() => report(log.bytes));
  });

  describe('is made in a process', () => {
    let logs = 0;
    const opened = async (bytes: Buffer) => {
      const path = join(folder, `${logs++}.log`); // another one may still be read
      await writeFile(path, bytes);
      return open(path);
    };
    const refusal = async (work: Promise<unknown>): Promise<string> =>
      work.then(
        () => 'none',
        (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
      );

    it('one at a time; the log is closed at the end', async () => {
      const reporter = new Reporter();
      const log = await opened(dataflash().bytes);
      const first = reporter.report(log, 'onboard');
      expect(await refusal(reporter.report(await opened(dataflash().bytes), 'onboard'))).to.equal('E_BUSY');
      expect((await first).vehicle).to.equal('ArduCopter V4.6.2 (1a2b3c4d)');
      expect(log.fd).to.equal(-1);
      expect((await reporter.report(await opened(ulog().bytes), 'onboard')).vehicle).to.equal('PX4 v1.15.2');
    });

    it('of what is no log is a refusal', async () => {
      const reporter = new Reporter();
      for (const bytes of [Buffer.alloc(0), Buffer.alloc(5000, 7)])
        for (const kind of ['tlog', 'onboard'] as const)
          expect(await refusal(reporter.report(await opened(bytes), kind))).to.equal('E_LOG');
    });

    it('ends when nobody waits, and when it takes too long', async () => {
      const slow = Buffer.alloc(64 * MB, 0xa3);
      const away = new AbortController();
      const reporter = new Reporter(1);
      expect(await refusal(reporter.report(await opened(slow), 'onboard'))).to.equal('E_TIMEOUT');
      const patient = new Reporter();
      const work = patient.report(await opened(slow), 'onboard', { gone: away.signal });
      away.abort();
      expect(await refusal(work)).to.equal('E_DRAINING');
      expect((await patient.report(await opened(ulog().bytes), 'onboard')).vehicle).to.equal('PX4 v1.15.2');
    });

    it('with the memory of a short log, however long it is', async () => {
      const flight = dataflash().bytes;
      const path = join(folder, 'long.bin');
      const file = await open(path, 'w');
      await file.write(flight);
      const records = flight.subarray(flight.length - 20_000);
      for (let mb = 0; mb < 100; mb++)
        await file.write(
          Buffer.concat(Array.from({ length: Math.ceil(MB / records.length) }, () => records)),
        );
      await file.close();
      const made = new Reporter().report(await open(path), 'onboard');
      const isMade = async (): Promise<boolean> => Promise.race([made.then(() => true), delay(20, false)]);
      const mib: number[] = [];
      while (!(await isMade())) {
        const status = await readFile(`/proc/${await ownChild('report-process')}/status`, 'utf8').catch(
          () => '',
        ); // not yet, or no more
        mib.push(Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024);
      }
      expect((await made).duration_s).to.be.within(29, 31);
      expect(Math.max(...mib)).to.be.within(10, 100);
    });
  });
});

function expectAnswer(make: () => FlightReport): void {
  try {
    expect(violations(make())).to.equal(null);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect(error.code).to.equal('E_LOG');
  }
}
