import { expect } from 'chai';
import fc from 'fast-check';
import { shortText } from '../../connector/short-text.ts';

describe('the short text of an answer', () => {
  it('has a line for each member, figures rounded, and names once what was not measured', () => {
    const text = shortText({
      mode: 'GUIDED',
      position: { lat: 47.376912345, lon: 8.54, alt_rel: 10.04321, heading: null },
      battery: null,
      warnings: [],
      cells: [4.1, 4.123456],
      nodes: [{ id: 'a', name: null }, { id: 'b' }],
      extra: { inner: { deep: 1 } },
    });
    expect(text.split('\n')).to.deep.equal([
      'mode: GUIDED',
      'position: lat 47.376912, lon 8.54, alt_rel 10.04',
      'warnings: none',
      'cells: 4.1, 4.123',
      'nodes: ',
      '- id a (null: name)',
      '- id b',
      'extra: inner {deep 1}',
      'not known (null): position.heading, battery',
    ]);
  });

  it('a text of the vehicle makes no line of its own, which would look like a member', () => {
    const text = shortText({ statustext: [{ text: 'low\nmode: LAND' }], mode: 'A\r\nok: true' });
    expect(text.split('\n')).to.deep.equal(['statustext: ', '- text low mode: LAND', 'mode: A ok: true']);
  });

  it('invents nothing: each whole number is there as it is, each null is named', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[a-w]{1,8}$/), fc.option(fc.integer())), (value) => {
        const text = shortText(value);
        for (const [name, member] of Object.entries(value))
          if (member === null) expect(text.split('\n').at(-1)).to.include(name);
          else expect(text.split('\n')).to.include(`${name}: ${member}`);
      }),
    );
  });
});
