/**
 * What a name may not have that a person is shown: control characters (also terminal escapes), what turns the direction of text,
 * what cannot be seen, line and paragraph separators, private characters. By ranges, since not every client's regular expressions
 * know the categories of Unicode (`plainText`, which mends foreign text, goes by those).
 */
const UNSEEN =
  '\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ue000-\\uf8ff\\ufeff\\ufff9-\\ufffb\u{e0000}-\u{e0fff}\u{f0000}-\u{10ffff}';

export const SHOWN_NAME = `^[^${UNSEEN}]*$`;

export const SHOWN_FORM =
  'one line without characters that control a terminal, turn the direction of text or cannot be seen';

/** A name that a person is shown. `format` has the sentence, `pattern` tells clients that know no format of ours. */
export const shownName = {
  type: 'string',
  format: 'shown-name',
  pattern: SHOWN_NAME,
  'x-says': `must be ${SHOWN_FORM}`,
} as const;
