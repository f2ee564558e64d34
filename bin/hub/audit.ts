import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditRecord } from '../../shared/audit/chain.ts';
import { ChainedLog } from '../../shared/audit/chained-log.ts';
import { type ChainReport, reportFiles } from '../../shared/audit/verify.ts';
import { ApiError, messageOf } from '../../shared/errors.ts';
import { parseJson } from '../../shared/member.ts';
import type { Logger } from '../../shared/process/logger.ts';
import { diskProblem } from './disk.ts';
import type { HubPlaces } from './places.ts';

const MAX_BYTES = 8 * 1024 * 1024;
const FILES = 5;
const STRANGERS_FILES = 2;
const MODES = { directory: 0o700, file: 0o600 } as const;
/** What is read of a file for a list, from its end. */
const TAIL_BYTES = 512 * 1024;

export type Entry = Omit<AuditRecord, 'time' | 'forced'>;

/**
 * The hub's audit: hash-chained as the node's. Refusals of callers without a credential are in files of their own, so that
 * strangers cannot push out what operators did.
 */
export class HubAudit {
  readonly #places: HubPlaces;
  readonly #log: Logger;
  readonly #operators: ChainedLog;
  readonly #strangers: ChainedLog;

  /** @param now wall clock, ms */
  constructor(places: HubPlaces, now: () => number, log: Logger) {
    this.#places = places;
    this.#log = log;
    const common = { keyFile: places.auditKey, maxBytes: MAX_BYTES, modes: MODES, now };
    this.#operators = new ChainedLog({ ...common, path: operatorsFile(places), files: FILES });
    this.#strangers = new ChainedLog({ ...common, path: strangersFile(places), files: STRANGERS_FILES });
  }

  start(): void {
    for (const file of [this.#operators, this.#strangers]) {
      const problem = file.start();
      if (problem !== null) this.#log.error(`audit: ${problem}`);
    }
  }

  stop(): void {
    this.#operators.stop();
    this.#strangers.stop();
  }

  /** @returns its number @throws ApiError E_AUDIT: then nothing may be done */
  record(entry: Entry): number {
    const file =
      entry.principal_kind === 'anonymous' && entry.outcome !== 'done' ? this.#strangers : this.#operators;
    try {
      file.append({ ...entry, forced: false });
    } catch (error) {
      this.#log.error(`audit: ${messageOf(error)}`);
      const why = diskProblem(error) ?? 'The audit cannot be written, and this request needs it.';
      throw new ApiError('E_AUDIT', why);
    }
    return file.seq;
  }

  /** Newest first. */
  newest(limit: number): readonly unknown[] {
    const path = operatorsFile(this.#places);
    const lines = [`${path}.1`, path].filter((name) => existsSync(name)).flatMap(tailLines);
    return lines.slice(-limit).toReversed();
  }

  async verify(): Promise<ChainReport & { readonly ok: boolean }> {
    return verifyHubAudit(this.#places);
  }
}

/** Whether both chains are whole; also while a hub writes them. @throws the file system's error */
export async function verifyHubAudit(places: HubPlaces): Promise<ChainReport & { readonly ok: boolean }> {
  const operators = await reportFiles(operatorsFile(places), FILES, places.auditKey);
  const strangers = await reportFiles(strangersFile(places), STRANGERS_FILES, places.auditKey);
  const files = [...operators.files, ...strangers.files];
  const unchecked = operators.head_not_checked ?? strangers.head_not_checked;
  return { ok: files.every(({ broken }) => broken === null), head_not_checked: unchecked, files };
}

function operatorsFile({ auditFolder }: HubPlaces): string {
  return join(auditFolder, 'audit.ndjson');
}

function strangersFile({ auditFolder }: HubPlaces): string {
  return join(auditFolder, 'strangers.ndjson');
}

function tailLines(path: string): readonly unknown[] {
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
    readSync(fd, bytes, 0, bytes.length, size - bytes.length);
    const lines = bytes.toString('utf8').split('\n');
    if (bytes.length < size) lines.shift(); // cut in the middle
    return lines.filter((line) => line !== '').map((line) => parseJson(line));
  } finally {
    closeSync(fd);
  }
}
