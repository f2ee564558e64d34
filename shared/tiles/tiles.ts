import { crc32 } from 'node:zlib';
import { deferred } from '../async/deferred.ts';
import { ApiError, messageOf } from '../errors.ts';
import { Reply } from '../routes/handler.ts';
import { type PictureType, pictureType } from './picture.ts';
import type { KeptTile, TileCache } from './tile-cache.ts';
import type { TilePlace } from './tile-place.ts';
import { type SourceConfig, TileFailed, TileSource } from './tile-source.ts';

/** What was kept of a source for where there is no internet. */
interface OfflineAreas {
  /** @param newerThan wall clock, ms: of older ones nothing. @returns null where none has the tile */
  readonly tile: (source: string, place: TilePlace, newerThan: number) => Promise<Buffer | null>;
}

/** A tile for a browser. */
interface ServedTile {
  readonly bytes: Buffer;
  readonly type: PictureType;
  readonly etag: string;
  /** For so long a browser need not ask again, s. */
  readonly maxAgeS: number;
}

interface Flight {
  readonly tile: Promise<KeptTile>;
  readonly unwanted: AbortController;
  waiting: number;
  /** The server is being asked: that ends, and is kept, though nobody wants it any more. */
  readonly turn: { hasBegun: boolean };
}

/** A browser asks again after a day at the latest, and soon where the tile may be old. */
const MAX_AGE_S = { most: 86_400, old: 60 } as const;
/** An offline area is as good as the server for so long; later, it is for when the server cannot be reached. */
const AREA_FRESH_MS = 30 * 86_400_000;

/**
 * The tiles of the sources: from the cache, an offline area, the server, in this order. One request to the server for a tile,
 * whoever wants it; an old tile where the server cannot be reached.
 */
export class Tiles {
  readonly #sources: ReadonlyMap<string, TileSource>;
  readonly #cache: TileCache;
  readonly #offline: OfflineAreas | null;
  readonly #flights = new Map<string, Flight>();

  /** @param offline null: there are no areas here */
  constructor(sources: readonly TileSource[], cache: TileCache, offline: OfflineAreas | null) {
    this.#sources = new Map(sources.map((source) => [source.config.id, source]));
    this.#cache = cache;
    this.#offline = offline;
  }

  start(): void {
    this.#cache.start();
  }

  async stop(): Promise<void> {
    for (const source of this.#sources.values()) source.stop();
    await this.#cache.stop();
  }

  /** As anybody may see them: without their addresses, which may have keys. */
  get sources(): Omit<SourceConfig, 'url'>[] {
    return [...this.#sources.values()].map(({ config }) => {
      const { id, name, attribution, min_zoom, max_zoom, tile } = config;
      return { id, name, attribution, min_zoom, max_zoom, tile };
    });
  }

