import { expect } from 'chai';
import { healthProblems } from '../../front/control/node/health-problems.ts';
import { type HealthSample, RecentHealth } from '../../front/control/node/recent-health.ts';

const CALM: HealthSample = { cpu_percent: 20, memory_percent: 40, temperature: 50 };

/** @param seconds each of them a sample, the last ones last */
function judged(seconds: readonly Partial<HealthSample>[], disk: number | null = 30): readonly string[] {
  const recent = new RecentHealth();
  for (const each of seconds) recent.add({ ...CALM, ...each });
  return healthProblems(recent.minute, disk).map(({ part, severity }) => `${part} ${severity}`);
}
const minute = (sample: Partial<HealthSample>): Partial<HealthSample>[] =>
  Array.from({ length: 60 }, () => sample);

describe('what a machine is short of', () => {
  const CASES: readonly [string, readonly Partial<HealthSample>[], number | null, readonly string[]][] = [
    ['nothing', minute({}), 30, []],
    ['a peak of ten seconds is none', [...minute({}), ...minute({ cpu_percent: 100 }).slice(50)], 30, []],
    ['a minute of work', minute({ cpu_percent: 100 }), 30, ['cpu warn']],
    ['before a minute is over nothing is said', minute({ cpu_percent: 100 }).slice(1), 30, []],
    [
      'the worst comes first',
      minute({ cpu_percent: 95, memory_percent: 98 }),
      92,
      ['memory bad', 'disk warn', 'cpu warn'],
    ],
    ['heat', minute({ temperature: 84 }), 30, ['temperature warn']],
    [
      'what is not measured',
      minute({ cpu_percent: null, memory_percent: null, temperature: null }),
      null,
      [],
    ],
    ['a full disk needs no minute', [], 99, ['disk bad']],
  ];
  for (const [name, seconds, disk, wanted] of CASES)
    it(name, () => expect(judged(seconds, disk)).to.deep.equal(wanted));

  it('keeps ten minutes', () => {
    const recent = new RecentHealth();
    for (let second = 0; second < 2000; second++) recent.add({ ...CALM, cpu_percent: second });
    expect(recent.samples).to.have.length(120);
    expect(recent.samples.at(-1)?.cpu_percent).to.equal(1997);
  });
});
