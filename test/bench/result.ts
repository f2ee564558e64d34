/** One measured figure. `goal`: what it should be, in the same unit; lower is better unless `higher`. */
export interface Result {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly goal?: number;
  readonly higher?: boolean;
  readonly note?: string;
  /** Further figures of the same, for who reads the JSON. */
  readonly figures?: unknown;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
