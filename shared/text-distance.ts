/**
 * How many letters must be changed, left out, added or swapped with their neighbour to make one text of the other (optimal string
 * alignment). Its time grows with the product of the lengths: for words that a person types.
 */
export function textDistance(a: string, b: string): number {
  let before: readonly number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const here = [row];
    for (let column = 1; column <= b.length; column++) {
      const at = (line: readonly number[], index: number): number => line[index] ?? Infinity;
      const isSame = a[row - 1] === b[column - 1];
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      here.push(
        Math.min(
          at(above, column) + 1,
          at(here, column - 1) + 1,
          at(above, column - 1) + (isSame ? 0 : 1),
          isSwap ? at(before, column - 2) + 1 : Infinity,
        ),
      );
    }
    before = above;
    above = here;
  }
  return above.at(-1) ?? 0;
}
