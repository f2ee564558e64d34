import { expect } from 'chai';
import { sentenceFor } from '../../residual/web/src/api/refusal-sentence.ts';
import { t } from '../../residual/web/src/strings.ts';
import { ERRORS, isErrorCode } from '../../shared/errors.ts';

describe('What the page says for a refusal', () => {
  for (const [code, words] of Object.entries(t.refusals))
    it(`is its own sentence for ${code}, where the node has only that of its catalogue`, () => {
      expect(sentenceFor(code, isErrorCode(code) ? ERRORS[code][1] : '')).to.equal(words);
    });

  for (const [code, detail] of [
    ['E_BUSY', 'Another model is being uploaded. Wait until it is saved.'],
    // Nothing that a page can meet.
    ['E_UPGRADE', ERRORS.E_UPGRADE[1]],
    // Of a newer node, or no code at all.
    ['E_TOMORROW', 'Not today.'],
    ['toString', 'Not today.'],
    ['E_AWAY', ''],
  ] as const)
    it(`is the node's own: ${code}, "${detail}"`, () => {
      expect(sentenceFor(code, detail)).to.equal(detail);
    });
});
