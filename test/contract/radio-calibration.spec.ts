import { expect } from 'chai';
import fc from 'fast-check';
import type { Family } from '../../shared/flight/modes.ts';
import {
  planRadio,
  restsLow,
  type Spans,
  type StickChannels,
  sticksOf,
  widened,
} from '../../shared/flight/radio-calibration.ts';

const STICKS: StickChannels = { roll: 1, pitch: 2, throttle: 3, yaw: 4 };

/** Eight channels as an autopilot has them before its first calibration. */
function held(family: Family, more: Readonly<Record<string, number>> = {}) {
  const values: Record<string, number> = { ...more };
  for (const [at, name] of ['ROLL', 'PITCH', 'THROTTLE', 'YAW'].entries())
    values[`${family === 'px4' ? 'RC_MAP' : 'RCMAP'}_${name}`] ??= at + 1;
  for (let channel = 1; channel <= 8; channel++) {
    values[`RC${channel}_MIN`] ??= 1000;
    values[`RC${channel}_MAX`] ??= 2000;
    values[`RC${channel}_TRIM`] ??= 1500;
  }
  return (name: string): number | null => values[name] ?? null;
}

const span = (low: number, high = low) => ({ low, high });

/** A radio that was moved well: four sticks, a switch of six positions, and a channel that nobody touched. */
const WELL = {
  ends: [
    span(1010, 1990),
    span(1012, 1988),
    span(1008, 1985),
    span(1011, 1987),
    span(1165, 1815),
    span(1000),
  ],
  rest: [span(1501, 1503), span(1497), span(1010, 1012), span(1500), span(1815), span(1000)],
};

function plan(
  family: Family,
  change: { ends?: Spans; rest?: Spans; more?: Record<string, number>; sticks?: StickChannels } = {},
) {
  const seen = { ends: change.ends ?? WELL.ends, rest: change.rest ?? WELL.rest };
  return planRadio(family, change.sticks ?? STICKS, seen, held(family, change.more));
}

function put<T>(list: readonly T[], channel: number, value: T): T[] {
  return list.map((each, at) => (at + 1 === channel ? value : each));
}

const problemsOf = (found: ReturnType<typeof plan>) =>
  found.problems.map(({ problem, stick, channel }) => `${problem} ${stick} ${channel}`);

