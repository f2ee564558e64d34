import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  type ArdupilotFacts,
  FACTS_FILE,
  factsOf,
  VEHICLES,
} from '../../front/control/param-metadata/facts-file.ts';
import { FAILURES, failsafesOf } from '../../shared/flight/failsafes.ts';
import type { Family } from '../../shared/flight/modes.ts';
import { ROOT } from '../support/node.ts';

const FILE = join(ROOT, 'front/control/param-metadata', FACTS_FILE);
const facts = JSON.parse(readFileSync(FILE, 'utf8')) as ArdupilotFacts;

function of(family: Family, params: Readonly<Record<string, number>>) {
  return failsafesOf(family, (name) => params[name] ?? null);
}

describe('what a vehicle does when something fails', () => {
  it('is what its parameters say, with what has to happen first', () => {
    expect(
      of('copter', { FS_THR_ENABLE: 1, RC_FS_TIMEOUT: 1.5, FS_GCS_ENABLE: 0, FS_GCS_TIMEOUT: 5 }),
    ).to.deep.equal([
      {
        failure: 'radio',
        param: 'FS_THR_ENABLE',
        value: 1,
        off: false,
        after: [{ param: 'RC_FS_TIMEOUT', value: 1.5, unit: 's' }],
      },
      {
        failure: 'station',
        param: 'FS_GCS_ENABLE',
        value: 0,
        off: true,
        after: [{ param: 'FS_GCS_TIMEOUT', value: 5, unit: 's' }],
      },
    ]);
  });

  it('a battery without a limit is never low, whatever would be done', () => {
    const set = { BATT_FS_LOW_ACT: 2, BATT_LOW_VOLT: 0, BATT_LOW_MAH: 0 };
    expect(of('plane', set)).to.deep.include({
      failure: 'low',
      param: 'BATT_FS_LOW_ACT',
      value: 2,
      off: true,
      after: [],
    });
    expect(of('plane', { ...set, BATT_LOW_MAH: 800 })[0]).to.deep.include({
      off: false,
      after: [{ param: 'BATT_LOW_MAH', value: 800, unit: 'mAh' }],
    });
  });

  it('what another parameter switches off is off: a fence, a rover’s radio', () => {
    expect(of('copter', { FENCE_ENABLE: 0, FENCE_ACTION: 1 })[0]).to.include({ failure: 'fence', off: true });
    expect(of('copter', { FENCE_ENABLE: 1, FENCE_ACTION: 1 })[0]).to.include({
      failure: 'fence',
      off: false,
    });
    expect(
      of('rover', { FS_ACTION: 2, FS_THR_ENABLE: 0 }).map(({ failure, off }) => [failure, off]),
    ).to.deep.equal([
      ['radio', true],
      ['station', false],
    ]);
  });

  it('PX4: thresholds are shares, shown in percent; it holds for a while first', () => {
    const [radio, critical] = of('px4', {
      NAV_RCL_ACT: 2,
      COM_RC_LOSS_T: 0.5,
      COM_FAIL_ACT_T: 5,
      COM_LOW_BAT_ACT: 3,
      BAT_CRIT_THR: 0.07,
    });
    expect(radio?.after).to.deep.equal([{ param: 'COM_RC_LOSS_T', value: 5.5, unit: 's' }]);
    expect(critical?.after[0]?.value).to.be.closeTo(7, 1e-9);
  });

  for (const family of VEHICLES)
    it(`${family}: every parameter is one that ArduPilot has`, () => {
      const names = new Set(factsOf(facts, family).map(({ name }) => name));
      const asked = new Set<string>();
      failsafesOf(family, (name) => asked.add(name).size);
      expect(asked.size).to.be.above(5);
      expect([...asked].filter((name) => !names.has(name))).to.deep.equal([]);
    });

  it('nothing is said of parameters that are not known; each failure once, in one order', () => {
    for (const family of ['copter', 'plane', 'rover', 'sub', 'px4'] as const) {
      expect(of(family, {})).to.deep.equal([]);
      const all = failsafesOf(family, () => 1).map(({ failure }) => failure);
      expect(all).to.deep.equal(FAILURES.filter((failure) => all.includes(failure)));
    }
  });
});
