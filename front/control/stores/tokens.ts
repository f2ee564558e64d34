import { type KeyObject, randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Serial } from '../../../shared/async/serial.ts';
import type { Principal } from '../../../shared/auth/principal.ts';
import type { Scope } from '../../../shared/auth/scopes.ts';
import {
  CLOCK_FLOOR_MS,
  deriveTokenKey,
  issuerOf,
  signToken,
  type TokenId,
  verifyToken,
} from '../../../shared/auth/token.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { withLock } from '../../../shared/files/lock.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Made } from '../../../shared/schemas/made.ts';
import type { mcpStatus, mintAnswer } from '../../../shared/schemas/mcp.ts';
import type { EndedCredentials, Ending } from './ended.ts';
import type { Lived } from './lived-time.ts';
import {
  MAX_STORE_BYTES,
  type ReadTokens,
  type TokenEntry,
  type TokenFile,
  TokenFileReader,
} from './token-file.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const DEFAULT_TTL_MS = 30 * DAY_MS;
const SHORTEST_TTL_MS = DAY_MS;
const LONGEST_TTL_MS = 365 * DAY_MS;
/** How long the registry still shows a token that has expired. */
const KEEP_EXPIRED_MS = 30 * DAY_MS;
const MAX_LIVE = 500;
const MAX_LISTED = 1000;
/** Space in the file that is reserved for revocations. */
const REVOKE_ROOM = 128 * 1024;
/** If a token whose age only the wall clock tells was minted further in the future than this, that clock is wrong. */
const MAX_SKEW_MS = 5 * 60_000;

export interface TokenStoreOptions {
  readonly file: string;
  readonly ended: EndedCredentials;
  /** Whether tokens are accepted: `mcp.token_accept_enabled` as it was when the front started. */
  readonly accept: boolean;
  /** Null while there is none; then no token is valid and none can be minted. */
  readonly pairingKey: () => string | null;
  readonly deviceId: string;
  /** Wall clock, ms. */
  readonly now: () => number;
  readonly lived: Lived;
  readonly log: Logger;
}

interface MintRequest {
  readonly label: string;
  readonly scopes: readonly Scope[];
  /** 1 to 365 days; a value outside is moved to the limit; null for 30 days. */
  readonly ttlMs: number | null;
  readonly allowedNodes: readonly string[];
}

export type MintedToken = Made<typeof mintAnswer> & { readonly token_id: TokenId };

type TokenStatus = Made<typeof mcpStatus>;

/**
 * The scoped tokens of this node, in `mcp-token.json` (0600; shape: token-file.ts). Every call reads the file, so that a
 * revocation by another process counts at once; the memory only caches the parsed file. With an invalid file no token is
 * accepted, and the file is never overwritten; removing it ends every token.
 */
export class TokenStore {
  readonly #options: TokenStoreOptions;
  readonly #reader: TokenFileReader;
  #key: { readonly pairingKey: string; readonly salt: string; readonly key: KeyObject } | null = null;
  readonly #changes = new Serial();
  /** When tokens of an older version ended by the lived time, as the wall clock told when they were first seen. */
  readonly #endsByWall = new Map<TokenId, number>();
  /** How often the file was checked. */
  opens = 0;

  constructor(options: TokenStoreOptions) {
    this.#options = options;
    this.#reader = new TokenFileReader(options.file);
  }

  /** Resolves when no change is in progress. */
  async stop(): Promise<void> {
    await this.#changes.idle();
  }

