/**
 * Where the target is in the messages of `DIALECT_TABLE`, three numbers each: message id, offset of target_system in the
 * payload, offset of target_component (-1: it has none). A message that is not here is a broadcast.
 * `test/property/mavlink-dialect.spec.ts` compares it with mavlink-mappings.
 */
const TARGET_TABLE: readonly number[] = [
  4, 12, 13, 5, 0, -1, 11, 4, -1, 20, 2, 3, 21, 0, 1, 23, 4, 5, 37, 4, 5, 38, 4, 5, 39, 32, 33, 40, 2, 3, 41,
  2, 3, 43, 0, 1, 44, 2, 3, 45, 0, 1, 47, 0, 1, 48, 12, -1, 50, 18, 19, 51, 2, 3, 54, 24, 25, 66, 2, 3, 70,
  16, 17, 73, 32, 33, 75, 30, 31, 76, 30, 31, 77, 8, 9, 82, 36, 37, 84, 50, 51, 86, 50, 51, 110, 1, 2, 111,
  16, 17, 117, 4, 5, 119, 10, 11, 121, 0, 1, 122, 0, 1, 123, 0, 1, 126, 79, 80, 139, 41, 42, 151, 6, 7, 154,
  6, 7, 155, 4, 5, 156, 0, 1, 157, 12, 13, 158, 12, 13, 160, 8, 9, 161, 0, 1, 175, 14, 15, 176, 0, 1, 179, 26,
  -1, 180, 42, -1, 183, 0, 1, 184, 4, 5, 185, 4, 5, 186, 0, 1, 200, 40, 41, 201, 12, 13, 214, 6, 7, 216, 0, 1,
  218, 0, 1, 223, 42, 43, 224, 42, 43, 243, 52, -1, 248, 3, 4, 256, 8, 9, 258, 0, 1, 266, 2, 3, 267, 2, 3,
  268, 2, 3, 282, 32, 33, 284, 30, 31, 285, 38, 39, 286, 50, 51, 287, 20, 21, 288, 20, 21, 320, 2, 3, 321, 0,
  1, 323, 0, 1, 385, 2, 3, 386, 4, 5, 387, 4, 5, 388, 32, 33, 400, 4, 5, 401, 4, 5, 420, 6, 7, 11000, 4, 5,
  11002, 4, 5, 11004, 8, 9, 11033, 16, 17, 11035, 4, 5, 12900, 0, 1, 12901, 30, 31, 12902, 4, 5, 12903, 0, 1,
  12904, 28, 29, 12905, 0, 1, 12915, 0, 1, 12919, 16, 17, 60012, 32, 33, 60013, 20, 21, 60014, 4, 5, 60045, 2,
  3, 60046, 8, 9,
];

const COLUMNS = 3;

interface TargetFields {
  readonly system: number;
  readonly component: number;
}

const fields = new Map<number, TargetFields>();
for (let row = 0; row + COLUMNS <= TARGET_TABLE.length; row += COLUMNS) {
  const [id = 0, system = 0, component = -1] = TARGET_TABLE.slice(row, row + COLUMNS);
  fields.set(id, { system, component });
}

/** Where the target is in message `id`; null for a broadcast. */
export function targetFieldsOf(id: number): TargetFields | null {
  return fields.get(id) ?? null;
}
