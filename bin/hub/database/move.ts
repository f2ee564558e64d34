import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { checkEmpty, checkSchema, migrate, TABLES } from './schema.ts';
import type { HubDatabase, Queries } from './tables.ts';

/** Rows that are read and written at once. */
const ROWS = 500;
/** A sum of hashes has so many bits: the order of rows does not count, which the two engines have each of their own. */
const BITS = 256n;

type Table = (typeof TABLES)[number]['name'];
type Row = Readonly<Record<string, string | number | Uint8Array | null>>;

/** What a table has: two of the same are alike. */
interface Content {
  readonly rows: number;
  readonly hash: string;
}

/**
 * Copies a stopped hub's database into an empty one, and compares them. A copy that is there already is compared alone.
 * @returns how many rows each table has
 * @throws Error if the other one has anything else, or is not alike; then nothing of the copy stays
 */
export async function moveDatabase(from: HubDatabase, to: HubDatabase): Promise<ReadonlyMap<Table, number>> {
  await checkSchema(from);
  await checkEmpty(to);
  await migrate(to);
  const counts = new Map<Table, number>();
  await to.queries.transaction().execute(async (on) => {
    const isCopied = (await contentOf(on, 'identity', ['key'])).rows > 0;
    for (const { name, key } of TABLES) {
      if (!isCopied) await copy(from.queries, on, name, key);
      const [source, target] = [await contentOf(from.queries, name, key), await contentOf(on, name, key)];
      if (source.hash !== target.hash)
        throw new Error(
          `${name} in ${to.name} has ${target.rows} rows that are not the ${source.rows} of ${from.name}. Nothing was changed.`,
        );
      counts.set(name, source.rows);
    }
    if (to.engine === 'postgres') await goOnAfter(on);
  });
  return counts;
}

async function copy(from: Queries, on: Queries, table: Table, key: readonly string[]): Promise<void> {
  for await (const rows of pages(from, table, key)) {
    const columns = Object.keys(rows[0] ?? {});
    const names = sql.join(columns.map((name) => sql.ref(name)));
    const values = sql.join(rows.map((row) => sql`(${sql.join(columns.map((name) => row[name] ?? null))})`));
    await sql`INSERT INTO ${sql.table(table)} (${names}) VALUES ${values}`.execute(on);
  }
}

async function contentOf(db: Queries, table: Table, key: readonly string[]): Promise<Content> {
  let rows = 0;
  let sum = 0n;
  for await (const page of pages(db, table, key))
    for (const row of page) {
      rows++;
      sum = (sum + BigInt(`0x${hashOf(row)}`)) % (1n << BITS);
    }
  return { rows, hash: `${rows} ${sum.toString(16)}` };
}

/** In the order of the key: a page begins behind the last row of the one before, however many there are. */
async function* pages(db: Queries, table: Table, key: readonly string[]): AsyncGenerator<readonly Row[]> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  for (let last: Row | undefined; ; ) {
    const from: Row | undefined = last;
    const rest =
      from === undefined
        ? sql``
        : sql`WHERE (${columns}) > (${sql.join(key.map((column) => from[column] ?? null))})`;
    const page = sql<Row>`SELECT * FROM ${sql.table(table)} ${rest} ORDER BY ${columns} LIMIT ${ROWS}`;
    const { rows } = await page.execute(db);
    if (rows.length > 0) yield rows;
    if (rows.length < ROWS) return;
    last = rows.at(-1);
  }
}

function hashOf(row: Row): string {
  const columns = Object.keys(row)
    .toSorted()
    .map((name) => {
      const value = row[name] ?? null;
      return [name, value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value];
    });
  return createHash('sha256').update(JSON.stringify(columns)).digest('hex');
}

/** The next event, and the next flight, gets a number after those that were copied. */
async function goOnAfter(on: Queries): Promise<void> {
  for (const table of ['events', 'flights'] as const)
    await sql`SELECT setval(pg_get_serial_sequence(${table}, 'id'), (SELECT coalesce(max(id), 0) + 1 FROM ${sql.table(table)}), false)`.execute(
      on,
    );
}
