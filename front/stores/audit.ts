import { join } from 'node:path';
import type { AuditRecord } from '../../shared/audit/chain.ts';
import { ChainedLog } from '../../shared/audit/chained-log.ts';
import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';

export const AUDIT_FILE = 'audit.ndjson';
/** How many files are kept: the open one and those before it. */
export const AUDIT_FILES = 5;

const MAX_BYTES = 8 * 1024 * 1024;

export interface AuditOptions {
  readonly directory: string;
  /** Wall clock, ms. */
  readonly now: () => number;
  readonly log: Logger;
  /** Gets a copy of each record that is on disk, for the log store to be asked about. */
  readonly copy?: Logger;
  readonly maxBytes?: number;
}

/**
 * The audit: one record for every refusal and every request that changes something (spec/decisions.md 4), appended to a
 * hash-chained file, turned over at 8 MiB.
 */
export class AuditLog {
  readonly #options: AuditOptions;
  readonly #file: ChainedLog;
  /** Records that could not be written. */
  lost = 0;

  constructor(options: AuditOptions) {
    this.#options = options;
    this.#file = new ChainedLog({
      path: join(options.directory, AUDIT_FILE),
      maxBytes: options.maxBytes ?? MAX_BYTES,
      files: AUDIT_FILES,
      modes: { directory: 0o750, file: 0o640 },
      now: options.now,
    });
  }

  /** @throws the file system's error */
  start(): void {
    this.#file.start();
  }

  stop(): void {
    this.#file.stop();
  }

  /** Writes one record. Never throws: a full disk must not stop the node, but it is counted and said. */
  write(record: Omit<AuditRecord, 'time'>): void {
    try {
      this.#file.append(record);
    } catch (error) {
      this.lost++;
      this.#options.log.error(
        `audit: a record could not be written (${this.lost} so far): ${messageOf(error)}`,
      );
      return;
    }
    const { route, outcome } = record;
    this.#options.copy?.info(`${route ?? 'no route'}: ${outcome}`, { ...record, seq: this.#file.seq });
  }
}
