/** What a spreadsheet takes for a formula: at the beginning, and where a cell begins for those that separate by semicolon, tab or line. */
const FORMULA = /(^(?=[\t\r\n])|(?:^|[;\t\r\n])(?=\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]))/g;

/**
 * A cell of CSV (RFC 4180). A text in which a spreadsheet would find a formula, whichever separator it splits at, has an apostrophe
 * before that.
 */
export function csvCell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = value.replaceAll(FORMULA, "$1'");
  return /[",;\t\r\n']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
