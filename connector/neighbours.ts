import { textDistance } from '../shared/text-distance.ts';

const MAX_CHARS = 64;
const MOST = 3;

/** The names that somebody may have meant by one that is not there, the nearest first: one holds the other, they share a word, or it is a slip. */
export function neighboursOf(wanted: string, names: Iterable<string>): readonly string[] {
  const text = wanted.slice(0, MAX_CHARS).toLowerCase();
  const ranked = [...names].flatMap((name) => {
    const known = name.toLowerCase();
    const distance = textDistance(text, known);
    const isSlip = distance <= Math.max(1, Math.floor(known.length / 4));
    const holds = known.includes(text) || text.includes(known);
    const shared = wordsOf(known).filter((word) => wordsOf(text).includes(word)).length;
    if (!isSlip && !holds && shared === 0) return [];
    return [{ name, rank: (isSlip || holds ? 0 : 1000 - 100 * shared) + distance }];
  });
  return ranked
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, MOST)
    .map(({ name }) => name);
}

/** Of two letters, as the digits of a parameter, everything has some. */
function wordsOf(name: string): readonly string[] {
  return name.split(/[^a-z0-9]+/).filter((word) => word.length > 2);
}