describe('a calibration of the radio', () => {
  it('sets the ends of what was moved, where the sticks rest, and the middle of a switch', () => {
    const { channels, problems, writes } = plan('copter');
    expect(problems).to.deep.equal([]);
    expect(Object.fromEntries(writes)).to.deep.equal({
      RC1_MIN: 1010,
      RC1_MAX: 1990,
      RC1_TRIM: 1502,
      RC2_MIN: 1012,
      RC2_MAX: 1988,
      RC2_TRIM: 1497,
      RC3_MIN: 1008,
      RC3_MAX: 1985,
      RC3_TRIM: 1008,
      RC4_MIN: 1011,
      RC4_MAX: 1987,
      // RC4_TRIM is as it was
      RC5_MIN: 1165,
      RC5_MAX: 1815,
      RC5_TRIM: 1490,
    });
    expect(channels.at(-1)).to.deep.include({ channel: 6, stick: null, next: null, fault: 'still' });
    expect(channels.map(({ stick }) => stick)).to.deep.equal([
      'roll',
      'pitch',
      'throttle',
      'yaw',
      null,
      null,
    ]);
  });

  it('a throttle is to rest low; high where it is reversed; in the middle where thrust goes both ways', () => {
    expect(problemsOf(plan('copter', { rest: put(WELL.rest, 3, span(1500)) }))).to.deep.equal([
      'throttle-up throttle 3',
    ]);
    const high = { rest: put(WELL.rest, 3, span(1984)) };
    expect(problemsOf(plan('px4', high))).to.deep.equal(['throttle-up throttle 3']);
    expect(plan('px4', { ...high, more: { RC3_REV: -1 } }).writes.get('RC3_TRIM')).to.equal(1985);
    expect(plan('plane', { ...high, more: { RC3_REVERSED: 1 } }).writes.get('RC3_TRIM')).to.equal(1985);
    const middle = { rest: put(WELL.rest, 3, span(1496)) };
    for (const [family, more] of [
      ['rover', {}],
      ['sub', {}],
      ['plane', { THR_MIN: -50 }],
    ] as const) {
      expect(restsLow(family, held(family, more))).to.equal(false);
      expect(plan(family, { ...middle, more }).writes.get('RC3_TRIM'), family).to.equal(1496);
      expect(problemsOf(plan(family, { more })), family).to.deep.equal(['off-centre throttle 3']);
    }
  });

  it('a rover has two sticks, and a switch may be where others have pitch and yaw', () => {
    const rest = put(put(WELL.rest, 3, span(1496)), 4, span(1987));
    const { channels, problems, writes } = plan('rover', { rest, sticks: { ...STICKS, yaw: 0 } });
    expect(problems).to.deep.equal([]);
    expect(channels.map(({ stick }) => stick).slice(0, 4)).to.deep.equal(['roll', null, 'throttle', null]);
    expect(writes.get('RC4_TRIM')).to.equal(1499);
    expect(writes.has('RCMAP_YAW')).to.equal(false);
  });

  it('writes nothing while a stick is not centred, was moved to one side only, or does not keep still', () => {
    const far = plan('copter', { rest: put(WELL.rest, 1, span(1950)) });
    expect(problemsOf(far)).to.deep.equal(['off-centre roll 1']);
    expect(far.writes.size).to.equal(0);
    expect(problemsOf(plan('copter', { ends: put(WELL.ends, 2, span(1490, 1990)) }))).to.deep.equal([
      'off-centre pitch 2',
    ]);
    expect(problemsOf(plan('copter', { rest: put(WELL.rest, 4, span(1480, 1520)) }))).to.deep.equal([
      'unsteady yaw 4',
    ]);
    expect(problemsOf(plan('copter', { ends: put(WELL.ends, 1, span(700, 1990)) }))).to.deep.equal([
      'beyond roll 1',
    ]);
    expect(problemsOf(plan('copter', { ends: put(WELL.ends, 1, span(1510, 1990)) }))).to.deep.equal([
      'beyond roll 1',
    ]);
  });

  it('leaves alone a channel that is no stick and is not right, and a stick that was not moved', () => {
    const jumpy = plan('copter', { rest: put(WELL.rest, 5, span(1165, 1815)) });
    expect(jumpy.problems).to.deep.equal([]);
    expect(jumpy.channels[4]).to.deep.include({ next: null, fault: 'unsteady' });
    expect(jumpy.writes.has('RC5_MIN')).to.equal(false);
    const still = plan('copter', { ends: put(WELL.ends, 4, span(1500)) });
    expect(still.problems).to.deep.equal([]);
    expect(still.channels[3]).to.deep.include({ stick: 'yaw', next: null, fault: 'still' });
  });

  it('says so when nothing was moved, and does not write what the vehicle does not have', () => {
    expect(problemsOf(plan('copter', { ends: WELL.rest }))).to.deep.equal(['nothing null 0']);
    const many = { ends: [...WELL.ends, span(1000, 2000), span(1000, 2000), span(1000, 2000)] };
    const found = plan('copter', { ...many, rest: [...WELL.rest, span(1000), null, span(1000)] });
    expect(found.channels.map(({ channel }) => channel)).to.deep.equal([1, 2, 3, 4, 5, 6, 7]);
  });

  it('takes the sticks where the vehicle has them, or where they are put; each on a channel of its own', () => {
    expect(sticksOf('px4', held('px4', { RC_MAP_YAW: 5 }))).to.deep.equal({ ...STICKS, yaw: 5 });
    expect(sticksOf('copter', () => null)).to.deep.equal({ roll: 0, pitch: 0, throttle: 0, yaw: 0 });
    const unmapped = plan('px4', { sticks: { ...STICKS, roll: 0, yaw: 2 } });
    expect(problemsOf(unmapped)).to.deep.equal(['unmapped roll 0', 'shared yaw 2']);
    const swapped = { ...STICKS, roll: 4, yaw: 1 };
    expect(Object.fromEntries(plan('copter', { sticks: swapped }).writes)).to.include({
      RCMAP_ROLL: 4,
      RCMAP_YAW: 1,
    });
    expect(plan('px4', { sticks: swapped }).writes.get('RC_MAP_ROLL')).to.equal(4);
  });

  it('remembers the ends of each channel, and not where nothing came', () => {
    const seen = [
      [1500, 0],
      [1400, 0],
      [1600, 1200, 1000],
    ].reduce<Spans>(widened, []);
    expect(seen).to.deep.equal([span(1400, 1600), span(1200), span(1000)]);
  });

  it('whatever was seen: what it writes is in order, within what an autopilot takes, and what was seen', () => {
    const us = fc.integer({ min: 600, max: 2400 });
    const wide = fc.tuple(us, us).map(([a, b]) => span(Math.min(a, b), Math.max(a, b)));
    const narrow = fc.tuple(us, fc.integer({ min: 0, max: 30 })).map(([low, more]) => span(low, low + more));
    const spans = (each: typeof wide) => fc.array(fc.option(each), { minLength: 5, maxLength: 9 });
    const family = fc.constantFrom<Family>('copter', 'plane', 'rover', 'sub', 'px4');
    fc.assert(
      fc.property(family, spans(wide), spans(narrow), (of, ends, rest) => {
        const found = plan(of, { ends, rest });
        for (const { next } of found.channels) {
          if (next === null) continue;
          expect(next.min).to.be.within(800, 1500);
          expect(next.max).to.be.within(1500, 2200);
          expect(next.trim).to.be.within(next.min, next.max);
          expect(next.max - next.min).to.be.at.least(300);
        }
        if (found.problems.length > 0) expect(found.writes.size).to.equal(0);
      }),
    );
  });
});
