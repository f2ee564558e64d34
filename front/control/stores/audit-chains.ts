import { closeSync, constants, fdatasyncSync, mkdirSync, openSync, statfsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AuditRecord } from '../../../shared/audit/chain.ts';
import { ChainedLog, type ChainedLogOptions } from '../../../shared/audit/chained-log.ts';
import { auditKey } from '../../../shared/audit/head.ts';
import { messageOf } from '../../../shared/errors.ts';
import { AUDIT_FILE, PROGRAMS_FILE, STRANGERS_FILE } from '../../../shared/paths.ts';
import {
  AUDIT_FILES,
  type AuditPlaces,
  anchorOf,
  isOfOlderVersion,
  MOST_AUDIT_FILES,
  PROGRAMS_FILES,
  STRANGERS_FILES,
} from './audit-files.ts';

const KEEP_MS = 30 * 24 * 60 * 60 * 1000;
const MAX_BYTES = 8 * 1024 * 1024;
/** A fifth of the operators' space in all. */
const MAX_PROGRAM_BYTES = 2 * 1024 * 1024;
const MAX_STRANGER_BYTES = 4 * 1024 * 1024;
const MODES = { directory: 0o750, file: 0o640 } as const;
const PROBE = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW;

export type ChainName = 'operators' | 'programs' | 'strangers';

/** One record to write. */
export interface AuditWrite {
  /** Names it in the answer. */
  readonly id: number;
  readonly chain: ChainName;
  readonly record: AuditRecord;
  /** Wall clock for the age of records, ms: one that jumps ahead makes none old. */
  readonly believedMs: number;
  /** Whether it announces what another record settles. */
  readonly opens: boolean;
  /** The `id` of the one that announced it. */
  readonly settles: number | null;
}

type Proved = ChainedLog['proved'];

/** What the writer of the audit answers. */
export type AuditAnswer =
  | { readonly kind: 'started'; readonly broken: string | null; readonly problem: string | null }
  | { readonly kind: 'written'; readonly id: number; readonly seq: number; readonly proved: Proved }
  | { readonly kind: 'failed'; readonly id: number; readonly problem: string }
  | { readonly kind: 'probed'; readonly id: number; readonly problem: string | null }
  /** A record of its own: what was under way when the last process was killed. */
  | { readonly kind: 'unknown'; readonly seq: number; readonly record: AuditRecord }
  | { readonly kind: 'stopped'; readonly proved: Proved; readonly problem: string | null };

/** Writes the records, one after the other, and answers each. */
export interface AuditWriter {
  /** Answers `started` when records can be written. @param nowMs wall clock */
  start(nowMs: number, answer: (answer: AuditAnswer) => void): void;
  write(write: AuditWrite): void;
  /** Answers `probed` when the disk has taken something, of which nothing stays, or has refused it. */
  probe(id: number): void;
  /** Answers `stopped`. */
  stop(): Promise<void> | void;
}

export interface AuditFileOptions extends AuditPlaces {
  readonly maxBytes?: number;
}

interface Chain {
  readonly name: string;
  readonly log: ChainedLog;
  /** Of the records that were announced and are not settled, oldest first: their number, by their id. */
  readonly open: Map<number, number>;
}

/** The chained files of the audit. Each call waits for the disk, so the node has them in a thread (audit-writer.ts). */
export class AuditChains implements AuditWriter {
  readonly #options: AuditFileOptions;
  readonly #chains: Readonly<Record<ChainName, Chain>>;
  #answer: (answer: AuditAnswer) => void = () => undefined;
  /** Time of the newest record. */
  #nowMs = 0;
  #believedMs = 0;

