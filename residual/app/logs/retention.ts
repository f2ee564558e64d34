import { statSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';

const US_PER_DAY = 86_400_000_000;
/** Records are deleted down to this part of the limit, so that not every new record deletes an old one. */
const EVICT_TO = 0.85;
/** One step may hold the process for 10 ms; less is aimed at, because rows differ and the text index merges now and then. */
const STEP_MS = 3;
const FIRST_ROWS = 20;
const MOST_ROWS = 500;
/** Pages are given back to the disk as slowly as rows are deleted. */
const VACUUM_PAGES = 32;

export interface StoreLimits {
  readonly maxBytes: number;
  readonly maxAgeDays: number;
}

/** Deletes what is too old or too much, in short steps: between two of them the process does its other work. */
export class Retention {
  readonly #db: DatabaseSync;
  readonly #path: string;
  readonly #limits: StoreLimits;
  readonly #stopped: AbortSignal;
  readonly #oldestLogs: StatementSync;
  readonly #logsBefore: StatementSync;
  readonly #eventsBefore: StatementSync;
  readonly #metricsBefore: StatementSync;
  readonly #samplesBefore: StatementSync;
  #rows = FIRST_ROWS;

  /** @param stopped ends a run between two steps */
  constructor(db: DatabaseSync, path: string, limits: StoreLimits, stopped: AbortSignal) {
    this.#db = db;
    this.#path = path;
    this.#limits = limits;
    this.#stopped = stopped;
    const before = (table: string): StatementSync =>
      db.prepare(
        `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE ts_us < ? ORDER BY ts_us LIMIT ?)`,
      );
    this.#logsBefore = before('logs');
    this.#eventsBefore = before('events');
    this.#oldestLogs = db.prepare('DELETE FROM logs WHERE id IN (SELECT id FROM logs ORDER BY id LIMIT ?)');
    this.#metricsBefore = db.prepare(
      'DELETE FROM metrics WHERE metric = ?1 AND ts_us IN (SELECT ts_us FROM metrics WHERE metric = ?1 AND ts_us < ?2 ORDER BY ts_us LIMIT ?3)',
    );
    this.#samplesBefore = db.prepare(
      'DELETE FROM samples WHERE (ts_us, metric) IN (SELECT ts_us, metric FROM samples WHERE ts_us < ? ORDER BY ts_us LIMIT ?)',
    );
  }

  /** @param nowUs wall clock. @returns how many log records were deleted */
  async run(nowUs: number): Promise<number> {
    const before = nowUs - this.#limits.maxAgeDays * US_PER_DAY;
    let deleted = await this.#all((rows) => changes(this.#logsBefore.run(before, rows)));
    let others = await this.#all((rows) => changes(this.#eventsBefore.run(before, rows)));
    others += await this.#deleteMetrics(() => before);
    for (const table of ['sessions WHERE ended_us', 'shippers WHERE seen_us'])
      await this.#all(() => {
        this.#db.prepare(`DELETE FROM ${table} < ?`).run(before);
        return 0;
      });
    const { maxBytes } = this.#limits;
    if (this.#usedBytes() > maxBytes) {
      const goal = maxBytes * EVICT_TO;
      deleted += await this.#all((rows) =>
        this.#usedBytes() > goal ? changes(this.#oldestLogs.run(rows)) : 0,
      );
      // No logs are left to delete: the older half of the metrics.
      if (this.#usedBytes() > goal)
        others += await this.#deleteMetrics(({ oldest, newest }) => (oldest + newest) / 2);
    }
    if (deleted + others > 0) await this.#giveBack();
    return deleted;
  }

  /** Repeats a step until it deletes nothing. @returns how many rows it deleted in all */
  async #all(step: (rows: number) => number): Promise<number> {
    for (let all = 0; ; ) {
      if (this.#stopped.aborted) return all;
      const began = performance.now();
      const gone = step(this.#rows);
      const took = performance.now() - began;
      if (gone === 0) return all;
      all += gone;
      const fits = Math.floor((this.#rows * STEP_MS) / Math.max(took, 0.1));
      this.#rows = Math.max(1, Math.min(MOST_ROWS, Math.ceil(this.#rows * 1.25), fits));
      await setImmediate();
    }
  }

  /** Of the older table one metric after the other, because it is sorted so. */
  async #deleteMetrics(
    before: (span: { readonly oldest: number; readonly newest: number }) => number,
  ): Promise<number> {
    const span = this.#db.prepare('SELECT min(ts_us) AS oldest, max(ts_us) AS newest FROM samples').get();
    const until = before({ oldest: Number(span?.['oldest'] ?? 0), newest: Number(span?.['newest'] ?? 0) });
    let all = await this.#all((rows) => changes(this.#samplesBefore.run(until, rows)));
    for (const { id } of this.#db.prepare('SELECT id FROM metric_names').all()) {
      const end = (order: 'ASC' | 'DESC'): number =>
        Number(
          this.#db
            .prepare(`SELECT ts_us FROM metrics WHERE metric = ? ORDER BY ts_us ${order} LIMIT 1`)
            .get(id ?? null)?.['ts_us'] ?? 0,
        );
      const limit = before({ oldest: end('ASC'), newest: end('DESC') });
      all += await this.#all((rows) => changes(this.#metricsBefore.run(id ?? null, limit, rows)));
    }
    return all;
  }

  async #giveBack(): Promise<void> {
    for (let free = this.#pragma('freelist_count'); free > 0 && !this.#stopped.aborted; ) {
      this.#db.exec(`PRAGMA incremental_vacuum(${VACUUM_PAGES})`);
      await setImmediate();
      const left = this.#pragma('freelist_count');
      if (left >= free) return; // records that came meanwhile use them
      free = left;
    }
  }

  #pragma(name: string): number {
    return Number(this.#db.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);
  }

  #usedBytes(): number {
    const pages = this.#pragma('page_count') - this.#pragma('freelist_count');
    return pages * this.#pragma('page_size') + sizeOf(`${this.#path}-wal`);
  }
}

function changes({ changes: count }: { readonly changes: number | bigint }): number {
  return Number(count);
}

/** Bytes of a file; 0 if there is none. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
