import { closeSync, constants, existsSync, fstatSync, openSync, read, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { messageOf } from '../errors.ts';
import type { Made } from '../schemas/made.ts';
import type { auditReport } from '../schemas/node.ts';
import { ChainCheck, GENESIS, UNFINISHED, type Verdict, verifyChain } from './chain.ts';
import { NOTHING_LEFT } from './chained-log.ts';
import { agreedHead, type Head, headFile, readHead, readKey } from './head.ts';

export type FilesVerdict = Verdict & {
  /** Why beginning and end could not be checked; null if they were. */
  readonly head_not_checked: string | null;
};

/** As `anchor.file` and `keep.files` in ChainedLogOptions. */
interface ChainOptions {
  readonly anchor?: string | null;
  readonly most?: number;
}

/**
 * Checks the chain through the files of a ChainedLog, oldest first, against its signed head.
 * @param files as in ChainedLogOptions
 */
export function verifyFiles(
  path: string,
  files: number,
  keyFile: string,
  more: ChainOptions = {},
): FilesVerdict {
  const { paths, head, from, unchecked } = placeOf(path, files, keyFile, more);
  if (typeof head === 'string')
    return { ok: false, file: basename(path), line: 0, why: head, head_not_checked: null };
  const texts = paths.map((name) => ({ name: basename(name), text: readFileSync(name, 'utf8') }));
  return { ...verifyChain(texts, from, head), head_not_checked: unchecked };
}

/** What one file of a chain is like. Times in seconds since 1970. */
type FileReport = Made<typeof auditReport>['files'][number];

export interface ChainReport {
  /** Oldest first. */
  readonly files: readonly FileReport[];
  readonly head_not_checked: string | null;
}

/**
 * The same check in small pieces and in little memory, for a process that has other work; also of a chain that this process
 * goes on writing. @throws the file system's error
 */
export async function reportFiles(
  path: string,
  files: number,
  keyFile: string,
  more: ChainOptions = {},
): Promise<ChainReport> {
  const { paths, head, from, unchecked } = placeOf(path, files, keyFile, more);
  // All are opened in the same turn as the head was read: what is written or rotated from now on does not count.
  const open: { readonly name: string; readonly fd: number; readonly size: number }[] = [];
  try {
    for (const name of paths) {
      const fd = openSync(name, constants.O_RDONLY | constants.O_NOFOLLOW);
      open.push({ name: basename(name), fd, size: fstatSync(fd).size });
    }
    const check = new ChainCheck(from, typeof head === 'string' ? null : head);
    const reports: FileReport[] = [];
    for (const file of open) reports.push(await reportFile(file, check));
    const why = typeof head === 'string' ? head : check.end();
    const newest = reports.pop() ?? NO_FILE;
    const name = newest === NO_FILE ? basename(path) : newest.name;
    if (newest !== NO_FILE || why !== null) reports.push({ ...newest, name, broken: newest.broken ?? why });
    return { files: reports, head_not_checked: unchecked };
  } finally {
    for (const { fd } of open) closeSync(fd);
  }
}

const readAt = promisify(read);
const NO_FILE: FileReport = { name: '', records: 0, first_at: null, last_at: null, broken: null };
/** A millisecond or two of work. */
const CHUNK_BYTES = 64 * 1024;
/** Longer than any record. */
const MAX_LINE_BYTES = 128 * 1024;

async function reportFile(
  { name, fd, size }: { readonly name: string; readonly fd: number; readonly size: number },
  check: ChainCheck,
): Promise<FileReport> {
  if (size === 0) return { ...NO_FILE, name };
  let lines = 0;
  let records = 0;
  let firstAt: number | null = null;
  let lastAt: number | null = null;
  let broken: string | null = null;
  const line = (text: string): void => {
    lines++;
    const { record, why } = check.line(text);
    if (why !== null) broken ??= `line ${lines}: ${why}`;
    if (record === null) return;
    records++;
    const at = Date.parse(record.time) / 1000;
    lastAt = Number.isFinite(at) ? at : null;
    firstAt ??= lastAt;
  };
  let rest: Buffer = Buffer.alloc(0);
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let at = 0; at < size && rest.length <= MAX_LINE_BYTES; ) {
    const { bytesRead } = await readAt(fd, chunk, 0, Math.min(CHUNK_BYTES, size - at), at);
    if (bytesRead === 0) break; // somebody has cut it meanwhile
    at += bytesRead;
    const bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
    let start = 0;
    for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, start)) {
      line(bytes.toString('utf8', start, end));
      start = end + 1;
    }
    rest = bytes.subarray(start);
  }
  if (rest.length > 0) broken ??= `line ${lines + 1}: ${UNFINISHED}`;
  return { name, records, first_at: firstAt, last_at: lastAt, broken };
}

/** The files of a chain that exist, oldest first, and what they are checked against. */
function placeOf(
  path: string,
  files: number,
  keyFile: string,
  { anchor = null, most = files }: ChainOptions,
) {
  const paths = Array.from({ length: most }, (_, index) => (index === 0 ? path : `${path}.${index}`))
    .filter((name) => existsSync(name))
    .toReversed();
  // Whoever writes meanwhile writes the head first, then the anchor.
  let head: Head | string | null = null;
  let unchecked: string | null = null;
  try {
    const key = readKey(keyFile);
    const known = key === null || anchor === null ? null : readHead(anchor, key);
    if (key !== null) head = agreedHead(path, readHead(headFile(path), key), known, paths.length > 0);
    else if (anchor !== null && existsSync(anchor)) head = `${keyFile} is missing`;
    else unchecked = `${keyFile} does not exist`;
    if (key !== null && anchor !== null) head ??= NOTHING_LEFT;
  } catch (error) {
    unchecked = messageOf(error); // readable only by root and the service
  }
  // Without a head: the oldest file of a full set continues a file that was removed.
  const from = head !== null || paths.length >= files ? null : GENESIS;
  return { paths, head, from, unchecked };
}
