import { expect } from 'chai';
import { hubRows } from '../../shared/hub-api/rows.ts';
import { recordOf } from '../../shared/member.ts';
import { ROWS } from '../../shared/routes/table.ts';
import { validatorOf } from '../../shared/schemas/validator.ts';

/** Numbers that a query text may say, and no number can be. */
const ENDLESS = ['1e309', '-1e309'];

describe('a number of a query', () => {
  const rows = [...ROWS, ...hubRows].flatMap(({ method, path, query }) =>
    query === null ? [] : [{ at: `${method} ${path}`, query }],
  );
  it('that is past all numbers is refused by each row, and named', () => {
    let tried = 0;
    for (const { at, query } of rows)
      for (const [name, schema] of Object.entries(recordOf(recordOf(query)['properties']))) {
        if (!/^(?:number|integer)$/.test(String(recordOf(schema)['type']))) continue;
        for (const text of ENDLESS) {
          const found = validatorOf(query, { coerce: true, useDefaults: true })({ [name]: text });
          expect(
            found?.map(({ path }) => path),
            `${at}?${name}=${text}`,
          ).to.include(`/${name}`);
          tried++;
        }
      }
    expect(tried).to.be.greaterThan(20);
  });
});
