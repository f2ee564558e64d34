import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { bootTime } from '../../../shared/boot-clock.ts';
import { inTransaction } from '../../../shared/files/transaction.ts';
import type { JsonObject } from '../../../shared/member.ts';
import { LOG_LEVELS, type LogRecord } from '../../../shared/rpc/logs.ts';
import { Retention, type StoreLimits } from './retention.ts';

export interface NumberedRecord {
  readonly seq: number;
  readonly record: LogRecord;
  /** As `LogStore.session` when it came; without it, when it is stored. */
  readonly session?: number | null;
}

/** The values of one moment, by the name of the metric. */
interface Moment {
  readonly atUs: number;
  readonly session: number | null;
  readonly values: Readonly<Record<string, number>>;
}

/** While the disk is full: five minutes of them. */
const MOST_WAITING = 300;

type SessionKind = 'boot' | 'flight';

/** Writes to the database; its only writer. All calls are synchronous and short. */
export class LogStore {
  readonly #db: DatabaseSync;
  readonly #path: string;
  readonly #limits: StoreLimits;
  readonly #nowUs: () => number;
  readonly #kernel: typeof bootTime;
  readonly #insertLog: StatementSync;
  readonly #insertEvent: StatementSync;
  readonly #insertSample: StatementSync;
  readonly #saveShipper: StatementSync;
  readonly #metricIds = new Map<string, number>();
  /** Values that are not on disk yet. */
  #waiting: Moment[] = [];
  #boot: number | null = null;
  #flight: number | null = null;
  accepted = 0;

