import { expect } from 'chai';
import fc from 'fast-check';
import { typedArguments } from '../../connector/argument-types.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    height: { type: 'number' },
    count: { type: 'integer' },
    far: { type: 'boolean' },
    name: { type: 'string' },
    confirm: { type: ['boolean', 'string'] },
    place: { type: 'object', properties: { lat: { type: 'number' } } },
    values: { type: 'array', items: { type: 'number' } },
  },
} as const;

describe('arguments of clients that send all as texts', () => {
  it('numbers and truths become what the schema wants, within lists and objects too', () => {
    expect(
      typedArguments(
        {
          height: '12.5',
          count: '3',
          far: 'true',
          name: '7',
          confirm: 'true',
          place: { lat: '-1e1' },
          values: ['1', 2],
        },
        SCHEMA,
      ),
    ).to.deep.equal({
      height: 12.5,
      count: 3,
      far: true,
      name: '7',
      confirm: 'true',
      place: { lat: -10 },
      values: [1, 2],
    });
  });

  it('what is none stays a text, for the schema to refuse', () => {
    for (const text of ['', ' 1', '1 ', '0x10', '1,5', 'NaN', 'Infinity', '1e999', '+1', '01', 'yes', 'null'])
      expect(typedArguments({ height: text, far: text }, SCHEMA)).to.deep.equal({ height: text, far: text });
  });

  it('what is no text stays as it is, and every number comes back (property)', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.anything(), (number, any) => {
        expect(typedArguments({ height: JSON.stringify(number) }, SCHEMA)).to.deep.equal({
          height: number + 0,
        });
        if (typeof any !== 'string') expect(typedArguments(any, { type: 'number' })).to.deep.equal(any);
      }),
    );
  });
});
