/** SQLSTATE of data exceptions: the class 22 (PostgreSQL, Appendix A). */
const DATA = /^22/;
/** SQLite: a text that is too long, a value of another type. */
const SQLITE_DATA: readonly unknown[] = [18, 20];

/** Writes all at once; where the data of some cannot be stored, all the others. @throws any other error */
export async function leavingOut<T>(
  all: readonly T[],
  write: (part: readonly T[]) => Promise<void>,
  onLeftOut: (one: T) => void,
): Promise<void> {
  try {
    await write(all);
  } catch (error) {
    if (!isOfData(error)) throw error;
    const half = all.length >> 1;
    if (half === 0) for (const one of all) onLeftOut(one);
    else for (const part of [all.slice(0, half), all.slice(half)]) await leavingOut(part, write, onLeftOut);
  }
}

function isOfData(error: unknown): boolean {
  if (error instanceof RangeError) return true; // JSON.stringify, of what nests too deep
  if (!(error instanceof Error)) return false;
  const { code, errcode }: Error & { readonly code?: unknown; readonly errcode?: unknown } = error;
  return (typeof code === 'string' && DATA.test(code)) || SQLITE_DATA.includes(errcode);
}
