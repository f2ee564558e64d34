import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type ArdupilotFacts, FACTS_FILE, factsOf } from '../../front/control/param-metadata/facts-file.ts';
import { modeSwitchOf, switchModes, switchPosition, switchProblem } from '../../shared/flight/mode-switch.ts';
import { ROOT } from '../support/node.ts';

const FILE = join(ROOT, 'front/control/param-metadata', FACTS_FILE);
const facts = JSON.parse(readFileSync(FILE, 'utf8')) as ArdupilotFacts;
const nothing = (): null => null;

describe('the switch for the flight mode', () => {
  it('has parameters that ArduPilot has, and modes that it takes there', () => {
    for (const vehicle of ['copter', 'plane', 'rover'] as const) {
      const known = new Map(factsOf(facts, vehicle).map((each) => [each.name, each.description]));
      const { channel, modes } = modeSwitchOf(vehicle) ?? expect.fail();
      for (const name of [channel, ...modes]) expect(known.has(name), name).to.equal(true);
      const described = known.get(modes[0] ?? '')?.values ?? [];
      const ours = switchModes(vehicle).map(({ value }) => value);
      for (const { value, text } of described) expect(ours, `${vehicle} ${text}`).to.include(value);
    }
    expect(modeSwitchOf('sub')).to.equal(null);
  });

  it('ArduPilot has six positions with fixed ends, and none beyond what a radio sends', () => {
    const at = (us: number) => switchPosition('copter', 5, us, nothing);
    for (const [position, low, high] of [
      [1, 801, 1230],
      [2, 1231, 1360],
      [3, 1361, 1490],
      [4, 1491, 1620],
      [5, 1621, 1749],
      [6, 1750, 2199],
    ] as const)
      expect([at(low), at(high)], `position ${position}`).to.deep.equal([position, position]);
    expect([at(0), at(800), at(2200)]).to.deep.equal([null, null, null]);
    expect(switchPosition('copter', 0, 1500, nothing), 'no channel').to.equal(null);
  });

  it('PX4 takes them from the calibrated way of the channel: the cases of its RCUpdateTest.cpp', () => {
    const params: Record<string, number> = { RC5_MIN: 1100, RC5_TRIM: 1500, RC5_MAX: 1900, RC5_REV: 1 };
    const at = (share: number, rev = 1) =>
      switchPosition('px4', 5, 1500 + 400 * share, (name) => ({ ...params, RC5_REV: rev })[name] ?? null);
    expect([-1, -0.5, -0.1, 0, 0.5, 1].map((share) => at(share))).to.deep.equal([1, 2, 3, 4, 5, 6]);
    expect([at(-1, -1), at(1, -1)], 'reversed').to.deep.equal([6, 1]);
    expect([at(-1.5), at(1.5)], 'beyond the ends').to.deep.equal([1, 6]);
    expect(switchPosition('px4', 6, 1500, nothing), 'not calibrated').to.equal(null);
  });

  it('is not on a stick’s channel, nor on one with another use', () => {
    const used = (name: string) => (name === 'RC7_OPTION' ? 153 : null);
    expect([3, 7, 5, 0].map((channel) => switchProblem(channel, [1, 2, 3, 4], used))).to.deep.equal([
      'stick',
      'option',
      null,
      null,
    ]);
  });
});
