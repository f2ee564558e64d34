import { isRecord, type JsonObject } from '../shared/member.ts';

/**
 * An answer for a model to read: a line for each member, figures rounded, what was not measured named once. The whole stands beside
 * it as structure (decisions 30).
 */

/** Degrees: the sixth place is a hand's breadth. */
const PLACE = /^(?:lat|lon|latitude|longitude|x|y)$/;
const PLACE_DIGITS = 6;
const DIGITS = 4;

/** @param value of an answer, plain and without secrets */
export function shortText(value: JsonObject): string {
  const unmeasured: string[] = [];
  const lines = Object.entries(value).flatMap(([name, member]) => {
    const text = inline(member, name, name, unmeasured);
    return text === null ? [] : [`${name}: ${text}`];
  });
  if (unmeasured.length > 0) lines.push(`not known (null): ${unmeasured.join(', ')}`);
  return lines.join('\n');
}

/** Null for what is named among the unmeasured, or is not there. */
function inline(value: unknown, name: string, path: string, unmeasured: string[]): string | null {
  if (value === undefined) return null;
  if (value === null) {
    unmeasured.push(path);
    return null;
  }
  if (typeof value === 'number') return rounded(value, name);
  if (Array.isArray(value)) return listed(value, name, path);
  // A text of the vehicle makes no line of its own.
  if (!isRecord(value)) return typeof value === 'string' ? oneLine(value) : JSON.stringify(value);
  const parts = Object.entries(value).flatMap(([key, member]) => {
    const text = inline(member, key, `${path}.${key}`, unmeasured);
    if (text === null) return [];
    return [isRecord(member) ? `${key} {${text}}` : `${key} ${text}`];
  });
  return parts.length === 0 ? null : parts.join(', ');
}

/** Records get a line each; their nulls stay in them, as each may lack another. */
function listed(list: readonly unknown[], name: string, path: string): string {
  if (list.length === 0) return 'none';
  if (!list.some(isRecord)) return list.map((each) => inline(each, name, path, []) ?? 'null').join(', ');
  const lines = list.map((each) => {
    const lacks: string[] = [];
    const text = inline(each, name, '', lacks) ?? '';
    return `\n- ${text}${lacks.length === 0 ? '' : ` (null: ${lacks.map((lack) => lack.slice(1)).join(', ')})`}`;
  });
  return lines.join('');
}

/** Words that come from elsewhere, which could look like a member of the answer. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

function rounded(value: number, name: string): string {
  if (Number.isInteger(value)) return String(value);
  if (PLACE.test(name)) return String(Number(value.toFixed(PLACE_DIGITS)));
  return String(Number(Math.abs(value) >= 1000 ? value.toFixed(1) : value.toPrecision(DIGITS)));
}