  /** The principal of a token; null if it is not valid. Checks the file once, and not at all while tokens are off. */
  verify(text: string): Principal | null {
    const { accept, deviceId } = this.#options;
    const pairingKey = accept ? this.#options.pairingKey() : null;
    if (pairingKey === null) return null;
    const read = this.#read();
    if (read.kind !== 'read') return null;
    const { file } = read;
    const claims = verifyToken(text, this.#keyFor(pairingKey, file.salt), {
      deviceId,
      nowMs: CLOCK_FLOOR_MS, // its end is by the registry, and by the time that it has lived
      isRevoked: () => false,
    });
    if (claims === null) return null;
    // With the key anyone can sign a token with any expiry; the registry has the true one.
    const entry = file.tokens.find(({ token_id: listed }) => listed === claims.tokenId);
    if (entry === undefined || claims.expiresAt > endOf(entry) || !this.#isLive(file, entry)) return null;
    // It may say that it ends sooner than it was minted for.
    if (this.#left(file, entry) <= endOf(entry) - claims.expiresAt) return null;
    return Object.freeze({ kind: 'token', id: claims.tokenId, scopes: claims.scopes });
  }

  /** Whether the token with this id is still valid; for connections that outlive their request. Opens the file once. */
  holds(id: string): boolean {
    const { accept, pairingKey } = this.#options;
    if (!accept || pairingKey() === null) return false;
    const read = this.#read();
    if (read.kind !== 'read') return false;
    const entry = read.file.tokens.find(({ token_id: listed }) => listed === id);
    return entry !== undefined && this.#isLive(read.file, entry);
  }

  /** Why no token is accepted or minted; null while the store is usable. */
  get problem(): string | null {
    const read = this.#read();
    return read.kind === 'broken' ? `No token is accepted or minted: ${read.problem}.` : null;
  }

  /** State and registry without secrets; newest token first. */
  status(): TokenStatus {
    const { accept } = this.#options;
    const read = this.#read();
    const problem = read.kind === 'broken' ? `No token is accepted or minted: ${read.problem}.` : null;
    if (read.kind !== 'read') return { accept_enabled: accept, any_minted: false, tokens: [], problem };
    const { revoked, tokens } = read.file;
    const dead = new Set<string>(revoked);
    const isOver = (entry: TokenEntry): boolean => this.#left(read.file, entry) <= 0;
    // What a person is told is expired stays so.
    this.#options.ended.note(tokens.filter(isOver).map(endingOf));
    return {
      accept_enabled: accept,
      any_minted: tokens.length > 0,
      tokens: tokens.toReversed().map((entry) => ({
        ...shown(entry),
        revoked: entry.void === true || dead.has(entry.token_id),
        expired: isOver({ ...entry }) || this.#options.ended.has(endingOf(entry)),
      })),
      problem,
    };
  }

  /**
   * Makes a token. Its secret is only in the answer.
   * @throws ApiError E_NOT_PAIRED, E_INVALID_VALUE, E_CLOCK, E_STORE; nothing is written then
   */
  async mint({ label, scopes, ttlMs, allowedNodes }: MintRequest): Promise<MintedToken> {
    if (scopes.includes('secret_read') && !scopes.includes('read'))
      throw invalid('/scopes', 'secret_read widens what a read shows, so it needs read beside it');
    if (new Set(scopes).size !== scopes.length) throw invalid('/scopes', 'a scope is listed twice');
    return this.#change(async (before) => {
      const pairingKey = this.#options.pairingKey();
      if (pairingKey === null) throw new ApiError('E_NOT_PAIRED');
      const nowMs = this.#options.now();
      if (nowMs < CLOCK_FLOOR_MS) throw new ApiError('E_CLOCK');
      const { lived } = this.#options;
      const file = this.#tidy(before ?? emptyFile());
      const ttl = Math.min(LONGEST_TTL_MS, Math.max(SHORTEST_TTL_MS, Math.trunc(ttlMs ?? DEFAULT_TTL_MS)));
      const entry: TokenEntry = {
        token_id: `mct_${randomBytes(12).toString('hex')}`,
        label,
        scopes: [...scopes],
        allowed_nodes: [...allowedNodes],
        created_at: nowMs / 1000,
        expires_at: nowMs + ttl,
        lived: { clock: lived.id, ms: Math.floor(lived.now()) },
      };
      if (
        file.tokens.filter((listed) => listed.void !== true && this.#left(file, listed) > 0).length >=
        MAX_LIVE
      )
        throw full();
      const next = { ...file, tokens: [...file.tokens, entry] };
      if (textOf(next).length > MAX_STORE_BYTES - REVOKE_ROOM) throw full();
      await this.#write(next);
      const token = signToken(this.#keyFor(pairingKey, next.salt), {
        tokenId: entry.token_id,
        operatorId: 'local',
        iss: issuerOf(this.#options.deviceId),
        scopes: entry.scopes,
        allowedNodes: entry.allowed_nodes,
        expiresAt: entry.expires_at,
        label,
      });
      return {
        token_id: entry.token_id,
        token,
        expires_at: entry.expires_at,
        scopes: entry.scopes,
        label,
      };
    });
  }

