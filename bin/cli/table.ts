type Cell = string | number | null;

const GAP = '  ';

/**
 * The lines of a table, with its heads in capitals; none where there are no rows. Columns are as wide as what stands in them,
 * numbers stand to the right, null is a dash.
 */
export function tableOf(heads: readonly string[], rows: readonly (readonly Cell[])[]): readonly string[] {
  if (rows.length === 0) return [];
  const cells = [heads, ...rows].map((row) => row.map((cell) => String(cell ?? '-')));
  const columns = heads.map((_, column) => ({
    width: Math.max(...cells.map((row) => row[column]?.length ?? 0)),
    isNumber: rows.every((row) => typeof row[column] !== 'string'),
  }));
  return cells.map((row) =>
    columns
      .map(({ width, isNumber }, column) => {
        const cell = row[column] ?? '';
        return isNumber ? cell.padStart(width) : cell.padEnd(width);
      })
      .join(GAP)
      .trimEnd(),
  );
}
