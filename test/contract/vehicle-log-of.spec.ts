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
    ['of an earlier flight alone', 0, [log(5)], null],
    ['of a boot with both flights in it', 0, [log(5), log(40)], 40],
    ['of another day', 1, [log(300)], null],
    ['of another day, though two flights were flown', 0, [log(300)], null],
    ['a vehicle that does not know the time', 1, [log(null, 1)], null],
  ];
  for (const [name, of, logs, id] of CASES)
    it(name, () => expect(vehicleLogOf(two[of] ?? two[0], two.slice(of + 1), logs)?.id ?? null).to.equal(id));

  it('none while the flight goes on', () =>
    expect(vehicleLogOf(flight(10, null), [], [log(20)])).to.equal(null));

  it('a boot with seven flights has one log, whose time is that of its last write', () => {
    const seven = Array.from({ length: 7 }, (_, n) => flight(20 * n, 20 * n + 15));
    for (const [n, each] of seven.entries())
      expect(vehicleLogOf(each, seven.slice(n + 1), [log(136)])?.id, String(n)).to.equal(136);
  });

  it('no log is of two flights if another one ended between them', () => {
    const minutes = fc.uniqueArray(fc.nat(600), { minLength: 4, maxLength: 20 });
    fc.assert(
      fc.property(minutes, fc.array(fc.nat(600), { maxLength: 10 }), (times, ends) => {
        const sorted = times.toSorted((a, b) => a - b);
        const flights = sorted.flatMap((from, i) => {
          const to = sorted[i + 1];
          return i % 2 === 0 && to !== undefined ? [flight(from, to)] : [];
        });
        const logs = ends.map((end, id) => log(end, id));
        const found = flights.map((each, i) => vehicleLogOf(each, flights.slice(i + 1), logs)?.id ?? null);
        for (const [i, id] of found.entries()) {
          if (id === null || found[i + 1] !== id) continue;
          const [from, to] = [flights[i]?.ended_us ?? 0, flights[i + 1]?.started_us ?? 0];
          const between = ends.filter((end) => at(end) >= from && at(end) < to);
          expect(between, JSON.stringify([flights, ends])).to.deep.equal([]);
        }
      }),
    );
  });
});
