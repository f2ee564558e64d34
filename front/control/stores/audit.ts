import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { every } from '../../../shared/async/every.ts';
import type { AuditRecord } from '../../../shared/audit/chain.ts';
import { ChainedLog, type ChainedLogOptions } from '../../../shared/audit/chained-log.ts';
import { auditKey, headFile, readHead, readKey } from '../../../shared/audit/head.ts';
import {
  type ChainReport,
  type FilesVerdict,
  reportFiles,
  verifyFiles,
} from '../../../shared/audit/verify.ts';
import type { PrincipalKind } from '../../../shared/auth/principal.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { AUDIT_FILE, type Paths, PROGRAMS_FILE, STRANGERS_FILE } from '../../../shared/paths.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { type Noted, RefusalTally } from './refusal-tally.ts';

/** How many files are kept: the open one and those before it. */
export const AUDIT_FILES = 5;
/** Of operators, while the oldest has a record of the last 30 days. */
export const MOST_AUDIT_FILES = 20;
const PROGRAMS_FILES = 4;
const STRANGERS_FILES = 3;

const KEEP_MS = 30 * 24 * 60 * 60 * 1000;
const MAX_BYTES = 8 * 1024 * 1024;
/** A fifth of the operators' space in all. */
const MAX_PROGRAM_BYTES = 2 * 1024 * 1024;
const MAX_STRANGER_BYTES = 4 * 1024 * 1024;
const FLUSH_MS = 5000;
const MODES = { directory: 0o750, file: 0o640 } as const;
/** Callers without a credential. Their changes are in the operators' files, their refusals are not. */
const STRANGERS: ReadonlySet<string> = new Set<PrincipalKind>(['anonymous', 'gate']);
/** Callers that may be a program: however much one writes, the operators' records stay. */
const PROGRAMS: ReadonlySet<string> = new Set<PrincipalKind>([
  'token',
  'ticket',
  'extension',
  'relay',
  'fleet',
]);

interface AuditOptions {
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
  readonly #operators: Chain;
  readonly #programs: Chain;
  readonly #strangers: Chain;
  readonly #tally: RefusalTally;
  #timer: NodeJS.Timeout | null = null;
  #lost = 0;
  #problem: string | null = null;
  #broken: string | null = null;
  #check: Promise<AuditReport> | null = null;

