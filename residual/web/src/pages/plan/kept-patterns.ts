import { isRecord, listOf, memberOf, parseJson } from '../../../../../shared/member.ts';
import { MAX_PATTERNS, type Pattern, patternOf } from '../../../../../shared/mission/patterns/placed.ts';
import {
  readComplex,
  readOrbit,
  writeComplex,
  writeOrbit,
} from '../../../../../shared/mission/patterns/qgc.ts';

/**
 * Settings of patterns, kept by this browser: a vehicle holds no more than their items, and they are found in them again after a reload.
 * They are kept as a plan file has them.
 */

const STORED = 'svc-plan-patterns ';
const MAX_TEXT = 200_000;

export function remembered(vehicle: string): readonly Pattern[] {
  let stored: unknown;
  try {
    stored = parseJson(localStorage.getItem(STORED + vehicle) ?? '[]');
  } catch {
    return []; // something else wrote it
  }
  return listOf(stored)
    .slice(0, MAX_PATTERNS)
    .flatMap((each) => {
      const orbit = readOrbit(memberOf(each, 'orbit'));
      const settings = orbit ?? (isRecord(each) ? readComplex(each) : null);
      const pattern = settings === null ? null : patternOf(settings, null);
      return pattern === null ? [] : [pattern];
    });
}

export function keep(vehicle: string, patterns: readonly Pattern[]): void {
  const written = patterns
    .slice(-MAX_PATTERNS)
    .map(({ settings }) =>
      settings.kind === 'orbit'
        ? { orbit: writeOrbit(settings) }
        : writeComplex({ settings, items: [], photos: 0, source: null }),
    );
  const text = JSON.stringify(written);
  if (text.length > MAX_TEXT) return;
  try {
    localStorage.setItem(STORED + vehicle, text);
  } catch {
    // A browser that keeps nothing, or has no room: the settings last as long as the page.
  }
}
