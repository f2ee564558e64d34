import { createHash } from 'node:crypto';
import { Backoff } from '../async/backoff.ts';
import { Slots } from '../async/slots.ts';
import type { Config } from '../config/schema.ts';
import { ApiError, codeOf, messageOf } from '../errors.ts';
import { memberOf } from '../member.ts';
import { type PictureType, pictureType } from './picture.ts';
import type { KeptTile } from './tile-cache.ts';
import type { TilePlace } from './tile-place.ts';
import { type TileAnswer, TileClient } from './tile-request.ts';

export type SourceConfig = Config['maps']['sources'][number];

const AT_ONCE = 4;
/** More than a large screen asks for at once. */
const MAX_WAITING = 400;
const MAX_NEGATIVE = 5000;
const ABSENT_MS = 3_600_000;
const SPOILT_MS = 30_000;
const PAUSE_MS = { first: 2000, cap: 60_000 } as const;
const RETRY_MS = { least: 1000, most: 600_000 } as const;
/** So many failures one after the other are the server's. */
const MANY = 3;
/** What a server says about how long a tile stays good counts within these. */
const FRESH_MS = { least: 3_600_000, usual: 7 * 86_400_000, most: 30 * 86_400_000 } as const;
const MAX_ETAG = 200;
/** The host is not there, or there is no way to it. */
const AWAY: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
]);

/** A tile that could not be had. */
export class TileFailed extends ApiError {
  /** Whoever asks sooner hears the same. */
  readonly retryMs: number;

  constructor(code: 'E_NOT_FOUND' | 'E_UPSTREAM' | 'E_TIMEOUT' | 'E_BUSY', detail: string, retryMs: number) {
    super(code, detail, {}, { 'retry-after': String(Math.max(1, Math.ceil(retryMs / 1000))) });
    this.retryMs = retryMs;
  }

  /** The server has no such tile, and is well. */
  get isAbsent(): boolean {
    return this.code === 'E_NOT_FOUND';
  }
}

/** One tile server: asked by few at once, and left alone while it fails. */
export class TileSource {
  readonly config: SourceConfig;
  /** In the cache; another address is another provider, whatever it is called. */
  readonly folder: string;
  readonly #client = new TileClient();
  readonly #slots = new Slots(AT_ONCE);
  readonly #backoff = new Backoff(PAUSE_MS.first, PAUSE_MS.cap);
  readonly #stopped = new AbortController();
  readonly #negative = new Map<string, { readonly until: number; readonly error: TileFailed }>();
  #pause: { readonly until: number; readonly error: TileFailed } | null = null;
  #failures = 0;
  #mean: number | null = null;

  constructor(config: SourceConfig) {
    this.config = config;
    this.folder = `${config.id}-${createHash('sha256').update(config.url).digest('hex').slice(0, 12)}`;
  }

  /** Of the last tiles that were fetched, bytes; null while there was none. */
  get meanBytes(): number | null {
    return this.#mean;
  }

  stop(): void {
    this.#stopped.abort(new ApiError('E_DRAINING'));
    this.#client.close();
  }

  key({ z, x, y }: TilePlace): string {
    return `${this.folder}/${z}/${x}/${y}`;
  }

