/** A 5 by 7 dot font for the text in the test picture; each number is one row, its lowest five bits the dots. */
const ROWS: Readonly<Record<string, readonly number[]>> = {
  '0': [14, 17, 19, 21, 25, 17, 14],
  '1': [4, 12, 4, 4, 4, 4, 14],
  '2': [14, 17, 1, 2, 4, 8, 31],
  '3': [31, 2, 4, 2, 1, 17, 14],
  '4': [2, 6, 10, 18, 31, 2, 2],
  '5': [31, 16, 30, 1, 1, 17, 14],
  '6': [6, 8, 16, 30, 17, 17, 14],
  '7': [31, 1, 2, 4, 8, 8, 8],
  '8': [14, 17, 17, 14, 17, 17, 14],
  '9': [14, 17, 17, 15, 1, 2, 12],
  '-': [0, 0, 0, 31, 0, 0, 0],
  ':': [0, 4, 4, 0, 4, 4, 0],
  '.': [0, 0, 0, 0, 0, 12, 12],
  '#': [10, 10, 31, 10, 31, 10, 10],
  E: [31, 16, 16, 30, 16, 16, 31],
  S: [15, 16, 16, 14, 1, 1, 30],
  T: [31, 4, 4, 4, 4, 4, 4],
  Z: [31, 1, 2, 4, 8, 16, 31],
};

export const GLYPH_WIDTH = 5;
export const GLYPH_HEIGHT = 7;
/** Columns from one character to the next. */
export const GLYPH_ADVANCE = 6;

/** The rows of a character; blank for one that the font does not have. */
export function glyph(character: string): readonly number[] {
  return ROWS[character] ?? [];
}