  constructor(options: AuditFileOptions) {
    this.#options = options;
    const { maxBytes } = options;
    this.#chains = {
      operators: this.#chain(AUDIT_FILE, maxBytes ?? MAX_BYTES, AUDIT_FILES, {
        keep: { ms: KEEP_MS, files: MOST_AUDIT_FILES, now: () => this.#believedMs },
      }),
      programs: this.#chain(PROGRAMS_FILE, maxBytes ?? MAX_PROGRAM_BYTES, PROGRAMS_FILES),
      strangers: this.#chain(STRANGERS_FILE, maxBytes ?? MAX_STRANGER_BYTES, STRANGERS_FILES),
    };
  }

  #chain(name: string, maxBytes: number, files: number, more: Pick<ChainedLogOptions, 'keep'> = {}): Chain {
    const { directory, keyFile, heads } = this.#options;
    const open = new Map<number, number>();
    const anchor = { file: anchorOf(heads, name), open: () => open.values().next().value ?? null };
    const common = { keyFile, modes: MODES, now: () => this.#nowMs, path: join(directory, name) };
    return { name, open, log: new ChainedLog({ ...common, ...more, maxBytes, files, anchor }) };
  }

  /** Never throws: without an audit the node runs, and requests that need one are refused. */
  start(nowMs: number, answer: (answer: AuditAnswer) => void): void {
    this.#answer = answer;
    this.#nowMs = nowMs;
    const { keyFile } = this.#options;
    let broken: string | null = null;
    let problem: string | null = null;
    let isNew = false;
    try {
      isNew = auditKey(keyFile).isNew || isOfOlderVersion(this.#options);
    } catch (error) {
      problem = messageOf(error);
    }
    const { operators, programs, strangers } = this.#chains;
    for (const chain of [operators, programs, strangers]) {
      try {
        const found = chain.log.start(isNew);
        if (found !== null) broken = `${chain.name}: ${found}`;
        if (chain !== strangers) this.#settleUnknown(chain.log);
      } catch (error) {
        problem = messageOf(error);
      }
    }
    answer({ kind: 'started', broken, problem });
  }

  /** What was under way when the last process was killed: nobody knows what came of it, and the audit says so. */
  #settleUnknown(log: ChainedLog): void {
    const announced = new Map<number, AuditRecord>();
    for (const { seq, prev: _prev, ...record } of log.sinceOpen()) {
      if (record.of !== undefined) announced.delete(record.of);
      else if (record.outcome === 'announced') announced.set(seq, record);
    }
    const time = new Date(this.#nowMs).toISOString();
    for (const [of, record] of announced) {
      const unknown = { ...record, time, outcome: 'unknown', of };
      log.append(unknown);
      this.#answer({ kind: 'unknown', seq: log.seq, record: unknown });
    }
  }

  /** Never throws: a full disk must not stop the node. */
  write({ id, chain, record, believedMs, opens, settles }: AuditWrite): void {
    const { log, open } = this.#chains[chain];
    const of = settles === null ? undefined : open.get(settles);
    if (settles !== null) open.delete(settles);
    this.#nowMs = Date.parse(record.time);
    this.#believedMs = believedMs;
    try {
      log.append(of === undefined ? record : { ...record, of });
    } catch (error) {
      this.#answer({ kind: 'failed', id, problem: messageOf(error) });
      return;
    }
    if (opens) open.set(id, log.seq);
    this.#answer({ kind: 'written', id, seq: log.seq, proved: this.#proved });
  }

  /**
   * Opens a file as a writer and lets the disk finish what it has, which costs no cell of a card, and waits as long as any
   * write would.
   */
  probe(id: number): void {
    const file = join(this.#options.heads, 'probe');
    let problem: string | null = null;
    try {
      mkdirSync(dirname(file), { recursive: true, mode: MODES.directory });
      const fd = openSync(file, PROBE, 0o600);
      try {
        fdatasyncSync(fd);
      } finally {
        closeSync(fd);
      }
      if (statfsSync(dirname(file)).bavail === 0) problem = `the disk of ${dirname(file)} is full (ENOSPC)`;
    } catch (error) {
      problem = messageOf(error);
    }
    this.#answer({ kind: 'probed', id, problem });
  }

  stop(): void {
    let problem: string | null = null;
    for (const { log } of Object.values(this.#chains)) {
      try {
        log.stop();
      } catch (error) {
        problem = messageOf(error);
      }
    }
    this.#answer({ kind: 'stopped', proved: this.#proved, problem });
  }

  get #proved(): Proved {
    return this.#chains.operators.log.proved;
  }
}
