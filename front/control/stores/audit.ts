import { join } from 'node:path';
import { every } from '../../../shared/async/every.ts';
import type { AuditRecord } from '../../../shared/audit/chain.ts';
import { ChainedLog } from '../../../shared/audit/chained-log.ts';
import { auditKey } from '../../../shared/audit/head.ts';
import {
  type ChainReport,
  type FilesVerdict,
  reportFiles,
  verifyFiles,
} from '../../../shared/audit/verify.ts';
import type { PrincipalKind } from '../../../shared/auth/principal.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { AUDIT_FILE, type Paths, STRANGERS_FILE } from '../../../shared/paths.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { type Noted, RefusalTally } from './refusal-tally.ts';

/** How many files are kept: the open one and those before it. */
export const AUDIT_FILES = 5;
const STRANGERS_FILES = 3;

const MAX_BYTES = 8 * 1024 * 1024;
const MAX_STRANGER_BYTES = 4 * 1024 * 1024;
const FLUSH_MS = 5000;
const MODES = { directory: 0o750, file: 0o640 } as const;
/** Callers without a credential. Their changes are in the operators' files, their refusals are not. */
const STRANGERS: ReadonlySet<string> = new Set<PrincipalKind>(['anonymous', 'gate']);

export interface AuditOptions {
  readonly directory: string;
  /** The key that signs the heads of the chains. */
  readonly keyFile: string;
  /** Where the heads are kept once more, outside of the directory. */
  readonly heads: string;
  /** Wall clock, ms. */
  readonly now: () => number;
  /** Monotonic clock, ms. */
  readonly monotonic: () => number;
  readonly log: Logger;
  /** Gets a copy of each record that is on disk, for queries in the log store. */
  readonly copy?: Logger;
  readonly maxBytes?: number;
}

/** A change in progress; settled once, when its outcome is known. */
export interface Announced {
  /** @param status of the answer @param outcome `done`, or the code of the error */
  settle(status: number, outcome: string): void;
}

export interface AuditState {
  /** Records that could not be written since the start. */
  readonly lost: number;
  /** Why records cannot be written at the moment. */
  readonly problem: string | null;
  /** Problems found in the existing files at the start. */
  readonly broken: string | null;
}

/** Whether the chains are whole, as GET /api/audit/verify answers. */
export interface AuditReport extends ChainReport {
  readonly ok: boolean;
}

/**
 * The audit: every refusal, and every request that changes something or reads a secret, announced before it runs and settled
 * after it ran (docs/contract.md 4), in hash-chained files.
 */
export class AuditLog {
  readonly #options: AuditOptions;
  readonly #operators: ChainedLog;
  readonly #strangers: ChainedLog;
  readonly #tally: RefusalTally;
  /** Numbers of the operators' records that were announced and are not settled, oldest first. */
  readonly #open = new Set<number>();
  #timer: NodeJS.Timeout | null = null;
  #lost = 0;
  #problem: string | null = null;
  #broken: string | null = null;
  #check: Promise<AuditReport> | null = null;