  /**
   * Asks the server. The same failure is told again, without asking, until it may be over.
   * @param known the tile that is kept, if any: the answer may be that it is still good
   * @param waiting ends the waiting for a turn, not what was begun
   * @param begun called when the turn comes
   * @throws TileFailed; the reason of `waiting`
   */
  async fetch(
    place: TilePlace,
    known: KeptTile | null,
    waiting: AbortSignal,
    begun: () => void,
  ): Promise<KeptTile> {
    this.#refuse(place);
    if (this.#slots.waiting >= MAX_WAITING)
      throw new TileFailed('E_BUSY', `Too many tiles of ${this.config.name} are waited for.`, 1000);
    return this.#slots.run(
      async () => {
        this.#refuse(place); // while this one waited
        begun();
        return this.#ask(place, known);
      },
      AbortSignal.any([waiting, this.#stopped.signal]),
    );
  }

  async #ask(place: TilePlace, known: KeptTile | null): Promise<KeptTile> {
    let answer: TileAnswer;
    try {
      answer = await this.#client.get(this.#url(place), known?.etag ?? null, this.#stopped.signal);
    } catch (error) {
      throw this.#unanswered(place, error);
    }
    const { status, headers, body } = answer;
    if (status === 304 && known !== null) return { ...known, ...this.#well(), ...freshness(headers) };
    if (status !== 200) throw this.#refused(place, status, headers);
    let type: PictureType;
    try {
      type = pictureType(body);
      if (type === 'image/jpeg' && this.config.tile === 'terrain')
        throw new Error('a JPEG, which has no heights');
    } catch (error) {
      throw this.#spoilt(place, `${this.config.name} sent ${messageOf(error)}.`);
    }
    this.#mean = this.#mean === null ? body.length : this.#mean + (body.length - this.#mean) / 50;
    const { etag = '' } = headers;
    const isUsable = etag !== '' && etag.length <= MAX_ETAG && /^[!-~]+$/.test(etag);
    return { bytes: body, type, etag: isUsable ? etag : null, ...this.#well(), ...freshness(headers) };
  }

  #url({ z, x, y }: TilePlace): URL {
    const places: Readonly<Record<string, number>> = { z, x, y };
    return new URL(this.config.url.replaceAll(/\{([zxy])\}/g, (_, place: string) => String(places[place])));
  }

  #well(): { readonly fetchedAt: number } {
    this.#failures = 0;
    this.#pause = null;
    this.#backoff.reset();
    return { fetchedAt: Date.now() };
  }

  /** @throws TileFailed while it is known to fail */
  #refuse(place: TilePlace): void {
    const now = performance.now();
    const key = this.key(place);
    const negative = this.#negative.get(key);
    if (negative !== undefined && negative.until <= now) this.#negative.delete(key);
    for (const known of [negative, this.#pause])
      if (known !== null && known !== undefined && known.until > now)
        throw new TileFailed(codeFor(known.error), known.error.message, known.until - now);
  }

  #unanswered(place: TilePlace, error: unknown): Error {
    if (this.#stopped.signal.aborted) return new ApiError('E_DRAINING');
    const { name } = this.config;
    if (
      memberOf(error, 'name') === 'TimeoutError' ||
      (error instanceof Error && error.name === 'TimeoutError')
    )
      return this.#fault(place, 'E_TIMEOUT', `${name} did not answer in time.`);
    const code = codeOf(error);
    if (AWAY.has(code)) return this.#paused('E_UPSTREAM', `${name} cannot be reached (${code}).`, null);
    // Messages of Node may have the address, and that a key.
    const why = code === null && error instanceof Error ? error.message : `the connection broke (${code})`;
    return this.#fault(place, 'E_UPSTREAM', `${name}: ${why}.`);
  }

  #refused(place: TilePlace, status: number, headers: TileAnswer['headers']): TileFailed {
    const { name } = this.config;
    if (status === 404 || status === 410 || status === 204) {
      this.#well();
      return this.#remember(place, new TileFailed('E_NOT_FOUND', `${name} has no tile there.`, ABSENT_MS));
    }
    const words = `${name} answered ${status}.`;
    const after = retryAfter(headers['retry-after']);
    if (status === 429 || status === 503 || status === 401 || status === 403)
      return this.#paused('E_UPSTREAM', words, after);
    return this.#fault(place, 'E_UPSTREAM', words);
  }

  /** Of one tile; of the server, if it goes on. */
  #fault(place: TilePlace, code: 'E_UPSTREAM' | 'E_TIMEOUT', words: string): TileFailed {
    this.#failures++;
    return this.#failures >= MANY ? this.#paused(code, words, null) : this.#spoilt(place, words, code);
  }

  #spoilt(place: TilePlace, words: string, code: 'E_UPSTREAM' | 'E_TIMEOUT' = 'E_UPSTREAM'): TileFailed {
    return this.#remember(place, new TileFailed(code, words, SPOILT_MS));
  }

  #remember(place: TilePlace, error: TileFailed): TileFailed {
    const [oldest] = this.#negative.keys();
    if (this.#negative.size >= MAX_NEGATIVE && oldest !== undefined) this.#negative.delete(oldest);
    this.#negative.set(this.key(place), { until: performance.now() + error.retryMs, error });
    return error;
  }

  #paused(code: 'E_UPSTREAM' | 'E_TIMEOUT', words: string, afterMs: number | null): TileFailed {
    const ms = Math.max(this.#backoff.next(), afterMs ?? 0);
    const error = new TileFailed(code, words, ms);
    this.#pause = { until: performance.now() + ms, error };
    return error;
  }
}

function codeFor({ code }: TileFailed): 'E_NOT_FOUND' | 'E_UPSTREAM' | 'E_TIMEOUT' | 'E_BUSY' {
  return code === 'E_NOT_FOUND' || code === 'E_TIMEOUT' || code === 'E_BUSY' ? code : 'E_UPSTREAM';
}

/** Seconds or a date (RFC 9110, 10.2.3), bounded; null for none. */
function retryAfter(value: string | undefined): number | null {
  if (value === undefined) return null;
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.min(RETRY_MS.most, Math.max(RETRY_MS.least, ms)) : null;
}

/** RFC 9111, 4.2.1. */
function freshness({ 'cache-control': control = '', expires }: TileAnswer['headers']): {
  readonly freshMs: number;
} {
  const [, seconds] = /(?:^|[\s,])max-age="?(\d{1,10})/i.exec(control) ?? [];
  const told = seconds === undefined ? Date.parse(expires ?? '') - Date.now() : Number(seconds) * 1000;
  const wanted = /\bno-(?:store|cache)\b/i.test(control) ? 0 : told;
  return {
    freshMs: Math.min(
      FRESH_MS.most,
      Math.max(FRESH_MS.least, Number.isFinite(wanted) ? wanted : FRESH_MS.usual),
    ),
  };
}
