import { expect } from 'chai';
import { type Family, familyOf, modeName, modeNames, modeNumber } from '../../shared/flight/modes.ts';

const FAMILIES: readonly Family[] = ['copter', 'plane', 'rover', 'sub', 'px4'];

describe('flight modes', () => {
  it('every name leads to a number, and every number to a name that leads back', () => {
    for (const family of FAMILIES) {
      for (const name of modeNames(family)) {
        const number = modeNumber(family, name);
        if (number === null) throw new Error(`${family} ${name}`);
        expect(modeNumber(family, modeName(family, number)), `${family} ${name}`).to.equal(number);
      }
      expect(new Set(modeNames(family)).size).to.equal(modeNames(family).length);
    }
  });

  it('are read in any case, and an unknown number shows as itself', () => {
    expect(modeNumber('copter', ' loiter ')).to.equal(5);
    expect(modeNumber('copter', 'FBWA')).to.equal(null);
    expect(modeName('copter', 99)).to.equal('MODE_99');
    expect(modeName(null, 3)).to.equal('MODE_3');
  });

  it('newer ones are there', () => {
    expect(modeName('copter', 28)).to.equal('TURTLE');
    expect(modeName('copter', 29)).to.equal('RATE_ACRO');
    expect(modeName('plane', 26)).to.equal('AUTOLAND');
    expect(modeName('rover', 8)).to.equal('DOCK');
    expect(modeName('sub', 21)).to.equal('SURFTRAK');
  });

  it("PX4's main and sub modes, with the short names of its automatic ones", () => {
    const px4 = (main: number, sub = 0): number => ((main << 16) | (sub << 24)) >>> 0;
    for (const [name, number] of [
      ['POSCTL', px4(3)],
      ['position', px4(3)],
      ['POSCTL.SLOW', px4(3, 2)],
      ['TERMINATION', px4(10)],
      ['ALTITUDE_CRUISE', px4(11)],
      ['auto', px4(4, 4)],
      ['mission', px4(4, 4)],
      ['hold', px4(4, 3)],
      ['return', px4(4, 5)],
      ['VTOL_TAKEOFF', px4(4, 10)],
      ['AUTO.EXTERNAL8', px4(4, 18)],
      ['AUTO.GUIDED_COURSE', px4(4, 19)],
    ] as const) {
      expect(modeNumber('px4', name), name).to.equal(number);
    }
    expect(modeName('px4', px4(4, 3))).to.equal('AUTO.LOITER');
    expect(modeName('px4', px4(4, 19))).to.equal('AUTO.GUIDED_COURSE');
  });

  it('the family is told by autopilot and type', () => {
    expect(familyOf(3, 13)).to.equal('copter');
    expect(familyOf(3, 21)).to.equal('plane');
    expect(familyOf(3, 11)).to.equal('rover');
    expect(familyOf(3, 12)).to.equal('sub');
    expect(familyOf(3, 7)).to.equal(null);
    expect(familyOf(12, 10)).to.equal('px4');
    expect(familyOf(0, 2)).to.equal(null);
  });
});
