import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { mavlinkMessages } from '../../residual/web/mavlink-fields.ts';
import { NoLog, OpenLog } from '../../residual/web/src/pages/vehicle/viewer/read/open-log.ts';
import { thinned } from '../../residual/web/src/pages/vehicle/viewer/read/points.ts';
import { DataflashWriter } from '../support/dataflash-writer.ts';
import { UlogWriter } from '../support/ulog-writer.ts';
import { fieldOf, openBytes } from '../support/viewer-log.ts';

const VTOL = join(
  dirname(createRequire(import.meta.url).resolve('node-mavlink/package.json')),
  'examples/vtol.tlog',
);
const MB = 1024 * 1024;

function dataflash(): Buffer {
  const log = new DataflashWriter();
  log.write('UNIT', 0, { Id: 'G'.charCodeAt(0), Label: 'Gauss' });
  log.units('MAG', 's#GGG');
  log.write('MSG', 1, { Message: 'ArduCopter V4.6.2 (1a2b3c4d)' });
  log.write('MODE', 1, { Mode: 4, ModeNum: 4 });
  log.write('EV', 2, { Id: 10 });
  for (let s = 3; s < 30; s++) {
    log.write('GPS', s, { Status: 3, NSats: 14, HDop: 0.9, GWk: 2400, GMS: s * 1000 });
    log.write('POS', s, { Lat: 47 + s * 1e-5, Lng: 8, Alt: 400, RelHomeAlt: 10 });
    log.write('MAG', s, { I: 0, MagX: s });
    log.write('MAG', s, { I: 1, MagX: -s });
  }
  log.write('ERR', 30, { Subsys: 5, ECode: 1 });
  log.write('MODE', 31, { Mode: 6, ModeNum: 6 });
  return log.bytes;
}

function ulog(): Buffer {
  const log = new UlogWriter();
  log.data('vehicle_status', 1, { arming_state: 1, nav_state: 3 });
  for (let s = 2; s < 20; s++) {
    log.data('vehicle_global_position', s, { lat: 47 + s * 1e-5, lon: 8, alt: 400 });
    log.data('battery_status', s, { voltage_v: 16, voltage_cell_v: [4, 3.9, 3.8, s] });
  }
  log.text(20, '3', '\u001b[31mCompass\u001b[0m is gone');
  log.data('vehicle_status', 21, { arming_state: 2, nav_state: 5, failsafe: 1 });
  return log.bytes;
}

const LOGS = { dataflash: dataflash(), ulog: ulog(), tlog: readFileSync(VTOL).subarray(0, 40_000) };