  /**
   * Ends one token; repeating this is not an error.
   * @throws ApiError E_NOT_FOUND, E_STORE
   */
  async revoke(id: string): Promise<TokenId> {
    return this.#change(async (file) => {
      const entry = file?.tokens.find(({ token_id: listed }) => listed === id);
      if (file === null || entry === undefined)
        throw new ApiError('E_NOT_FOUND', 'No such token on this node. See svc mcp status.');
      const known = entry.token_id;
      if (entry.void !== true && !file.revoked.includes(known)) {
        const tidied = this.#tidy(file, known);
        await this.#write({ ...tidied, revoked: [...tidied.revoked, known] });
      }
      return known;
    });
  }

  /**
   * Ends every token ever minted with a new salt: salt and registry change in one rename, so a crash cannot separate them.
   * Returns the ids of the listed tokens.
   * @throws ApiError E_STORE
   */
  async revokeAll(): Promise<readonly TokenId[]> {
    return this.#change(async (file) => {
      if (file === null) return [];
      const { tokens } = this.#tidy(file);
      await this.#write({
        salt: newSalt(),
        // Tokens signed with the old salt are invalid, so the denylist and `expired_through` can be empty.
        revoked: [],
        tokens: tokens.map((entry) => ({ ...entry, void: true as const })),
        expired_through: 0,
      });
      return tokens.map(({ token_id: id }) => id);
    });
  }

  /** Whether it is neither over, revoked nor of an earlier salt. */
  #isLive(file: TokenFile, entry: TokenEntry): boolean {
    const left = this.#left(file, entry);
    if (Number.isNaN(left)) return false;
    if (this.#options.ended.isOver(endingOf(entry), left <= 0)) return false;
    return entry.void !== true && !file.revoked.includes(entry.token_id);
  }

  /**
   * How much of its time it has not lived yet, ms; NaN: nobody can tell now. The wall clock counts only for a token whose age the lived
   * time does not tell (an older version minted it, or the lived time was lost), and only at the first look, so that no clock that is
   * set in between ends it or keeps it.
   */
  #left({ expired_through: through }: TokenFile, entry: TokenEntry): number {
    const { lived, now } = this.#options;
    const { created_at: created, expires_at: end, token_id: id } = entry;
    const life = endOf(entry) - created * 1000;
    if (entry.lived?.clock === lived.id) return life - Math.max(0, lived.now() - entry.lived.ms);
    const known = this.#endsByWall.get(id);
    if (known !== undefined) return Math.min(known - lived.now(), life);
    const wall = now();
    if (end <= through) return 0;
    if (wall < CLOCK_FLOOR_MS || created * 1000 > wall + MAX_SKEW_MS) return Number.NaN;
    const left = endOf(entry) - wall;
    this.#endsByWall.set(id, lived.now() + left);
    return left;
  }

  /**
   * The file without old entries. An entry and its place on the denylist are removed together, and only if it is over for good or void;
   * `keep` always stays. What only the wall clock told is now by the lived time.
   */
  #tidy(file: TokenFile, keep?: TokenId): TokenFile {
    const { lived } = this.#options;
    const left = new Map(file.tokens.map((entry) => [entry.token_id, this.#left(file, entry)]));
    const leftOf = ({ token_id: id }: TokenEntry): number => left.get(id) ?? Number.NaN;
    const ended = file.tokens.filter((entry) => leftOf(entry) <= 0);
    this.#options.ended.note(ended.map(endingOf));
    const over = (entry: TokenEntry): boolean => entry.void === true || leftOf(entry) <= 0;
    const recent = file.tokens.filter(
      (entry) => entry.token_id === keep || leftOf(entry) > -KEEP_EXPIRED_MS || !over(entry),
    );
    let tooMany = recent.length - MAX_LISTED;
    const tokens = recent
      .filter((entry) => entry.token_id === keep || !over(entry) || tooMany-- <= 0) // oldest first
      .map((entry) => ({ ...entry, ...livedMark(entry, leftOf(entry), lived) }));
    const dropped = new Set(file.tokens.map(({ token_id: id }) => id));
    for (const { token_id: id } of tokens) dropped.delete(id);
    for (const id of dropped) this.#endsByWall.delete(id);
    return { ...file, tokens, revoked: file.revoked.filter((id) => !dropped.has(id)) };
  }

  #read(exact = false): ReadTokens {
    this.opens++;
    return this.#reader.read(exact);
  }

  /** Derived again when the pairing or the salt changes, not for every request (HKDF is four hashes). */
  #keyFor(pairingKey: string, salt: string): KeyObject {
    const known = this.#key;
    if (known?.pairingKey === pairingKey && known.salt === salt) return known.key;
    const key = deriveTokenKey(pairingKey, Buffer.from(salt, 'hex'));
    this.#key = { pairingKey, salt, key };
    return key;
  }

  /** One change at a time over all processes, each applied to the present content of the file. */
  async #change<T>(work: (file: TokenFile | null) => Promise<T>): Promise<T> {
    const { file } = this.#options;
    const run = async (): Promise<T> => {
      try {
        await mkdir(dirname(file), { recursive: true, mode: 0o755 });
        return await withLock(`${file}.lock`, async () => {
          const read = this.#read(true);
          if (read.kind === 'broken') {
            throw new ApiError(
              'E_STORE',
              `The token store is not used: ${read.problem}. Repair it, or remove it; removing it ends every token.`,
            );
          }
          return work(read.kind === 'read' ? read.file : null);
        });
      } catch (error) {
        if (error instanceof ApiError) throw error;
        this.#options.log.error(`tokens: cannot change ${file}: ${messageOf(error)}`);
        throw new ApiError('E_STORE', `The token store could not be written: ${messageOf(error)}.`);
      }
    };
    return this.#changes.run(run);
  }

  async #write(next: TokenFile): Promise<void> {
    await writeAtomic(this.#options.file, textOf(next), 0o600);
  }
}

