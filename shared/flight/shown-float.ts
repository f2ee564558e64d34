/** A value of the vehicle for a person: as many digits as a 32-bit float has, whole numbers with all of theirs. */
export function shownFloat(value: number): string {
  return String(Number.isInteger(value) ? value : Number(value.toPrecision(7)));
}
