import { statSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import type { BootTime } from '../../../shared/boot-clock.ts';
import { Arrivals, type Span } from './arrivals.ts';

const US_PER_DAY = 86_400_000_000;
/** Beyond every time. */
const END_US = 9e15;
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
  readonly #logsThrough: StatementSync;
  readonly #eventsThrough: StatementSync;
  readonly #metricsOf: StatementSync;
  readonly #samplesOf: StatementSync;
  readonly #arrivals: Arrivals;
  #rows = FIRST_ROWS;

  /** @param stopped ends a run between two steps */
  constructor(db: DatabaseSync, path: string, limits: StoreLimits, stopped: AbortSignal) {
    this.#db = db;
    this.#path = path;
    this.#limits = limits;
    this.#stopped = stopped;
    const through = (table: string): StatementSync =>
      db.prepare(
        `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE id <= ? ORDER BY id LIMIT ?)`,
      );
    this.#logsThrough = through('logs');
    this.#eventsThrough = through('events');
    this.#oldestLogs = db.prepare('DELETE FROM logs WHERE id IN (SELECT id FROM logs ORDER BY id LIMIT ?)');
    this.#metricsOf = db.prepare(
      'DELETE FROM metrics WHERE metric = ?1 AND ts_us IN (SELECT ts_us FROM metrics WHERE metric = ?1 AND ts_us >= ?2 AND ts_us < ?3 ORDER BY ts_us LIMIT ?4)',
    );
    this.#samplesOf = db.prepare(
      'DELETE FROM samples WHERE (ts_us, metric) IN (SELECT ts_us, metric FROM samples WHERE ts_us >= ? AND ts_us < ? ORDER BY ts_us LIMIT ?)',
    );
    this.#arrivals = new Arrivals(db);
  }

  /**
   * Age is counted from arrival, by the time that the store has lived: a clock that is set makes nothing older.
   * @param nowUs wall clock. @returns how many log records were deleted
   */
  async run(nowUs: number, boot: BootTime): Promise<number> {
    const maxAgeUs = this.#limits.maxAgeDays * US_PER_DAY;
    const old = this.#arrivals.note(nowUs, boot, maxAgeUs);
    let deleted = 0;
    let others = 0;
    if (old !== null) {
      deleted += await this.#all((rows) => changes(this.#logsThrough.run(old.logs, rows)));
      others += await this.#all((rows) => changes(this.#eventsThrough.run(old.events, rows)));
      others += await this.#deleteMetrics(old.since);
      this.#db.prepare('DELETE FROM sessions WHERE ended_us IS NOT NULL AND id <= ?').run(old.sessions);
      const { from, to } = old.since;
      this.#db.prepare('DELETE FROM shippers WHERE seen_us < ? OR seen_us > ?').run(from, to);
      this.#arrivals.forget(old);
    }
    const { maxBytes } = this.#limits;
    if (this.#usedBytes() > maxBytes) {
      const goal = maxBytes * EVICT_TO;
      deleted += await this.#all((rows) =>
        this.#usedBytes() > goal ? changes(this.#oldestLogs.run(rows)) : 0,
      );
      // No logs are left to delete: the older half of the metrics.
      if (this.#usedBytes() > goal) others += await this.#deleteMetrics(this.#newerHalf(nowUs));
    }
    if (deleted + others > 0) await this.#giveBack();
    return deleted;
  }

  /** Of the values: by arrival, where it is known, so that those of a clock that was ahead do not push out all others. */
  #newerHalf(nowUs: number): Span {
    const known = this.#arrivals.newerHalf();
    const span = this.#db
      .prepare(
        'SELECT min(ts_us) AS oldest, max(ts_us) AS newest FROM (SELECT ts_us FROM samples UNION ALL SELECT ts_us FROM metrics)',
      )
      .get();
    const [oldest, newest] = [Number(span?.['oldest'] ?? 0), Number(span?.['newest'] ?? 0)];
    if (known !== null && (oldest < known.from || newest > known.to)) return known;
    return { from: (oldest + Math.min(newest, Math.max(nowUs, oldest))) / 2, to: Math.max(newest, nowUs) };
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

  /** Deletes all but those of this span. Of the older table one metric after the other, because it is sorted so. */
  async #deleteMetrics({ from, to }: Span): Promise<number> {
    let all = 0;
    for (const [least, end] of [
      [-END_US, from],
      [to + 1, END_US],
    ] as const) {
      all += await this.#all((rows) => changes(this.#samplesOf.run(least, end, rows)));
      for (const { id } of this.#db.prepare('SELECT id FROM metric_names').all())
        all += await this.#all((rows) => changes(this.#metricsOf.run(id ?? null, least, end, rows)));
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
