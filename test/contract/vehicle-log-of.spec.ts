import { expect } from 'chai';
import fc from 'fast-check';
import { vehicleLogOf } from '../../shared/flight/vehicle-log-of.ts';

const at = (minute: number): number => Date.UTC(2026, 10, 27, 12, minute) * 1000;
const flight = (from: number, to: number | null): { started_us: number; ended_us: number | null } => ({
  started_us: at(from),
  ended_us: to === null ? null : at(to),
});
const log = (minute: number | null, id = minute): { id: number | null; time: string | null } => ({
  id,
  time: minute === null ? null : new Date(at(minute) / 1000).toISOString(),
});

describe('the log that the vehicle has written of a flight', () => {
  const two = [flight(10, 20), flight(30, 40)] as const;
  const CASES: readonly [
    name: string,
    of: number,
    logs: readonly ReturnType<typeof log>[],
    id: number | null,
  ][] = [
    ['each its own', 0, [log(20), log(40)], 20],
    ['each its own, the later one', 1, [log(20), log(40)], 40],
    ['written to the end of the power', 1, [log(90)], 90],
    ['a clock that is a little behind', 0, [log(19)], 19],
    ['of another flight alone', 0, [log(5), log(40)], null],
    ['of another day', 1, [log(300)], null],
    ['a vehicle that does not know the time', 1, [log(null, 1)], null],
  ];
  for (const [name, of, logs, id] of CASES)
    it(name, () =>
      expect(vehicleLogOf(two[of] ?? two[0], two[of + 1] ?? null, logs)?.id ?? null).to.equal(id),
    );

  it('none while the flight goes on', () =>
    expect(vehicleLogOf(flight(10, null), null, [log(20)])).to.equal(null));

  it('no log is of two flights', () => {
    const minutes = fc.uniqueArray(fc.nat(600), { minLength: 4, maxLength: 20 });
    fc.assert(
      fc.property(minutes, fc.array(fc.nat(600), { maxLength: 10 }), (times, ends) => {
        const sorted = times.toSorted((a, b) => a - b);
        const flights = sorted.flatMap((from, i) => {
          const to = sorted[i + 1];
          return i % 2 === 0 && to !== undefined ? [flight(from, to)] : [];
        });
        const logs = ends.map((end, id) => log(end, id));
        const found = flights.flatMap((each, i) => vehicleLogOf(each, flights[i + 1] ?? null, logs) ?? []);
        expect(new Set(found).size).to.equal(found.length);
      }),
    );
  });
});
