import { ERRORS, isErrorCode } from '../../../../shared/errors.ts';
import { wordFor } from '../language/words.ts';
import { t } from '../strings.ts';

/** The page's own sentence where the node said no more than its catalogue does; else the node's. @param code of the refusal */
export function sentenceFor(code: string, detail: string): string {
  return isErrorCode(code) && ERRORS[code][1] === detail ? (wordFor(t.refusals, code) ?? detail) : detail;
}
