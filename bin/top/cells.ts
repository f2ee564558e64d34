import { plainText } from '../../shared/plain-text.ts';

/** Text measured in the cells of a terminal, which draws most of Chinese, Japanese, Korean and all emoji two cells wide. */

const WIDE =
  /[\u1100-\u115f\u231a-\u231b\u2329-\u232a\u2e80-\u303e\u3041-\ua4cf\u2630-\u2637\u268a-\u268f\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d376}\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
/** The width of a combining mark depends on the terminal. */
const MARKS = /\p{M}|[\u1160-\u11ff\ud7b0-\ud7ff]/gu;

/** `text` without characters that move the cursor. */
function safeText(text: string): string {
  return plainText(text.normalize('NFC')).replaceAll(MARKS, '');
}

/** Cells of safe text. */
function cellsOf(text: string): number {
  let cells = 0;
  for (const character of text) cells += WIDE.test(character) ? 2 : 1;
  return cells;
}

/** Safe text of at most `columns` cells; a cut text ends in an ellipsis. */
export function clip(text: string, columns: number): string {
  // Longer than any window; a line of a log may be a megabyte.
  const safe = safeText(text.slice(0, columns * 8 + 64));
  if (cellsOf(safe) <= columns) return safe;
  let cut = '';
  let room = columns - 1;
  for (const character of safe) {
    room -= cellsOf(character);
    if (room < 0) break;
    cut += character;
  }
  return columns < 1 ? '' : `${cut}…`;
}
