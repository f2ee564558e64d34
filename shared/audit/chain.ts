import { hash } from 'node:crypto';
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
  readonly route: string | null;
  /** `announced` before it runs, then `done` or the code of the error; for a refusal its code. */
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
  let expected = from;
  let seq: number | null = null;
  let hasBegun = head === null;
  let hasEnded = head === null || head.seq < head.from.seq;
  let records = 0;
  for (const { name, text } of files) {
    const lines = text.split('\n');
    const tail = lines.pop();
    for (const [index, line] of lines.entries()) {
      const record = parse(line);
      const at = { ok: false, file: name, line: index + 1 } as const;
      if (record === null) return { ...at, why: 'not a record' };
      if (expected !== null && record.prev !== expected)
        return { ...at, why: 'does not follow the line before it' };
      if (seq !== null && record.seq !== seq + 1) return { ...at, why: `number ${record.seq} after ${seq}` };
      if (head !== null && seq === null && record.seq > head.from.seq)
        return { ...at, why: `records ${head.from.seq} to ${record.seq - 1} are missing` };
      if (record.seq === head?.from.seq) {
        if (record.prev !== head.from.prev) return { ...at, why: 'is not what the chain began with' };
        hasBegun = true;
      }
      expected = lineHash(line);
      seq = record.seq;
      records++;
      if (record.seq === head?.seq) {
        if (expected !== head.hash) return { ...at, why: 'is not the record that the head was signed for' };
        hasEnded = true;
      }
    }
    // A power cut may leave half a line at the very end; the writer drops it when it opens the file again.
    if (tail !== '' && tail !== undefined)
      return { ok: false, file: name, line: lines.length + 1, why: 'an unfinished line' };
  }
  if (head !== null && !(hasBegun && hasEnded) && head.seq >= head.from.seq) {
    const name = files.at(-1)?.name ?? 'the audit';
    const line = files.at(-1)?.text.split('\n').length ?? 1;
    return {
      ok: false,
      file: name,
      line,
      why: `records ${(seq ?? head.from.seq - 1) + 1} to ${head.seq} are missing`,
    };
  }
  return { ok: true, records, last: expected ?? GENESIS };
}

/** The record of a line, or null if it is not a record. */
export function parse(line: string): ChainedRecord | null {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null) return null;
    const { seq, prev } = value as Readonly<Record<string, unknown>>;
    return typeof seq === 'number' && typeof prev === 'string' ? (value as ChainedRecord) : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
