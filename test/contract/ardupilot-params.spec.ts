import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ParamDescription } from '../../front/control/param-metadata/description.ts';
import {
  type ArdupilotFacts,
  FACTS_FILE,
  factsOf,
  VEHICLES,
} from '../../front/control/param-metadata/facts-file.ts';
import { ROOT } from '../support/node.ts';

const FILE = join(ROOT, 'front/control/param-metadata', FACTS_FILE);
const facts = JSON.parse(readFileSync(FILE, 'utf8')) as ArdupilotFacts;

describe("facts about ArduPilot's parameters", () => {
  it('are small, name their source, and hold no sentence', () => {
    expect(statSync(FILE).size).to.be.below(300_000);
    expect(facts.source).to.match(/^ArduPilot \d+\.\d+\.\d+\S*, commit [0-9a-f]{7,}$/);
    for (const { values = [], bits = [] } of facts.facts)
      for (const [number, label] of [...values, ...bits]) {
        expect(number, label).to.be.a('number');
        expect(label.length, label).to.be.within(1, 240);
        expect(label, 'a label that was cut').not.to.match(/…$/);
      }
  });

  it('are there for each vehicle, and every place is used', () => {
    for (const vehicle of VEHICLES) expect(factsOf(facts, vehicle).length, vehicle).to.be.above(4000);
    expect(factsOf(facts, 'px4')).to.deep.equal([]);
    const used = new Set(Object.values(facts.params).flatMap((uses) => uses.map(([, place]) => place)));
    expect([...used].toSorted((a, b) => a - b)).to.deep.equal(facts.facts.map((_, place) => place));
  });

  // From ArduPilot's documentation of each vehicle, by hand.
  const known: readonly (readonly [(typeof VEHICLES)[number], string, Partial<ParamDescription>])[] = [
    ['copter', 'BATT_FS_LOW_ACT', { min: null, reboot_required: false }],
    // Two ranges: 0.01 to 0.5 of a multicopter, 0 to 0.35 of a helicopter.
    ['copter', 'ATC_RAT_RLL_P', { min: 0, max: 0.5, increment: 0.005 }],
    ['sub', 'ATC_RAT_RLL_P', { min: 0, max: 0.3 }],
    ['plane', 'ARSPD_TYPE', { units: null }],
    ['rover', 'CRUISE_SPEED', { units: 'm/s', min: 0, max: 100 }],
    ['sub', 'FS_LEAK_ENABLE', { reboot_required: false }],
  ];
  for (const [vehicle, name, expected] of known)
    it(`${vehicle}: ${name}`, () => {
      const found = factsOf(facts, vehicle).find((each) => each.name === name);
      expect(found?.description).to.deep.include(expected);
    });

  it('differ where the vehicles do', () => {
    const of = (vehicle: (typeof VEHICLES)[number]) =>
      factsOf(facts, vehicle).find(({ name }) => name === 'FLTMODE1' || name === 'MODE1')?.description.values;
    expect(of('copter')).to.deep.include({ value: 5, text: 'Loiter' });
    expect(of('plane')).to.deep.include({ value: 5, text: 'FBWA' });
    expect(of('rover')).to.deep.include({ value: 5, text: 'Loiter' });
  });
});
