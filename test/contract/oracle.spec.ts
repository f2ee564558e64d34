import { expect } from 'chai';
import { decided, MATRIX_FEATURES, MATRIX_ROWS } from '../support/matrix.ts';
import { ADDRESSES, CREDENTIALS, oracle } from '../support/oracle.ts';

describe('C1 decide() against the oracle: every row, credential, peer class and pairing state', () => {
  for (const paired of [true, false]) {
    for (const credential of CREDENTIALS) {
      it(`${paired ? 'paired' : 'unpaired'}, ${credential}`, () => {
        for (const row of MATRIX_ROWS) {
          for (const from of ADDRESSES) {
            const wanted = oracle({ row, credential, from, paired, features: MATRIX_FEATURES });
            expect(decided(row, credential, from, paired), `${row.method} ${row.path} from ${from}`).to.equal(
              wanted,
            );
          }
        }
      });
    }
  }
});
