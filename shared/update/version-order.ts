import { VERSION_PATTERN } from './manifest.ts';

const VERSION = new RegExp(VERSION_PATTERN);

export function isVersion(text: string): boolean {
  return VERSION.test(text);
}

/**
 * The order of two versions (Semantic Versioning 2, 11).
 * @returns below 0 if `a` is older than `b`, 0 if they are the same. @throws Error for a text that is no version
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  for (const [index, number] of left.numbers.entries()) {
    const difference = number - (right.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  // What is a release is newer than what leads to it.
  if (left.before === null || right.before === null)
    return Number(left.before === null) - Number(right.before === null);
  for (const [index, part] of left.before.entries()) {
    const other = right.before[index];
    if (other === undefined) return 1;
    const difference = comparePart(part, other);
    if (difference !== 0) return difference;
  }
  return left.before.length - right.before.length;
}

function partsOf(version: string): { readonly numbers: readonly number[]; readonly before: string[] | null } {
  if (!isVersion(version)) throw new Error(`${JSON.stringify(version)} is no version.`);
  const at = version.indexOf('-');
  const numbers = (at === -1 ? version : version.slice(0, at)).split('.').map(Number);
  return { numbers, before: at === -1 ? null : version.slice(at + 1).split('.') };
}

function comparePart(a: string, b: string): number {
  const [isA, isB] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isA && isB) return Number(a) - Number(b);
  if (isA !== isB) return isA ? -1 : 1;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
