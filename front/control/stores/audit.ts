import { type Deferred, deferred } from '../../../shared/async/deferred.ts';
import { every } from '../../../shared/async/every.ts';
import { within } from '../../../shared/async/within.ts';
import type { AuditRecord } from '../../../shared/audit/chain.ts';
import type { ChainedLog } from '../../../shared/audit/chained-log.ts';
import { type ChainReport, reportFiles } from '../../../shared/audit/verify.ts';
import type { PrincipalKind } from '../../../shared/auth/principal.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Made } from '../../../shared/schemas/made.ts';
import type { diagnostics } from '../../../shared/schemas/node.ts';
import type { AuditAnswer, AuditWriter, ChainName } from './audit-chains.ts';
import { type AuditPlaces, chainPlaces } from './audit-files.ts';
import { type Noted, RefusalTally } from './refusal-tally.ts';

const FLUSH_MS = 5000;
/** How long a request waits for its record. */
const WAIT_MS = 1000;
/** How long a start waits for the files; without them the node runs as on a disk that is full. */
const START_MS = 5000;
/** While nothing else is written, the disk is tried so often, so that it is known before somebody needs it. */
const PROBE_MS = 1500;
/** A disk that takes longer stands still. */
const STALL_MS = 2000;
/** The system's words for a disk that takes nothing. */
const OF_DISK = /\b(?:ENOSPC|EDQUOT|EROFS|EIO)\b/;
/** Records that wait for the disk. */
const MOST_WAITING = { records: 4096, chars: 4 * 1024 * 1024 } as const;
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

interface AuditOptions extends AuditPlaces {
  readonly writer: AuditWriter;
  /** Wall clock, ms. */
  readonly now: () => number;
  /** The same for the age of records, where a clock that jumps ahead makes none old; absent: `now`. */
  readonly believed?: () => number;
  /** Monotonic clock, ms. */
  readonly monotonic: () => number;
  readonly log: Logger;
  /** Gets a copy of each record that was written, for queries in the log store. */
  readonly copy?: Logger;
}

/** A change in progress; settled once, when its outcome is known. */
export interface Announced {
  /** Whether its record is in the files: false if it cannot be written, or was not within a second. */
  written(): Promise<boolean>;
  /** @param status of the answer @param outcome `done`, or the code of the error */
  settle(status: number, outcome: string): void;
}

export type AuditState = Made<typeof diagnostics>['audit'];

/** Whether the chains are whole, as GET /api/audit/verify answers. */
export interface AuditReport extends ChainReport {
  readonly ok: boolean;
}

/** Something that the writer was given. */
interface QueuedRecord {
  readonly id: number;
  /** Null for a probe of the disk. */
  readonly record: AuditRecord | null;
  readonly chars: number;
  /** Monotonic, ms. */
  readonly at: number;
  readonly answered: Deferred<void>;
  /** Null before the writer has answered. */
  ok: boolean | null;
}

/**
 * The audit: every refusal, and every request that changes something or reads a secret, announced before it runs and settled
 * after it ran (docs/contract/edge.md), in hash-chained files. Nothing here waits for the disk: records are given to a writer in
 * order, and wait in memory, up to a limit, while the disk stands still.
 */
export class AuditLog {
  readonly #options: AuditOptions;
  readonly #tally: RefusalTally;
  /** What the writer has not answered, oldest first. */
  readonly #waiting = new Map<number, QueuedRecord>();
  readonly #started = deferred();
  #chars = 0;
  #last = 0;
  #timers: readonly NodeJS.Timeout[] = [];
  #lost = 0;
  #problem: string | null = null;
  /** Why the disk takes nothing, as the newest probe found. */
  #refusal: string | null = null;
  #broken: string | null = null;
  #proved: ChainedLog['proved'] = null;
  #toldStall = false;
  #check: Promise<AuditReport> | null = null;

  constructor(options: AuditOptions) {
    this.#options = options;
    this.#tally = new RefusalTally(options.monotonic, options.now);
  }

