import { expect } from 'chai';
import fc from 'fast-check';
import { type ParamLineError, readParamFile } from '../../shared/flight/param-file.ts';

/** What the error says, or the values. */
function read(text: string): unknown {
  try {
    return readParamFile(text);
  } catch (error) {
    return `${(error as ParamLineError).line}: ${(error as Error).message}`;
  }
}

describe('a parameter file of whichever program', () => {
  const files: readonly (readonly [what: string, text: string, values: Record<string, number>])[] = [
    ['Mission Planner', 'A,1\r\nB,-0.25\r\n', { A: 1, B: -0.25 }],
    ['MAVProxy', 'A                1.5\nB 2e-3\n', { A: 1.5, B: 0.002 }],
    [
      'QGroundControl',
      '# Vehicle-Id Component-Id Name Value Type\n1\t1\tA\t5\t9\n1\t1\tB\t7\t6\n',
      { A: 5, B: 7 },
    ],
    ['defaults of ArduPilot', 'P1 5 @READONLY\nP2=7\nP3,8,@READONLY\n', { P1: 5, P2: 7, P3: 8 }],
    [
      'hexadecimal values',
      'CAN_P1_DRIVER 1\nCAN_D1_UC_ESC_BM 0xF0\n',
      { CAN_P1_DRIVER: 1, CAN_D1_UC_ESC_BM: 240 },
    ],
    ['an editor of Windows, or of an old Mac', '\uFEFFA 1 # why\r\r\nB , 2\r', { A: 1, B: 2 }],
    ['nothing', '\n# only words\n', {}],
  ];
  for (const [what, text, values] of files)
    it(`is read: ${what}`, () => {
      expect(read(text)).to.deep.equal(values);
    });

  const wrong: readonly (readonly [what: string, text: string, line: number, says: string])[] = [
    ['a decimal comma', 'P2,1\nP1,0,5', 2, 'decimal comma'],
    ['a decimal comma after a space', 'P1 0,5', 1, 'decimal comma'],
    ['a decimal comma of QGroundControl', '1\t1\tP1\t0,5\t9', 1, 'decimal comma'],
    ['two values', 'P1,5,6', 1, 'decimal comma'],
    ['a word', 'A 1\nB one', 2, 'is not NAME value'],
    ['no value', 'A', 1, 'is not NAME value'],
    ['no name', '7 5', 1, 'is not NAME value'],
    ['a name that is too long', 'ABCDEFGHIJKLMNOPQ 1', 1, 'is not NAME value'],
    ['nan', 'A nan', 1, 'is not NAME value'],
    ['another list', 'QGC WPL 110', 1, 'is not NAME value'],
  ];
  for (const [what, text, line, says] of wrong)
    it(`is refused with its line: ${what}`, () => {
      expect(read(text)).to.match(new RegExp(`^${line}: line ${line} .*${says}`));
    });

  it('gives what was written, or refuses: never another number', () => {
    const name = fc.stringMatching(/^[A-Z][A-Z0-9_]{0,15}$/);
    const value = fc.double({ noNaN: true, noDefaultInfinity: true });
    const separator = fc.constantFrom(' ', '\t', ',', '=', ' , ');
    fc.assert(
      fc.property(name, value, separator, fc.boolean(), (key, number, between, comma) => {
        const text = comma ? String(number).replace('.', ',') : String(number);
        const got = read(`${key}${between}${text}`);
        if (typeof got === 'string') expect(text).to.include(',');
        else expect(got).to.deep.equal({ [key]: number === 0 ? 0 : number }); // -0 is written as 0
      }),
    );
  });
});
