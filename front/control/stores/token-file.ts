import { type BigIntStats, lstatSync } from 'node:fs';
import { isScope, type Scope } from '../../../shared/auth/scopes.ts';
import { isTokenId, type TokenId } from '../../../shared/auth/token.ts';
import { messageOf } from '../../../shared/errors.ts';
import { readPrivateSync } from '../../../shared/files/private-file.ts';
import { isTransient } from '../../../shared/files/transient.ts';
import { isRecord } from '../../../shared/member.ts';

export const MAX_STORE_BYTES = 1024 * 1024;
const MAX_ENTRIES = 10_000;

/** One minted token in the registry: everything but its secret. */
export interface TokenEntry {
  readonly token_id: TokenId;
  readonly label: string;
  readonly scopes: readonly Scope[];
  readonly allowed_nodes: readonly string[];
  /** Seconds since 1970. */
  readonly created_at: number;
  /** ms since 1970. */
  readonly expires_at: number;
  /** When it was minted, ms of the lived time `clock`, which alone ends it; absent in one of an older version. */
  readonly lived?: { readonly clock: string; readonly ms: number };
  /** Signed with an earlier salt, so it can never be verified again. */
  readonly void?: true;
}

/** The content of `mcp-token.json`. What a newer version has written there besides is kept. */
export interface TokenFile {
  /** Hex of 16 bytes; part of the signing key, so that a new salt ends every token. */
  readonly salt: string;
  readonly revoked: readonly TokenId[];
  readonly tokens: readonly TokenEntry[];
  /**
   * ms since 1970: for a former version of the node, which goes by the wall clock, and for tokens that it has minted: those that end
   * at this time or earlier are expired.
   */
  readonly expired_through: number;
}

export type ReadTokens =
  | { readonly kind: 'absent' }
  | { readonly kind: 'read'; readonly file: TokenFile }
  /** Its content is not used, and the file is never overwritten. */
  | { readonly kind: 'broken'; readonly problem: string };

/**
 * A file that was written this recently (ms) may be written again without a change of its times: their clock ticks every few
 * ms.
 */
const UNSETTLED_MS = 1000;

/** Checks the inode of the store each time, and reads the file again unless it is certainly unchanged. */
export class TokenFileReader {
  readonly #path: string;
  #inode: BigIntStats | null = null;
  #read: ReadTokens = { kind: 'absent' };
  #everRead = false;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Reads synchronously, because the edge decides synchronously. Never throws.
   * @param exact for a writer: an older state must not be returned
   */
  read(exact = false): ReadTokens {
    const inode = this.#inode === null ? null : inodeOf(this.#path);
    if (inode !== null && this.#inode !== null && isSame(inode, this.#inode)) return this.#read;
    const before = inodeOf(this.#path);
    const read = readTokenFile(this.#path);
    // No file descriptors left: the last state is used until the file can be read again.
    if (read === null) {
      this.#inode = null;
      return this.#everRead && !exact ? this.#read : broken(this.#path, 'cannot be read at the moment');
    }
    this.#read = read;
    this.#everRead = true;
    const settled =
      this.#read.kind === 'read' &&
      before !== null &&
      // The clock of the file system, so not an injected one.
      Math.abs(Date.now() - Number(before.ctimeMs)) > UNSETTLED_MS;
    this.#inode = settled ? before : null;
    return this.#read;
  }
}

function inodeOf(path: string): BigIntStats | null {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? null;
  } catch {
    return null; // the read that follows reports the error
  }
}

function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return (
    a.ino === b.ino &&
    a.dev === b.dev &&
    a.ctimeNs === b.ctimeNs &&
    a.mtimeNs === b.mtimeNs &&
    a.size === b.size &&
    a.mode === b.mode &&
    a.nlink === b.nlink
  );
}

/** @returns null on a temporary error */
function readTokenFile(path: string): ReadTokens | null {
  try {
    const text = readPrivateSync(path, MAX_STORE_BYTES);
    return text === null ? { kind: 'absent' } : parseTokenFile(path, text);
  } catch (error) {
    return isTransient(error) ? null : { kind: 'broken', problem: messageOf(error) };
  }
}

function broken(path: string, why: string): ReadTokens {
  return { kind: 'broken', problem: `${path} ${why}` };
}

function parseTokenFile(path: string, text: string): ReadTokens {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's message quotes the file, which contains the salt.
    return broken(path, 'is not JSON, or only a part of it');
  }
  if (!isRecord(value)) return broken(path, 'is not a JSON object');
  const { salt, revoked, tokens, expired_through: through = 0, ...unknown } = value;
  if (typeof salt !== 'string' || !/^[0-9a-f]{32}$/.test(salt)) return broken(path, 'lacks its salt');
  if (!Array.isArray(revoked) || revoked.length > MAX_ENTRIES || !revoked.every(isTokenId))
    return broken(path, 'lacks its list of revoked tokens');
  if (!Array.isArray(tokens) || tokens.length > MAX_ENTRIES || !tokens.every(isEntry))
    return broken(path, 'lacks its registry of tokens');
  if (!isTime(through)) return broken(path, 'has an expired_through that is no time');
  if (new Set(tokens.map(({ token_id: id }) => id)).size !== tokens.length)
    return broken(path, 'lists a token twice');
  return { kind: 'read', file: { ...unknown, salt, revoked, tokens, expired_through: through } };
}

function isEntry(value: unknown): value is TokenEntry {
  if (!isRecord(value)) return false;
  const {
    token_id: id,
    label,
    scopes,
    allowed_nodes: nodes,
    created_at: created,
    expires_at: expires,
  } = value;
  return (
    isTokenId(id) &&
    typeof label === 'string' &&
    Array.isArray(scopes) &&
    scopes.length > 0 &&
    scopes.every(isScope) &&
    Array.isArray(nodes) &&
    nodes.every((node) => typeof node === 'string') &&
    typeof created === 'number' &&
    Number.isFinite(created) &&
    isTime(expires) &&
    (value['void'] === undefined || value['void'] === true) &&
    isLivedMark(value['lived'])
  );
}

/** Below 0 for a token that is older than the lived time. */
function isLivedMark(value: unknown): boolean {
  return (
    value === undefined ||
    (isRecord(value) && typeof value['clock'] === 'string' && Number.isSafeInteger(value['ms']))
  );
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