  constructor(options: AuditOptions) {
    this.#options = options;
    const { directory, keyFile, heads, now, monotonic, maxBytes } = options;
    const common = { keyFile, modes: MODES, now };
    this.#operators = new ChainedLog({
      ...common,
      path: join(directory, AUDIT_FILE),
      maxBytes: maxBytes ?? MAX_BYTES,
      files: AUDIT_FILES,
      anchor: { file: anchorOf(heads, AUDIT_FILE), open: () => this.#open.values().next().value ?? null },
    });
    this.#strangers = new ChainedLog({
      ...common,
      path: join(directory, STRANGERS_FILE),
      maxBytes: maxBytes ?? MAX_STRANGER_BYTES,
      files: STRANGERS_FILES,
      anchor: { file: anchorOf(heads, STRANGERS_FILE), open: () => null },
    });
    this.#tally = new RefusalTally(monotonic, now);
  }

  /** Never throws: without an audit the node runs, and requests that need one are refused. */
  start(): void {
    const { log, keyFile } = this.#options;
    let isNew = false;
    try {
      isNew = auditKey(keyFile).isNew;
    } catch (error) {
      this.#problem = messageOf(error);
    }
    for (const [name, file] of [
      [AUDIT_FILE, this.#operators],
      [STRANGERS_FILE, this.#strangers],
    ] as const) {
      try {
        const broken = file.start(isNew);
        if (broken !== null) {
          this.#broken = `${name}: ${broken}`;
          log.error(`audit: ${this.#broken}`);
        }
        if (file !== this.#strangers) this.#settleUnknown(file);
      } catch (error) {
        this.#problem = messageOf(error);
        log.error(`audit: ${this.#problem}`);
      }
    }
    this.#timer = every(FLUSH_MS, 'audit', () => this.#flush(false));
  }

  /** What was under way when the last process was killed: nobody knows what came of it, and the audit says so. */
  #settleUnknown(file: ChainedLog): void {
    const announced = new Map<number, AuditRecord>();
    for (const { seq, prev: _prev, ...record } of file.sinceOpen()) {
      if (record.of !== undefined) announced.delete(record.of);
      else if (record.outcome === 'announced') announced.set(seq, record);
    }
    for (const [of, { time: _time, ...record }] of announced)
      this.#write({ ...record, outcome: 'unknown', of });
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#flush(true);
    for (const file of [this.#operators, this.#strangers]) {
      try {
        file.stop();
      } catch (error) {
        this.#options.log.error(`audit: ${messageOf(error)}`);
      }
    }
  }

  get state(): AuditState {
    return { lost: this.#lost, problem: this.#problem, broken: this.#broken };
  }

  /** As `svc audit verify`, while the node works. One check runs at a time, for all who ask. @throws ApiError E_STORE */
  async verify(): Promise<AuditReport> {
    this.#check ??= this.#report()
      .catch((error: unknown) => {
        throw new ApiError('E_STORE', `The audit cannot be read: ${messageOf(error)}.`);
      })
      .finally(() => {
        this.#check = null;
      });
    return this.#check;
  }

  async #report(): Promise<AuditReport> {
    const { directory, keyFile, heads } = this.#options;
    const report = async (name: string, files: number): Promise<ChainReport> =>
      reportFiles(join(directory, name), files, keyFile, anchorOf(heads, name));
    const operators = await report(AUDIT_FILE, AUDIT_FILES);
    const strangers = await report(STRANGERS_FILE, STRANGERS_FILES);
    const files = [...operators.files, ...strangers.files];
    return {
      ok: files.every(({ broken }) => broken === null),
      head_not_checked: operators.head_not_checked ?? strangers.head_not_checked,
      files,
    };
  }

  /** Records a refused request. @param peer the peer that it is counted for */
  refused(peer: string, record: Noted): void {
    const noted = this.#tally.add(peer, record);
    if (noted !== null) this.#write(noted);
  }

  /** Records a change that is about to happen. @returns null if that could not be written */
  announce(peer: string, record: Omit<Noted, 'outcome'>): Announced | null {
    const isStranger = STRANGERS.has(record.principal_kind);
    const announced = { ...record, outcome: 'announced' };
    // Changes by callers without a credential are counted like refusals until one succeeds, so that they cannot fill the files.
    const noted = isStranger ? this.#tally.add(peer, announced) : announced;
    const of = noted === null ? undefined : this.#write(noted);
    if (of === null) return null;
    if (of !== undefined && !isStranger) this.#open.add(of);
    let open = true;
    return {
      settle: (status, outcome) => {
        if (!open) return;
        open = false;
        if (of !== undefined && !isStranger) this.#open.delete(of);
        const settled = { ...record, status, outcome, ...(of === undefined || isStranger ? {} : { of }) };
        if (isStranger && status >= 400) this.refused(peer, settled);
        else this.#write(settled);
      },
    };
  }

  /**
   * Never throws: a full disk must not stop the node, but lost records are counted and logged. @returns its number, null if it
   * is lost
   */
  #write(record: Noted): number | null {
    const isDone = (record.status ?? 400) < 400;
    const file = STRANGERS.has(record.principal_kind) && !isDone ? this.#strangers : this.#operators;
    try {
      file.append(record);
    } catch (error) {
      this.#lost++;
      const problem = messageOf(error);
      if (problem !== this.#problem)
        this.#options.log.error(`audit: records cannot be written (${this.#lost} lost so far): ${problem}`);
      this.#problem = problem;
      return null;
    }
    this.#problem = null;
    const { route, outcome } = record;
    this.#options.copy?.info(`${route ?? 'no route'}: ${outcome}`, { ...record, seq: file.seq });
    return file.seq;
  }

  #flush(all: boolean): void {
    for (const record of this.#tally.take(all)) this.#write(record);
  }
}

/** The check behind `svc audit verify`. */
export function verifyAudit({
  auditDir,
  auditKey: keyFile,
  auditHeads,
}: Pick<Paths, 'auditDir' | 'auditKey' | 'auditHeads'>): readonly FilesVerdict[] {
  const verify = (name: string, files: number): FilesVerdict =>
    verifyFiles(join(auditDir, name), files, keyFile, anchorOf(auditHeads, name));
  return [verify(AUDIT_FILE, AUDIT_FILES), verify(STRANGERS_FILE, STRANGERS_FILES)];
}

function anchorOf(heads: string, name: string): string {
  return join(heads, `${name}.head`);
}
