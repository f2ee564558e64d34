interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The common part of two boxes, as a part of what they cover together: 0 apart, 1 the same. @param grow added on each side, pixels */
export function overlap(a: Box, b: Box, grow = 0): number {
  const span = (from: number, size: number, other: number, otherSize: number): number =>
    Math.max(0, Math.min(from + size, other + otherSize) - Math.max(from, other) + 2 * grow);
  const common = span(a.x, a.width, b.x, b.width) * span(a.y, a.height, b.y, b.height);
  const area = ({ width, height }: Box): number => (width + 2 * grow) * (height + 2 * grow);
  const all = area(a) + area(b) - common;
  return all > 0 ? common / all : 0;
}

/**
 * Non-maximum suppression: of boxes of one class that overlap by more than `most`, only the one with the best score.
 * @param limit how many are kept
 * @returns best first
 */
export function suppress<T extends Box & { readonly kind: number; readonly score: number }>(
  candidates: readonly T[],
  most: number,
  limit: number,
): T[] {
  const kept: T[] = [];
  for (const next of candidates.toSorted((a, b) => b.score - a.score).slice(0, MAX_COMPARED)) {
    if (kept.length === limit) break;
    if (!kept.some((better) => better.kind === next.kind && overlap(better, next) > most)) kept.push(next);
  }
  return kept;
}

/** More candidates come only from a model that finds something everywhere. */
const MAX_COMPARED = 3000;