  /** @param nowUs wall clock, microseconds since 1970 @param kernel the machine's boot and uptime, by which records age */
  constructor(
    db: DatabaseSync,
    path: string,
    limits: StoreLimits,
    nowUs: () => number,
    kernel: typeof bootTime = bootTime,
  ) {
    this.#db = db;
    this.#path = path;
    this.#limits = limits;
    this.#nowUs = nowUs;
    this.#kernel = kernel;
    this.#insertLog = db.prepare(
      'INSERT INTO logs (ts_us, session, source, level, msg, fields) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.#insertEvent = db.prepare(
      'INSERT INTO events (ts_us, session, kind, source, severity, detail) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.#insertSample = db.prepare(
      'INSERT OR REPLACE INTO samples (ts_us, metric, value, session) VALUES (?, ?, ?, ?)',
    );
    this.#saveShipper = db.prepare(
      'INSERT INTO shippers (id, last_seq, seen_us) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET last_seq = excluded.last_seq, seen_us = excluded.seen_us',
    );
  }

  /** The newest record of a shipper on disk, 0 for a new shipper. */
  lastSeq(shipper: string): number {
    const row = this.#db.prepare('SELECT last_seq FROM shippers WHERE id = ?').get(shipper);
    return row === undefined ? 0 : Number(row['last_seq']);
  }

  /** Stores records and the number of the shipper's newest one, in one transaction. */
  append(shipper: string, records: readonly NumberedRecord[]): void {
    const last = records.at(-1);
    if (last === undefined) return;
    inTransaction(this.#db, () => {
      for (const { record, session = this.session } of records) {
        const { tsUs, source, level, message, fields } = record;
        this.#insertLog.run(
          tsUs,
          session,
          source,
          LOG_LEVELS.indexOf(level),
          message,
          fields === null ? null : JSON.stringify(fields),
        );
      }
      this.#saveShipper.run(shipper, last.seq, this.#nowUs());
    });
    this.accepted += records.length;
  }

  /** @param session the innermost open one, unless it says otherwise */
  event(
    kind: string,
    source: string,
    severity: number,
    detail: JsonObject = {},
    session: number | null = this.session,
  ): void {
    this.#insertEvent.run(this.#nowUs(), session, kind, source, severity, JSON.stringify(detail));
  }

  /** The newest event of these kinds since the node was started; null for none. */
  newestOf(kinds: readonly string[]): string | null {
    const marks = kinds.map(() => '?').join(', ');
    const row = this.#db
      .prepare(`SELECT kind FROM events WHERE kind IN (${marks}) AND session >= ? ORDER BY id DESC LIMIT 1`)
      .get(...kinds, this.#boot ?? 0);
    return row === undefined ? null : String(row['kind']);
  }

  /** The values of this moment. `flush` stores them: each write costs the card a few pages, however little it is. */
  metrics(values: Readonly<Record<string, number>>): void {
    this.#waiting.push({ atUs: this.#nowUs(), session: this.session, values });
    if (this.#waiting.length > MOST_WAITING) this.#waiting.shift();
  }

  /** Stores the values that wait; if it fails, they wait on. */
  flush(): void {
    if (this.#waiting.length === 0) return;
    inTransaction(this.#db, () => {
      for (const { atUs, session, values } of this.#waiting)
        for (const [name, value] of Object.entries(values))
          this.#insertSample.run(atUs, this.#metricId(name), value, session);
    });
    this.#waiting = [];
  }

  /** Opens a session. An open session of the same kind that was never closed (power cut) ends at its newest record. */
  beginSession(kind: SessionKind, reason: string, meta: JsonObject = {}): void {
    inTransaction(this.#db, () => {
      // A new boot also ends an open flight.
      const open = this.#db
        .prepare("SELECT id, started_us FROM sessions WHERE ended_us IS NULL AND (kind = ? OR ? = 'boot')")
        .all(kind, kind);
      for (const { id, started_us: started } of open) {
        const newest = this.#db
          .prepare('SELECT max(ts_us) AS ts FROM logs WHERE session = ?')
          .get(id ?? null);
        this.#db
          .prepare(
            "UPDATE sessions SET ended_us = ?, reason = coalesce(reason, '') || ' (cut off)' WHERE id = ?",
          )
          .run(newest?.['ts'] ?? started ?? 0, id ?? null);
      }
      const { lastInsertRowid } = this.#db
        .prepare('INSERT INTO sessions (kind, started_us, reason, meta) VALUES (?, ?, ?, ?)')
        .run(
          kind,
          this.#nowUs(),
          reason,
          JSON.stringify(kind === 'flight' ? { ...meta, number: this.#nextNumber() } : meta),
        );
      if (kind === 'boot') this.#boot = Number(lastInsertRowid);
      else this.#flight = Number(lastInsertRowid);
    });
  }

  /** Flights have numbers of their own, from 1, which they keep when older ones are deleted. */
  #nextNumber(): number {
    const row = this.#db
      .prepare(
        "SELECT count(*) AS n, max(json_extract(meta, '$.number')) AS newest FROM sessions WHERE kind = 'flight'",
      )
      .get();
    return Math.max(Number(row?.['n'] ?? 0), Number(row?.['newest'] ?? 0)) + 1;
  }

  endSession(kind: SessionKind): void {
    const id = kind === 'boot' ? this.#boot : this.#flight;
    if (id === null) return;
    this.#db.prepare('UPDATE sessions SET ended_us = ? WHERE id = ?').run(this.#nowUs(), id);
    if (kind === 'boot') this.#boot = null;
    else this.#flight = null;
  }

  /** Continues the boot session of this run of the node, if there is one: only the residual was restarted. */
  resumeBoot(bootId: string): boolean {
    const row = this.#db
      .prepare(
        "SELECT id FROM sessions WHERE kind = 'boot' AND ended_us IS NULL AND json_extract(meta, '$.boot') = ?",
      )
      .get(bootId);
    if (row === undefined) return false;
    this.#boot = Number(row['id']);
    return true;
  }

  /** Continues a flight that was open when the residual was restarted. */
  resumeFlight(): boolean {
    const row = this.#db
      .prepare("SELECT id FROM sessions WHERE kind = 'flight' AND ended_us IS NULL ORDER BY id DESC LIMIT 1")
      .get();
    if (row === undefined) return false;
    this.#flight = Number(row['id']);
    return true;
  }

  /** Deletes what is too old or too much, in short steps. @param stopped ends it between two of them */
  async retain(stopped: AbortSignal): Promise<{ readonly deleted: number }> {
    const retention = new Retention(this.#db, this.#path, this.#limits, stopped);
    return { deleted: await retention.run(this.#nowUs(), this.#kernel()) };
  }

  /** The id of the log record that was stored last, 0 for none. */
  newestId(): number {
    return Number(this.#db.prepare('SELECT max(id) AS id FROM logs').get()?.['id'] ?? 0);
  }

  close(): void {
    this.#db.close();
  }

  /** The innermost open session. */
  get session(): number | null {
    return this.#flight ?? this.#boot;
  }

  #metricId(name: string): number {
    const known = this.#metricIds.get(name);
    if (known !== undefined) return known;
    this.#db.prepare('INSERT OR IGNORE INTO metric_names (name) VALUES (?)').run(name);
    const id = Number(this.#db.prepare('SELECT id FROM metric_names WHERE name = ?').get(name)?.['id']);
    this.#metricIds.set(name, id);
    return id;
  }
}