  /** Never fails: without an audit the node runs, and requests that need one are refused. */
  async start(): Promise<void> {
    const { writer, now, log } = this.#options;
    writer.start(now(), (answer) => this.#onAnswer(answer));
    this.#timers = [
      every(FLUSH_MS, 'audit', () => this.#flush(false)),
      every(PROBE_MS, 'audit', () => this.#probe()),
    ];
    try {
      await within(this.#started.promise, START_MS, () => new Error(`no answer within ${START_MS} ms`));
    } catch (error) {
      this.#problem ??= `its files cannot be opened: ${messageOf(error)}`;
      log.error(`audit: ${this.#problem}`);
    }
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#flush(true);
    await this.#options.writer.stop();
  }

  /** The newest record of the operators that is on the disk, for whoever keeps it away from this node; null before there is one. */
  get proved(): ChainedLog['proved'] {
    return this.#proved;
  }

  get state(): AuditState {
    const stalled = this.#stalled;
    const disk = stalled ?? withHelp(this.#refusal);
    return {
      lost: this.#lost,
      problem: disk ?? withHelp(this.#problem),
      stalled,
      disk,
      broken: this.#broken,
    };
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
    const newest = [...this.#waiting.values()].at(-1);
    if (newest !== undefined) await this.#written(newest);
    const { keyFile } = this.#options;
    const reports: ChainReport[] = [];
    for (const { path, files, more } of chainPlaces(this.#options))
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

  /** Records a change that is about to happen. */
  announce(peer: string, record: Omit<Noted, 'outcome'>): Announced {
    const isStranger = STRANGERS.has(record.principal_kind);
    const announced = { ...record, outcome: 'announced' };
    // Changes by callers without a credential are counted like refusals until one succeeds, so that they cannot fill the files.
    const noted = isStranger ? this.#tally.add(peer, announced) : announced;
    const given = noted === null ? null : this.#write(noted, { opens: !isStranger });
    let isSettled = false;
    return {
      written: async () => given === null || this.#written(given),
      settle: (status, outcome) => {
        if (isSettled) return;
        isSettled = true;
        const settled = { ...record, status, outcome };
        if (isStranger && status >= 400) this.refused(peer, settled);
        else this.#write(settled, { settles: isStranger ? null : (given?.id ?? null) });
      },
    };
  }

  /** Never throws: a disk that is full or stands still must not stop the node, but lost records are counted and logged. */
  #write(
    noted: Noted,
    { opens = false, settles = null }: { readonly opens?: boolean; readonly settles?: number | null } = {},
  ): QueuedRecord {
    const { now, believed } = this.#options;
    const record: AuditRecord = { time: new Date(now()).toISOString(), ...noted };
    const given = this.#give(record);
    if (this.#waiting.size > MOST_WAITING.records || this.#chars > MOST_WAITING.chars)
      this.#failed(given.id, `${this.#waiting.size - 1} records wait for the disk, and no more are kept`);
    else
      this.#options.writer.write({
        id: given.id,
        chain: chainOf(noted),
        record,
        believedMs: (believed ?? now)(),
        opens,
        settles,
      });
    return given;
  }

  #give(record: AuditRecord | null): QueuedRecord {
    const chars = record === null ? 0 : JSON.stringify(record).length;
    const id = ++this.#last;
    const given = {
      id,
      record,
      chars,
      at: this.#options.monotonic(),
      answered: deferred(),
      ok: null,
    };
    this.#waiting.set(id, given);
    this.#chars += chars;
    return given;
  }

  #onAnswer(answer: AuditAnswer): void {
    const { log } = this.#options;
    switch (answer.kind) {
      case 'started':
        this.#broken = answer.broken;
        this.#problem = answer.problem;
        for (const problem of [answer.broken, answer.problem])
          if (problem !== null) log.error(`audit: ${problem}`);
        this.#started.resolve();
        break;
      case 'unknown':
        this.#copy(answer.record, answer.seq);
        break;
      case 'written': {
        this.#proved = answer.proved;
        const record = this.#take(answer.id, true);
        if (record === null) break;
        this.#problem = null;
        this.#copy(record, answer.seq);
        break;
      }
      case 'failed':
        this.#failed(answer.id, answer.problem);
        break;
      case 'probed':
        this.#take(answer.id, true);
        if (answer.problem !== null && answer.problem !== this.#refusal)
          log.error(`audit: ${answer.problem}`);
        this.#refusal = answer.problem;
        if (answer.problem === null && OF_DISK.test(this.#problem ?? '')) this.#problem = null;
        break;
      case 'stopped':
        this.#proved = answer.proved;
        if (answer.problem !== null) log.error(`audit: ${answer.problem}`);
        break;
    }
  }

  #failed(id: number, problem: string): void {
    this.#take(id, false);
    this.#lost++;
    if (problem !== this.#problem)
      this.#options.log.error(`audit: records cannot be written (${this.#lost} lost so far): ${problem}`);
    this.#problem = problem;
  }

  /** @returns its record; null for a probe */
  #take(id: number, ok: boolean): AuditRecord | null {
    const given = this.#waiting.get(id);
    if (given === undefined) return null;
    this.#waiting.delete(id);
    this.#chars -= given.chars;
    given.ok = ok;
    given.answered.resolve();
    return given.record;
  }

  #copy(record: AuditRecord, seq: number): void {
    const { time: _time, ...shown } = record;
    this.#options.copy?.info(`${record.route ?? 'no route'}: ${record.outcome}`, { ...shown, seq });
  }

  async #written(given: QueuedRecord): Promise<boolean> {
    if (given.ok === null && this.#stalled === null)
      await Promise.race([given.answered.promise, afterTurn(WAIT_MS)]);
    return given.ok === true;
  }

  /** Only while nothing else is written. */
  #probe(): void {
    const stalled = this.#stalled;
    if (stalled !== null && !this.#toldStall) this.#options.log.error(`audit: ${stalled}`);
    if (stalled === null && this.#toldStall) this.#options.log.warn('audit: the disk takes records again');
    this.#toldStall = stalled !== null;
    if (this.#waiting.size === 0) this.#options.writer.probe(this.#give(null).id);
  }

  get #stalled(): string | null {
    const [oldest] = this.#waiting.values();
    const ms = oldest === undefined ? 0 : this.#options.monotonic() - oldest.at;
    return ms < STALL_MS
      ? null
      : `the disk of ${this.#options.directory} has taken nothing for ${Math.floor(ms / 1000)} s`;
  }

  #flush(all: boolean): void {
    for (const record of this.#tally.take(all)) this.#write(record);
  }
}

/** What helps where a disk takes nothing, beside the reason. */
function withHelp(problem: string | null): string | null {
  const [code] = OF_DISK.exec(problem ?? '') ?? [];
  if (code === 'ENOSPC' || code === 'EDQUOT') return `${problem}. Free some disk space`;
  if (code !== undefined)
    return `${problem}. Restart the machine when the vehicle is on the ground; if that does not help, replace the card`;
  return problem;
}

function chainOf({ principal_kind: kind, status = 400 }: Noted): ChainName {
  if (PROGRAMS.has(kind)) return 'programs';
  return STRANGERS.has(kind) && status >= 400 ? 'strangers' : 'operators';
}

/** After so long, and after what came while this loop had no time. */
async function afterTurn(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(() => setImmediate(resolve), ms).unref();
  });
}