  get cache(): { readonly bytes: number; readonly limit: number } {
    return { bytes: this.#cache.bytes, limit: this.#cache.limit };
  }

  /** @throws ApiError E_NOT_FOUND */
  source(id: string): TileSource {
    const source = this.#sources.get(id);
    if (source === undefined) throw new ApiError('E_NOT_FOUND', `No map source ${id}.`);
    return source;
  }

  /**
   * @param gone whoever wants it has left
   * @throws ApiError E_NOT_FOUND, E_INVALID_VALUE for a tile outside of the world or of the zooms of the source; TileFailed
   */
  async get(id: string, place: TilePlace, gone: AbortSignal): Promise<ServedTile> {
    const source = this.source(id);
    checkPlace(source.config, place);
    const kept = await this.#cache.read(source.key(place));
    const freshMs = kept === null ? 0 : left(kept);
    if (kept !== null && freshMs > 0) return served(kept.bytes, kept.type, freshMs);
    const recent = await this.#fromArea(id, place, Date.now() - AREA_FRESH_MS);
    if (recent !== null) return recent;
    try {
      const tile = await this.fetch(source, place, { known: kept, gone, mayEvict: true });
      return served(tile.bytes, tile.type, left(tile));
    } catch (error) {
      if (gone.aborted || !(error instanceof TileFailed)) throw error;
      if (kept !== null) return served(kept.bytes, kept.type, 0);
      const old = await this.#fromArea(id, place, -Infinity);
      if (old !== null) return old;
      throw error;
    }
  }

  /** What is kept, as long as it is good; null for nothing. */
  async kept(source: TileSource, place: TilePlace): Promise<Buffer | null> {
    const kept = await this.#cache.read(source.key(place));
    return kept !== null && left(kept) > 0 ? kept.bytes : null;
  }

  /** Asks the server, once for all that want this tile now, and keeps the answer. @throws TileFailed; the reason of `gone` */
  async fetch(
    source: TileSource,
    place: TilePlace,
    { known, gone, mayEvict }: { known: KeptTile | null; gone: AbortSignal; mayEvict: boolean },
  ): Promise<KeptTile> {
    const key = source.key(place);
    const flight = this.#flights.get(key) ?? this.#begin(source, place, known, mayEvict);
    flight.waiting++;
    try {
      return await unless(gone, flight.tile);
    } finally {
      flight.waiting--;
      if (flight.waiting === 0 && !flight.turn.hasBegun) {
        if (this.#flights.get(key) === flight) this.#flights.delete(key);
        flight.unwanted.abort(new ApiError('E_STOPPED'));
      }
    }
  }

  #begin(source: TileSource, place: TilePlace, known: KeptTile | null, mayEvict: boolean): Flight {
    const key = source.key(place);
    const unwanted = new AbortController();
    const turn = { hasBegun: false };
    const begun = (): void => {
      turn.hasBegun = true;
    };
    const tile = source.fetch(place, known, unwanted.signal, begun).then(async (fetched) => {
      await this.#cache.write(key, fetched, mayEvict);
      return fetched;
    });
    const flight: Flight = { tile, unwanted, waiting: 0, turn };
    this.#flights.set(key, flight);
    const landed = (): void => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
    };
    tile.then(landed, landed); // an error is told to those who wait
    return flight;
  }

  async #fromArea(id: string, place: TilePlace, newerThan: number): Promise<ServedTile | null> {
    const bytes = (await this.#offline?.tile(id, place, newerThan)) ?? null;
    if (bytes === null) return null;
    try {
      return served(bytes, pictureType(bytes), 0);
    } catch (error) {
      process.emitWarning(`a tile of an offline area: ${messageOf(error)}`);
      return null;
    }
  }
}

/** @throws ApiError E_INVALID_VALUE */
function checkPlace({ name, min_zoom: least, max_zoom: most }: SourceConfig, { z, x, y }: TilePlace): void {
  const side = 2 ** z;
  const why =
    z < least || z > most
      ? `${name} has zooms ${least} to ${most}`
      : x >= side || y >= side
        ? `zoom ${z} has ${side} rows and columns`
        : null;
  if (why === null) return;
  throw new ApiError('E_INVALID_VALUE', `There is no such tile: ${why}.`, {
    errors: [{ path: z < least || z > most ? '/z' : x >= side ? '/x' : '/y', message: why }],
  });
}

/** How long it is still as good as new, ms; 0 for one that is not, or that a clock says is of the future. */
function left({ fetchedAt, freshMs }: KeptTile): number {
  const age = Date.now() - fetchedAt;
  return age < 0 ? 0 : Math.max(0, freshMs - age);
}

function served(bytes: Buffer, type: PictureType, freshMs: number): ServedTile {
  const maxAgeS = freshMs === 0 ? MAX_AGE_S.old : Math.min(MAX_AGE_S.most, Math.ceil(freshMs / 1000));
  return { bytes, type, etag: `"${crc32(bytes).toString(16)}-${bytes.length.toString(16)}"`, maxAgeS };
}

/** What `work` gives, unless the signal comes first. @throws the reason of `gone` */
async function unless<T>(gone: AbortSignal, work: Promise<T>): Promise<T> {
  gone.throwIfAborted();
  const { promise, reject } = deferred<never>();
  const leave = (): void => reject(gone.reason);
  gone.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    gone.removeEventListener('abort', leave);
  }
}

/** @param known the `If-None-Match` of whoever asks */
export function tileReply({ bytes, type, etag, maxAgeS }: ServedTile, known: string | undefined): Reply {
  const headers = { etag, 'cache-control': `private, max-age=${maxAgeS}` };
  const isKnown = known?.split(',').some((each) => each.trim().replace(/^W\//, '') === etag) === true;
  return isKnown ? new Reply(304, '', type, headers) : new Reply(200, bytes, type, headers);
}
