import { hash } from 'node:crypto';
import { recordOf } from '../member.ts';
import type { Head } from './head.ts';

/**
 * The audit's records: NDJSON, each line carrying the hash of the one before, so that a changed, removed or inserted line
 * breaks the chain.
 */

export interface AuditRecord {
  /** RFC 3339, milliseconds. */
  readonly time: string;
  readonly peer: string;
  readonly principal: string;
  readonly principal_kind: string;
  /** At the hub: what a person or a program was called then, who may be gone when it is read. */
  readonly principal_name?: string;
  readonly route: string | null;
  /** `announced` before it runs, then `done` or the code of the error; `unknown` if the process ended first; for a refusal its code. */
  readonly outcome: string;
  readonly rule: string;
  readonly forced: boolean;
  /** Of the answer, once there is one. */
  readonly status?: number;
  /** Number of the record that announced it. */
  readonly of?: number;
  /** The changed item: config key, parameter, service or command; never a value. */
  readonly changed?: string;
  /** How many equal events this record counts, and since when. */
  readonly count?: number;
  readonly since?: string;
}

export interface ChainedRecord extends AuditRecord {
  readonly seq: number;
  /** SHA-256 of the line before, base64url (hex of that length would be masked as a key); zeros for the very first line. */
  readonly prev: string;
}

export const GENESIS = '0'.repeat(43);

export function lineHash(line: string): string {
  return hash('sha256', line, 'base64url');
}

export type Verdict =
  | { readonly ok: true; readonly records: number; readonly last: string }
  | { readonly ok: false; readonly file: string; readonly line: number; readonly why: string };

/**
 * Checks the chain through the files in order, oldest first.
 * @param files name and text of each
 * @param from the hash that the first line must have; null accepts any (older files were rotated away)
 * @param head where the chain must begin and end, if known
 */
export function verifyChain(
  files: readonly { readonly name: string; readonly text: string }[],
  from: string | null,
  head: Head | null = null,
): Verdict {
  const check = new ChainCheck(from, head);
  for (const { name, text } of files) {
    const lines = text.split('\n');
    const tail = lines.pop();
    for (const [index, line] of lines.entries()) {
      const { why } = check.line(line);
      if (why !== null) return { ok: false, file: name, line: index + 1, why };
    }
    if (tail !== '' && tail !== undefined)
      return { ok: false, file: name, line: lines.length + 1, why: UNFINISHED };
  }
  const why = check.end();
  if (why !== null) {
    const last = files.at(-1);
    return { ok: false, file: last?.name ?? 'the audit', line: last?.text.split('\n').length ?? 1, why };
  }
  return { ok: true, records: check.records, last: check.last };
}

/** A power cut may leave half a line at the very end; the writer drops it when it opens the file again. */
export const UNFINISHED = 'an unfinished line';

/** The check of a chain, line by line, oldest first. After a line that breaks it, it goes on from that line. */
export class ChainCheck {
  readonly #head: Head | null;
  #expected: string | null;
  #seq: number | null = null;
  #hasBegun: boolean;
  #hasEnded: boolean;
  #records = 0;

  /** @param from @param head as for `verifyChain` */
  constructor(from: string | null, head: Head | null) {
    this.#head = head;
    this.#expected = from;
    this.#hasBegun = head === null;
    this.#hasEnded = head === null || head.seq < head.from.seq;
  }

  get records(): number {
    return this.#records;
  }

  /** The hash of the last line. */
  get last(): string {
    return this.#expected ?? GENESIS;
  }

  /** @returns the record, null if it is none; and why the line breaks the chain, null if it does not */
  line(line: string): { readonly record: ChainedRecord | null; readonly why: string | null } {
    const record = parse(line);
    const why = record === null ? 'not a record' : this.#whyNot(record);
    this.#expected = lineHash(line);
    if (record === null) return { record, why };
    this.#seq = record.seq;
    this.#records++;
    if (record.seq !== this.#head?.seq) return { record, why };
    if (this.#expected !== this.#head.hash)
      return { record, why: why ?? 'is not the record that the head was signed for' };
    this.#hasEnded = true;
    return { record, why };
  }

  /** After the last line. @returns why the chain is not whole, null if it is */
  end(): string | null {
    const head = this.#head;
    if (head === null || (this.#hasBegun && this.#hasEnded) || head.seq < head.from.seq) return null;
    return `records ${(this.#seq ?? head.from.seq - 1) + 1} to ${head.seq} are missing`;
  }

  #whyNot(record: ChainedRecord): string | null {
    const head = this.#head;
    const seq = this.#seq;
    if (this.#expected !== null && record.prev !== this.#expected)
      return 'does not follow the line before it';
    if (seq !== null && record.seq !== seq + 1) return `number ${record.seq} after ${seq}`;
    if (head !== null && seq === null && record.seq > head.from.seq)
      return `records ${head.from.seq} to ${record.seq - 1} are missing`;
    if (record.seq === head?.from.seq) {
      if (record.prev !== head.from.prev) return 'is not what the chain began with';
      this.#hasBegun = true;
    }
    return null;
  }
}

function isChained(value: unknown): value is ChainedRecord {
  const { seq, prev } = recordOf(value);
  return typeof seq === 'number' && typeof prev === 'string';
}

/** The record of a line, or null if it is not a record. */
export function parse(line: string): ChainedRecord | null {
  try {
    const value: unknown = JSON.parse(line);
    return isChained(value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