function endingOf(entry: TokenEntry): Ending {
  return { kind: 'token', id: entry.token_id, expiresAt: endOf(entry) };
}

/** When it ends; limited, in case the registry was edited by hand. */
function endOf({ created_at: created, expires_at: end }: TokenEntry): number {
  return Math.min(end, created * 1000 + LONGEST_TTL_MS);
}

/** For an entry that has no mark of the present lived time, if its age is known. */
function livedMark(entry: TokenEntry, left: number, lived: Lived): Pick<TokenEntry, 'lived'> {
  if (entry.lived?.clock === lived.id || Number.isNaN(left)) return {};
  const age = endOf(entry) - entry.created_at * 1000 - left;
  return { lived: { clock: lived.id, ms: Math.floor(lived.now() - age) } };
}

function shown({ void: _void, lived: _lived, ...entry }: TokenEntry): Omit<TokenEntry, 'void' | 'lived'> {
  return entry;
}

function emptyFile(): TokenFile {
  return { salt: newSalt(), revoked: [], tokens: [], expired_through: 0 };
}

function newSalt(): string {
  return randomBytes(16).toString('hex');
}

function textOf(file: TokenFile): string {
  return `${JSON.stringify(file, null, 2)}\n`;
}

function full(): ApiError {
  return invalid('', `at most ${MAX_LIVE} tokens; svc mcp revoke --all, or wait until some expire`);
}

function invalid(path: string, message: string): ApiError {
  return new ApiError('E_INVALID_VALUE', `The token cannot be minted: ${message}.`, {
    errors: [{ path, message }],
  });
}