describe('the log viewer', function () {
  this.timeout(120_000);

  it('opens a log of ArduPilot: sensors apart, units, modes, events, its day', () => {
    const { log, summary } = openBytes(dataflash());
    expect(summary.kind).to.equal('dataflash');
    const names = summary.groups.map(({ name }) => name);
    expect(names).to.include.members(['MAG[0]', 'MAG[1]', 'POS', 'GPS']);
    expect(names).not.to.include('BAT');
    const x = fieldOf(summary, 'MAG[1]', 'MagX');
    expect(summary.groups[x.group]?.fields[x.field]?.unit).to.equal('Gauss');
    expect([...log.points(x, 0, 100, 1000).values]).to.deep.equal(
      Array.from({ length: 27 }, (_, at) => -3 - at),
    );
    expect(log.values([x], 10.5)).to.deep.equal([-10]);
    expect(log.values([x], 1)).to.deep.equal([null]);
    expect(summary.modes).to.deep.equal([
      { name: 'GUIDED', from: 1, to: 31 },
      { name: 'RTL', from: 31, to: 31 },
    ]);
    expect(summary.events.map(({ text }) => text)).to.deep.equal([
      'ArduCopter V4.6.2 (1a2b3c4d)',
      'Armed',
      'Error, failsafe, radio: occurred',
    ]);
    expect(summary.utcOfZero).to.be.above(Date.UTC(2025, 0));
    expect(log.track()?.lats[0]).to.be.closeTo(47.00003, 1e-6);
  });

  it('opens a log of PX4: lists, modes, texts', () => {
    const { log, summary } = openBytes(ulog());
    const cell = fieldOf(summary, 'battery_status', 'voltage_cell_v[3]');
    expect([...log.points(cell, 0, 100, 1000).values]).to.deep.equal(
      Array.from({ length: 18 }, (_, at) => 2 + at),
    );
    expect(summary.modes.map(({ name }) => name)).to.deep.equal(['AUTO.MISSION', 'AUTO.RTL']);
    expect(summary.events.map(({ text }) => text)).to.deep.equal(['Compass is gone', 'Armed', 'Failsafe']);
    expect(log.track()?.times).to.have.length(18);
  });

  it('opens a telemetry log: a group for each sender', () => {
    const { log, summary } = openBytes(readFileSync(VTOL));
    expect(summary.groups.map(({ name }) => name)).to.include.members(['ATTITUDE 1/1', 'VFR_HUD 1/1']);
    expect(summary.modes[0]?.name).to.equal('QLOITER');
    expect(summary.span?.[0]).to.be.above(1.5e9);
    expect(log.track()?.times.length).to.be.above(700);
  });

  it('has the rows of two messages by time in one table, and a name from the log cannot break it', () => {
    const { log, summary } = openBytes(dataflash());
    const lines = [
      ...log.csv([fieldOf(summary, 'MAG[0]', 'MagX'), fieldOf(summary, 'POS', 'Alt')], 3, 4),
    ].join('');
    expect(lines).to.equal(
      ['time_s,MAG[0].MagX,POS.Alt', '3.000000,3,', '3.000000,,400', '4.000000,4,', '4.000000,,400', ''].join(
        '\n',
      ),
    );
  });

  it('keeps lowest and highest of what falls on one another, and all of what does not', () => {
    const times = Float64Array.from({ length: 10_000 }, (_, at) => at);
    const values = times.map((at) => (at === 5005 ? 99 : at === 5006 ? -99 : Math.sin(at)));
    const few = thinned(times, values, 0, 9999, 100);
    expect(few.times.length).to.be.at.most(204);
    expect([...few.values]).to.include.members([99, -99]);
    expect([...few.times]).to.deep.equal([...few.times].toSorted((a, b) => a - b));
    expect([...thinned(times, values, 5004, 5007, 100).times]).to.deep.equal([5003, 5004, 5005, 5006, 5007]);
  });

  it('brings the rows of a clock that went back into order', () => {
    const log = new DataflashWriter();
    for (const s of [10, 11, 12, 1, 2, 3]) log.write('POS', s, { Alt: s });
    const { log: open, summary } = openBytes(log.bytes);
    const alt = fieldOf(summary, 'POS', 'Alt');
    expect([...open.points(alt, 0, 20, 100).values]).to.deep.equal([1, 2, 3, 10, 11, 12]);
    expect(open.values([alt], 2.5)).to.deep.equal([2]);
    expect([...open.csv([alt], 3, 10)].slice(1)).to.deep.equal(['3.000000,3\n', '10.000000,10\n']);
  });

  it('shows what there is of a log that was cut anywhere', () => {
    for (const bytes of Object.values(LOGS)) {
      const whole = openBytes(bytes).summary.rows;
      fc.assert(
        fc.property(fc.integer({ min: Math.ceil(bytes.length * 0.7), max: bytes.length }), (length) => {
          const { rows } = openBytes(bytes.subarray(0, length)).summary;
          expect(rows).to.be.within(1, whole);
        }),
        { numRuns: 60 },
      );
    }
  });

  /** All that the page can ask of a log. */
  const askAll = (bytes: Uint8Array): void => {
    let log: OpenLog;
    try {
      log = openBytes(bytes).log;
    } catch (error) {
      expect(error).to.be.instanceOf(NoLog);
      return;
    }
    const { groups, span, modes, events } = log.summary;
    expect(modes.length + events.length).to.be.at.most(6000);
    const [from, to] = span ?? [0, 0];
    const ids = groups
      .flatMap(({ fields }, group) => fields.map((_, field) => ({ group, field })))
      .slice(0, 60);
    for (const id of ids) expect(log.points(id, from, to, 100).times.length).to.be.at.most(206);
    expect(log.values(ids, to)).to.have.length(ids.length);
    log.track();
    let lines = 0;
    for (const line of log.csv(ids, from, to)) lines += line.length > 0 ? 1 : 0;
    expect(lines).to.be.above(0);
  };

  it('any bytes are a log or a clear refusal', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 4096 }), (bytes) => askAll(bytes)),
      { numRuns: 300 },
    );
    for (const head of Object.values(LOGS).map((bytes) => bytes.subarray(0, 2400)))
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 4096 }), (bytes) => askAll(Buffer.concat([head, bytes]))),
        { numRuns: 100 },
      );
  });

  it('bytes that were changed anywhere break nothing', () => {
    for (const bytes of Object.values(LOGS))
      fc.assert(
        fc.property(
          fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 60 }),
          (changes) => {
            const changed = Buffer.from(bytes);
            for (const [at, value] of changes) changed[at] = value;
            askAll(changed);
          },
        ),
        { numRuns: 100 },
      );
  });

  it('formats that lie show nothing that is not there', () => {
    const log = new UlogWriter();
    for (const format of [
      'loop:uint64_t timestamp;loop inner;',
      'wide:uint64_t timestamp;float[60000] x;',
      'deep:uint64_t timestamp;wide[99] x;',
      'constructor:uint64_t timestamp;__proto__ x;toString y;',
      'short:uint64_t timestamp;float[9] x;',
    ])
      log.message('F', Buffer.from(format));
    for (const [at, topic] of ['loop', 'wide', 'deep', 'constructor', 'short'].entries()) {
      log.message('A', Buffer.concat([Buffer.of(0, 100 + at, 0), Buffer.from(topic)]));
      log.message('D', Buffer.concat([Buffer.of(100 + at, 0, 64, 66, 15, 0, 0, 0, 0, 0), Buffer.alloc(8)]));
    }
    askAll(log.bytes);
    const { log: open, summary } = openBytes(log.bytes);
    expect(summary.groups.map(({ name, fields }) => [name, fields.length])).to.deep.equal([
      ['constructor', 0],
      ['deep', 0],
      ['loop', 0],
      ['short', 10],
      ['wide', 0],
    ]);
    const values = [1, 2].map((at) => open.values([fieldOf(summary, 'short', `x[${at}]`)], 1));
    expect(values).to.deep.equal([[0], [null]]);
  });

  it('keeps a bounded number of rows, messages and marks, and says so', () => {
    const log = new DataflashWriter();
    for (let at = 0; at < 3000; at++) log.write('MODE', at / 10, { Mode: at % 7 });
    const { summary } = openBytes(log.bytes, 1000);
    expect([summary.rows, summary.full]).to.deep.equal([1000, true]);
    expect(openBytes(log.bytes).summary.marksFull).to.equal(true);

    // A definition that changes before every row, with another number of the sensor each time.
    const parts: Buffer[] = [];
    for (let at = 0; at < 20_000; at++) {
      const format = Buffer.alloc(89);
      format.set([0xa3, 0x95, 128, 1, 12]);
      format.write(`T${at % 999}`, 5);
      format.write('QB', 9);
      format.write(`TimeUS,F${at}`, 25);
      const row = Buffer.alloc(12);
      row.set([0xa3, 0x95, 1]);
      parts.push(format, row);
    }
    const { summary: many } = openBytes(Buffer.concat(parts));
    expect(many.groups.length).to.be.at.most(4096);
    expect(many.full).to.equal(true);
  });

  it('holds 12 bytes of a row, and half as much again, whatever the log is', () => {
    const row = Buffer.alloc(11);
    row.set([0xa3, 0x95, 1]);
    const format = Buffer.alloc(89);
    format.set([0xa3, 0x95, 128, 1, 11]);
    format.write('T', 5);
    format.write('Q', 9);
    format.write('TimeUS', 25);
    const count = 3_000_000;
    const size = format.length + count * row.length;
    const read = (into: Uint8Array, at: number): number => {
      for (let index = 0; index < into.length; index++) {
        const place = at + index - format.length;
        into[index] = (place < 0 ? format[at + index] : row[place % row.length]) ?? 0;
      }
      return into.length;
    };
    const before = process.memoryUsage().arrayBuffers;
    const log = OpenLog.open({ size, read }, mavlinkMessages());
    expect(log.summary.rows).to.equal(count);
    expect(process.memoryUsage().arrayBuffers - before).to.be.below(count * 12 * 2.6 + 4 * MB);
  });
});
