import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { ApiError } from '../../shared/errors.ts';
import { LogBytes } from '../../shared/logs/log-bytes.ts';
import type { FileKind } from '../../shared/reports/report.ts';
import { type SeriesWish, seriesOfLog } from '../../shared/reports/series.ts';
import { Thinned } from '../../shared/reports/thinned.ts';
import { type LogSeries, logSeries } from '../../shared/schemas/log-series.ts';
import { validatorOf } from '../../shared/schemas/validator.ts';
import { DataflashWriter } from '../support/dataflash-writer.ts';
import { UlogWriter } from '../support/ulog-writer.ts';

const VTOL = readFileSync(
  join(dirname(createRequire(import.meta.url).resolve('node-mavlink/package.json')), 'examples/vtol.tlog'),
);
const violations = validatorOf(logSeries);

function series(bytes: Buffer, wish: Partial<SeriesWish>, kind: FileKind = 'onboard'): LogSeries {
  const log = new LogBytes((into, at) => bytes.copy(into, 0, at), bytes.length);
  const made = seriesOfLog(log, kind, { fields: [], from: null, to: null, points: 200, ...wish });
  expect(violations(made)).to.equal(null);
  return made;
}

function refusal(make: () => unknown): string {
  try {
    make();
  } catch (error) {
    if (error instanceof ApiError) return `${error.code} ${error.message}`;
    throw error;
  }
  return 'none';
}

describe('values of a log', () => {
  const df = new DataflashWriter();
  for (let n = 0; n < 6000; n++) {
    const s = 100 + n / 100;
    df.write('BAT', s, { Inst: 0, Volt: n === 3210 ? 9.5 : 12 });
    df.write('BAT', s, { Inst: 1, Volt: 24 });
  }

  it('keep a dip of one row, however few points there are', () => {
    const [field] = series(df.bytes, { fields: ['BAT.Volt'], points: 10 }).fields;
    expect(field?.points.length).to.be.within(4, 10);
    expect(field?.points).to.deep.include([32.1, 9.5]);
  });

  it('are of one battery, and of the time that is asked for', () => {
    const made = series(df.bytes, { fields: ['BAT[1].Volt', 'BAT.Volt'], from: 10, to: 20 });
    expect([made.from, made.to]).to.deep.equal([10, 20]);
    const [second, first] = made.fields;
    expect(new Set(second?.points.map(([, volts]) => volts))).to.deep.equal(new Set([24]));
    expect(new Set(first?.points.map(([, volts]) => volts))).to.deep.equal(new Set([12]));
    expect(first?.points.every(([s = 0]) => s >= 10 && s <= 20)).to.equal(true);
  });

  it('of PX4 have nested fields and lists', () => {
    const log = new UlogWriter(50);
    for (let s = 50; s < 60; s++)
      log.data('actuator_motors', s, { control: [0.1, s / 100, ...Array<number>(10).fill(0)] });
    const [field] = series(log.bytes, { fields: ['actuator_motors.control[1]'] }).fields;
    expect(field?.points.at(0)?.[1]).to.be.closeTo(0.5, 1e-6);
    expect(field?.points.at(-1)).to.satisfy(
      ([s, value]: number[]) => s === 9 && Math.abs((value ?? 0) - 0.59) < 1e-6,
    );
  });

  it('of a telemetry log are those that its report reads', () => {
    const [field] = series(VTOL, { fields: ['ATTITUDE.roll'] }, 'tlog').fields;
    expect(field?.points.length).to.be.above(10);
    for (const [, degrees] of field?.points ?? []) expect(degrees).to.be.within(-60, 60);
  });

  it('that are not there are refused with those that are', () => {
    expect(refusal(() => series(df.bytes, { fields: ['BAT.Vol'] }))).to.match(
      /^E_NOT_FOUND .*no BAT\.Vol\..*BAT\.Volt/,
    );
    expect(refusal(() => series(Buffer.alloc(0), { fields: ['BAT.Volt'] }))).to.match(/^E_LOG/);
    expect(refusal(() => series(VTOL, { fields: ['X.y'] }, 'tlog'))).to.match(
      /^E_NOT_FOUND .*ATTITUDE\.roll/,
    );
  });

  it('thinned never lose the lowest or the highest, nor have more points than asked for', () => {
    const value = fc.tuple(
      fc.double({ min: 0, max: 1e5, noNaN: true }),
      fc.double({ min: -1e6, max: 1e6, noNaN: true }),
    );
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1, maxLength: 400 }),
        fc.integer({ min: 2, max: 50 }),
        (all, most) => {
          const thinned = new Thinned(most);
          const sorted = all.toSorted(([a], [b]) => a - b);
          for (const [at, each] of sorted) thinned.take(at, each);
          const values = thinned.points().map(([, each]) => each);
          expect(values.length).to.be.within(1, most);
          expect(Math.max(...values)).to.equal(Math.max(...all.map(([, each]) => each)));
          expect(Math.min(...values)).to.equal(Math.min(...all.map(([, each]) => each)));
        },
      ),
    );
  });
});
