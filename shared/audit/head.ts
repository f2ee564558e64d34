import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { closeSync, constants, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { readPrivateSync } from '../files/private-file.ts';
import { isObject } from '../member.ts';

/**
 * Where a chain begins and ends, beside it in `<file>.head`, signed with a key of the node: without it, one could not detect
 * that the end of a chain was removed, or that the whole chain was rewritten.
 */
export interface Head {
  /** The oldest record that is kept: its number, and the hash before it. */
  readonly from: { readonly seq: number; readonly prev: string };
  /** The newest record that is known to be on the disk, and the hash of its line. */
  readonly seq: number;
  readonly hash: string;
}

/** What a head says that is kept twice: beside its chain, and elsewhere, where who removes the chain does not reach it. */
interface Anchor extends Head {
  /** The oldest record that was announced and not settled; the one after the newest if there is none. */
  readonly open: number;
}

/** A head as it is read. */
export interface ReadHead extends Head {
  /** Null beside the chain. */
  readonly open: number | null;
  /** Whether its writer kept it elsewhere too. Not signed, so that an older version still reads the head. */
  readonly anchored: boolean;
}

/** A write of so few bytes at the start of a file is atomic: a killed process leaves no half of it. */
const HEAD_BYTES = 256;
const KEY_BYTES = 32;

export function headFile(path: string): string {
  return `${path}.head`;
}

/** @param anchored whether it is kept elsewhere too */
export function headText(head: Head | Anchor, key: Buffer, anchored = false): string {
  const shown = { ...head, mac: sign(head, key), ...(anchored ? { anchored } : {}) };
  return `${JSON.stringify(shown)}\n`.padStart(HEAD_BYTES, ' ');
}

/** @returns a sentence if the head in this file is not signed with this key; null if there is none */
export function readHead(file: string, key: Buffer): ReadHead | string | null {
  const text = readPrivateSync(file);
  if (text === null) return null;
  const head = parseHead(text);
  if (head === null) return `${file} is not a head of the audit`;
  const expected = Buffer.from(sign(head, key));
  const offered = Buffer.from(head.mac);
  return offered.length === expected.length && timingSafeEqual(offered, expected)
    ? { from: head.from, seq: head.seq, hash: head.hash, open: head.open, anchored: head.anchored }
    : `${file} was not signed by this node`;
}

/**
 * What a chain is checked against: its own head, which may not be behind the anchor. The anchor is written after the head, so
 * whoever reads while the chain is written reads the anchor first.
 * @param files whether there is any file of the chain
 * @returns a sentence if one is missing, or the head is older; null for a chain that was never begun
 */
export function agreedHead(
  path: string,
  head: ReadHead | string | null,
  anchor: ReadHead | string | null,
  files: boolean,
): ReadHead | string | null {
  if (typeof anchor === 'string') return anchor;
  if (typeof head === 'string') return head;
  if (anchor !== null && anchor.open === null) return 'its head outside of the folder was made for inside';
  if (head === null && anchor === null) return files ? `${headFile(path)} is missing` : null;
  if (head === null) return `${headFile(path)} is missing; the chain went up to record ${anchor?.seq}`;
  // An older version kept none; its chain is taken on as it is.
  if (anchor === null) return head.anchored ? 'its head outside of the folder is missing' : head;
  if (head.seq < anchor.seq) return `its head is of record ${head.seq}, older than record ${anchor.seq}`;
  if (head.seq === anchor.seq && head.hash !== anchor.hash) return 'its two heads differ';
  return head;
}

/** The key that signs heads, created if there is none. @throws Error if the file is not usable */
export function auditKey(file: string): { readonly key: Buffer; readonly isNew: boolean } {
  const known = readKey(file);
  if (known !== null) return { key: known, isNew: false };
  const key = randomBytes(KEY_BYTES);
  mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
  const fd = openSync(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    writeSync(fd, `${key.toString('base64url')}\n`);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  return { key, isNew: true };
}

/** The key, null if there is none. @throws Error if it is not usable */
export function readKey(file: string): Buffer | null {
  const text = readPrivateSync(file);
  if (text === null) return null;
  const key = Buffer.from(text.trim(), 'base64url');
  if (key.length !== KEY_BYTES) throw new Error(`${file} is not a key of the audit`);
  return key;
}

function sign(head: Head & { readonly open?: number | null }, key: Buffer): string {
  const { from, seq, hash, open = null } = head;
  const facts = `${from.seq}\n${from.prev}\n${seq}\n${hash}`;
  return createHmac('sha256', key)
    .update(open === null ? `svc audit head\n${facts}` : `svc audit anchor\n${facts}\n${open}`)
    .digest('base64url');
}

function parseHead(text: string): (ReadHead & { readonly mac: string }) | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
  if (!isObject(value)) return null;
  const { from, seq, hash, mac, open = null, anchored } = value;
  if (!isObject(from) || typeof seq !== 'number') return null;
  const { seq: first, prev } = from;
  return typeof first === 'number' &&
    typeof prev === 'string' &&
    typeof hash === 'string' &&
    typeof mac === 'string' &&
    (open === null || typeof open === 'number')
    ? { from: { seq: first, prev }, seq, hash, mac, open, anchored: anchored === true }
    : null;
}
