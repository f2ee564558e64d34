import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { closeSync, constants, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { readPrivateSync } from '../files/private-file.ts';

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

/** A write of so few bytes at the start of a file is atomic: a killed process leaves no half of it. */
const HEAD_BYTES = 256;
const KEY_BYTES = 32;

export function headFile(path: string): string {
  return `${path}.head`;
}

export function headText(head: Head, key: Buffer): string {
  return `${JSON.stringify({ ...head, mac: sign(head, key) })}\n`.padStart(HEAD_BYTES, ' ');
}

/** @returns a sentence if the head is not signed with this key; null if there is no head */
export function readHead(path: string, key: Buffer): Head | string | null {
  const text = readPrivateSync(headFile(path));
  if (text === null) return null;
  const head = parseHead(text);
  if (head === null) return `${headFile(path)} is not a head of the audit`;
  const expected = Buffer.from(sign(head, key));
  const offered = Buffer.from(head.mac);
  return offered.length === expected.length && timingSafeEqual(offered, expected)
    ? { from: head.from, seq: head.seq, hash: head.hash }
    : `${headFile(path)} was not signed by this node`;
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

function sign({ from, seq, hash }: Head, key: Buffer): string {
  return createHmac('sha256', key)
    .update(`svc audit head\n${from.seq}\n${from.prev}\n${seq}\n${hash}`)
    .digest('base64url');
}

function parseHead(text: string): (Head & { readonly mac: string }) | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { from, seq, hash, mac } = value as Readonly<Record<string, unknown>>;
  if (typeof from !== 'object' || from === null || typeof seq !== 'number') return null;
  const { seq: first, prev } = from as Readonly<Record<string, unknown>>;
  return typeof first === 'number' &&
    typeof prev === 'string' &&
    typeof hash === 'string' &&
    typeof mac === 'string'
    ? { from: { seq: first, prev }, seq, hash, mac }
    : null;
}