  constructor(options: AuditOptions) {
    this.#options = options;
    const { now, monotonic, maxBytes } = options;
    this.#operators = this.#chain(AUDIT_FILE, maxBytes ?? MAX_BYTES, AUDIT_FILES, {
      keep: { ms: KEEP_MS, files: MOST_AUDIT_FILES },
    });
    this.#programs = this.#chain(PROGRAMS_FILE, maxBytes ?? MAX_PROGRAM_BYTES, PROGRAMS_FILES);
    this.#strangers = this.#chain(STRANGERS_FILE, maxBytes ?? MAX_STRANGER_BYTES, STRANGERS_FILES);
    this.#tally = new RefusalTally(monotonic, now);
  }

  #chain(name: string, maxBytes: number, files: number, more: Pick<ChainedLogOptions, 'keep'> = {}): Chain {
    const { directory, keyFile, heads, now } = this.#options;
    const open = new Set<number>();
    const anchor = { file: anchorOf(heads, name), open: () => open.values().next().value ?? null };
    const common = { keyFile, modes: MODES, now, path: join(directory, name) };
    return { name, open, log: new ChainedLog({ ...common, ...more, maxBytes, files, anchor }) };
  }

  get #chains(): readonly Chain[] {
    return [this.#operators, this.#programs, this.#strangers];
  }

  /** Never throws: without an audit the node runs, and requests that need one are refused. */
  start(): void {
    const { log, keyFile, directory } = this.#options;
    let isNew = false;
    try {
      isNew = auditKey(keyFile).isNew || isOfOlderVersion(directory, keyFile);
    } catch (error) {
      this.#problem = messageOf(error);
    }
    for (const chain of this.#chains) {
      try {
        const broken = chain.log.start(isNew);
        if (broken !== null) {
          this.#broken = `${chain.name}: ${broken}`;
          log.error(`audit: ${this.#broken}`);
        }
        if (chain !== this.#strangers) this.#settleUnknown(chain.log);
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
    for (const { log } of this.#chains) {
      try {
        log.stop();
      } catch (error) {
        this.#options.log.error(`audit: ${messageOf(error)}`);
      }
    }
  }

  /** The newest record of the operators that is on the disk, for whoever keeps it away from this node; null before there is one. */
  get proved(): ChainedLog['proved'] {
    return this.#operators.log.proved;
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
    const reports: ChainReport[] = [];
    for (const { path, files, more } of placesOf(directory, keyFile, heads))
      reports.push(await reportFiles(path, files, keyFile, more));
    const files = reports.flatMap((report) => report.files);
    return {
      ok: files.every(({ broken }) => broken === null),
      head_not_checked: reports.find((report) => report.head_not_checked !== null)?.head_not_checked ?? null,
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
    const open = isStranger || of === undefined ? null : this.#chainOf(noted ?? announced).open;
    if (of !== undefined) open?.add(of);
    let isSettled = false;
    return {
      settle: (status, outcome) => {
        if (isSettled) return;
        isSettled = true;
        if (of !== undefined) open?.delete(of);
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
    const { log } = this.#chainOf(record);
    try {
      log.append(record);
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
    this.#options.copy?.info(`${route ?? 'no route'}: ${outcome}`, { ...record, seq: log.seq });
    return log.seq;
  }

  #chainOf({ principal_kind: kind, status = 400 }: Noted): Chain {
    if (PROGRAMS.has(kind)) return this.#programs;
    return STRANGERS.has(kind) && status >= 400 ? this.#strangers : this.#operators;
  }

  #flush(all: boolean): void {
    for (const record of this.#tally.take(all)) this.#write(record);
  }
}

interface Chain {
  readonly name: string;
  readonly log: ChainedLog;
  /** Numbers of the records that were announced and are not settled, oldest first. */
  readonly open: Set<number>;
}

/** The check behind `svc audit verify`: operators, programs, strangers. */
export function verifyAudit({
  auditDir,
  auditKey: keyFile,
  auditHeads,
}: Pick<Paths, 'auditDir' | 'auditKey' | 'auditHeads'>): readonly FilesVerdict[] {
  return placesOf(auditDir, keyFile, auditHeads).map(({ path, files, more }) =>
    verifyFiles(path, files, keyFile, more),
  );
}

function placesOf(directory: string, keyFile: string, heads: string) {
  const place = (name: string, files: number, most = files) => {
    const anchor = anchorOf(heads, name);
    // An older version had no chain of programs.
    const isThere = name !== PROGRAMS_FILE || existsSync(anchor) || !isOfOlderVersion(directory, keyFile);
    return { path: join(directory, name), files, more: { most, anchor: isThere ? anchor : null } };
  };
  return [
    place(AUDIT_FILE, AUDIT_FILES, MOST_AUDIT_FILES),
    place(PROGRAMS_FILE, PROGRAMS_FILES),
    place(STRANGERS_FILE, STRANGERS_FILES),
  ];
}

/** Whether the operators' chain was last written by a version that kept no head outside of the folder. */
function isOfOlderVersion(directory: string, keyFile: string): boolean {
  try {
    const key = readKey(keyFile);
    const head = key === null ? null : readHead(headFile(join(directory, AUDIT_FILE)), key);
    return head !== null && typeof head !== 'string' && !head.anchored;
  } catch {
    return false; // the check itself says what cannot be read
  }
}

function anchorOf(heads: string, name: string): string {
  return join(heads, `${name}.head`);
}
