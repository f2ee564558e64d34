import { type FileHandle, mkdir } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { FromSchema } from 'json-schema-to-ts';
import { Compression, TileType } from 'pmtiles';
import { TokenBucket } from '../../../shared/async/token-bucket.ts';
import { ApiError, codeOf, messageOf } from '../../../shared/errors.ts';
import { fillAtomic } from '../../../shared/files/atomic-write.ts';
import { PmtilesWriter } from '../../../shared/maps/pmtiles-writer.ts';
import type { OnProgress } from '../../../shared/routes/handler.ts';
import {
  type areaAnswer,
  type areaRequest,
  MAX_AREA_TILES,
  type mapList,
} from '../../../shared/schemas/maps.ts';
import { type PictureType, pictureType } from '../../../shared/tiles/picture.ts';
import type { TilePlace } from '../../../shared/tiles/tile-place.ts';
import { TileFailed, type TileSource } from '../../../shared/tiles/tile-source.ts';
import type { Tiles } from '../../../shared/tiles/tiles.ts';
import { type Bounds, countTiles, tilesIn } from './area.ts';
import type { Maps } from './maps.ts';

type AreaRequest = FromSchema<typeof areaRequest>;
type AreaAnswer = FromSchema<typeof areaAnswer>;
type Running = FromSchema<typeof mapList>['downloads'][number];

/** Of what a provider has to bear; a person who looks at the map beside it asks more. */
const RATE = { perSecond: 20, burst: 20 } as const;
const AT_ONCE = 2;
/** A tile is asked for so often; that many failing one after the other end it. */
const TRIES = 4;
const MAX_FAILED = 20;
const MAX_PAUSE_MS = 60_000;
/** The room on the disk is looked at after so many tiles. */
const LOOK_TILES = 500;
/** Where no tile of a source is known. */
const USUAL_BYTES = { raster: 25_000, terrain: 60_000 } as const;

const TILE_TYPES: Readonly<Record<PictureType, TileType>> = {
  'image/png': TileType.Png,
  'image/jpeg': TileType.Jpeg,
  'image/webp': TileType.Webp,
};

/** Makes a map file of an area, of the tiles of a source. One at a time. */
export class AreaDownload {
  readonly #tiles: Tiles;
  readonly #maps: Maps;
  #running: {
    readonly state: Running;
    readonly stop: AbortController;
    readonly ended: Promise<unknown>;
  } | null = null;

  constructor(tiles: Tiles, maps: Maps) {
    this.#tiles = tiles;
    this.#maps = maps;
  }

  get running(): readonly Running[] {
    return this.#running === null ? [] : [{ ...this.#running.state }];
  }

  /** Ends the one that makes this file, which then leaves nothing. @returns false if there is none */
  async cancel(name: string): Promise<boolean> {
    const running = this.#running;
    if (running === null || running.state.name !== name) return false;
    running.stop.abort(new ApiError('E_STOPPED'));
    await running.ended;
    return true;
  }

  async stop(): Promise<void> {
    this.#running?.stop.abort(new ApiError('E_DRAINING'));
    await this.#running?.ended;
  }

  /**
   * @throws ApiError E_NOT_FOUND for the source, E_INVALID_VALUE for the area, E_MAP_EXISTS, E_BUSY, E_DISK_FULL, E_STOPPED,
   *   E_UPSTREAM if the server fails, E_STORE
   */
  async make(request: AreaRequest, progress: OnProgress): Promise<AreaAnswer> {
    const source = this.#tiles.source(request.source);
    const bounds = boundsOf(request.bbox);
    const tiles = checkedCount(request, bounds, source);
    const estimated = tiles * Math.round(source.meanBytes ?? USUAL_BYTES[source.config.tile]);
    const answer = {
      tiles,
      estimated_bytes: estimated,
      attribution: source.config.attribution,
      free_bytes: await this.#maps.freeBytes(),
      missing: 0,
      map: null,
    };
    if (request.dry_run === true) return answer;
    if (this.#running !== null)
      throw new ApiError('E_BUSY', `${this.#running.state.name} is being made. Wait for it, or stop it.`);
    const stop = new AbortController();
    const state: Running = {
      name: request.name,
      source: request.source,
      done: 0,
      total: tiles,
      missing: 0,
      bytes: 0,
      started_at: new Date().toISOString(),
    };
    const work = this.#store(source, { ...request, bounds, estimated }, state, stop.signal, progress);
    const ended = work.catch(() => undefined); // told to who has asked for it
    this.#running = { state, stop, ended };
    try {
      await work;
    } finally {
      this.#running = null;
    }
    return { ...answer, missing: state.missing, map: await this.#maps.describe(request.name) };
  }

  async #store(
    source: TileSource,
    request: AreaRequest & { readonly bounds: Bounds; readonly estimated: number },
    state: Running,
    stop: AbortSignal,
    progress: OnProgress,
  ): Promise<void> {
    const { name, estimated } = request;
    await this.#maps.refuseExisting(name);
    await this.#maps.checkSpace(estimated);
    try {
      await mkdir(this.#maps.directory, { recursive: true, mode: 0o750 });
      await fillAtomic(
        this.#maps.pathOf(name),
        async (file) => {
          await this.#fill(file, source, request, state, stop, progress);
          await this.#maps.refuseExisting(name); // one of this name may have come meanwhile
        },
        0o640,
      );
    } catch (error) {
      stop.throwIfAborted(); // however it ended then
      if (error instanceof ApiError) throw error;
      if (codeOf(error) === 'ENOSPC') throw this.#maps.full();
      throw new ApiError('E_STORE', `The map could not be stored: ${messageOf(error)}.`);
    }
  }

  async #fill(
    file: FileHandle,
    source: TileSource,
    { bounds, min_zoom: minZoom, max_zoom: maxZoom, name }: AreaRequest & { readonly bounds: Bounds },
    state: Running,
    stop: AbortSignal,
    progress: OnProgress,
  ): Promise<void> {
    const writer = new PmtilesWriter(file);
    const types = new Map<PictureType, number>();
    const failures: { row: number; last: TileFailed | null } = { row: 0, last: null };
    for await (const { place, data, failed } of this.#fetched(
      source,
      tilesIn(bounds, minZoom, maxZoom),
      stop,
    )) {
      if (data === null) {
        state.missing++;
        failures.last = failed ?? failures.last;
        failures.row = failed?.isAbsent === false ? failures.row + 1 : 0;
        if (failed !== null && failures.row >= MAX_FAILED) throw failed;
      } else {
        failures.row = 0;
        const type = pictureType(data);
        types.set(type, (types.get(type) ?? 0) + 1);
        await writer.add({ ...place, data });
      }
      state.done++;
      state.bytes = writer.bytes;
      if (state.done % LOOK_TILES === 0) await this.#maps.checkSpace(0);
      progress({ done: state.done, total: state.total, text: `${state.done} of ${state.total} tiles` });
    }
    const [usual] = [...types].toSorted(([, a], [, b]) => b - a);
    if (usual === undefined)
      throw failures.last ?? new ApiError('E_UPSTREAM', `${source.config.name} has no tile there.`);
    const { id, attribution, tile } = source.config;
    const [west, south, east, north] = bounds;
    await writer.finish({
      tileType: TILE_TYPES[usual[0]],
      tileCompression: Compression.None,
      bounds: west <= east ? bounds : [-180, south, 180, north],
      metadata: {
        name: name.slice(0, -'.pmtiles'.length),
        attribution,
        description: source.config.name,
        type: 'baselayer',
        svc_source: id,
        ...(tile === 'terrain' ? { encoding: 'terrarium' } : {}),
      },
    });
  }

  /** The tiles in their order, a few asked for at the same time. */
  async *#fetched(
    source: TileSource,
    places: Iterable<TilePlace>,
    stop: AbortSignal,
  ): AsyncGenerator<Fetched> {
    const bucket = new TokenBucket(RATE, performance.now());
    const ahead: Promise<Fetched>[] = [];
    try {
      for (const place of places) {
        stop.throwIfAborted();
        const next = this.#one(source, place, bucket, stop);
        next.catch(() => undefined); // heard when its turn comes
        ahead.push(next);
        const first = ahead.length < AT_ONCE ? undefined : ahead.shift();
        if (first !== undefined) yield await first;
      }
      for (const rest of ahead) yield await rest;
    } finally {
      await Promise.allSettled(ahead);
    }
  }

  async #one(source: TileSource, place: TilePlace, bucket: TokenBucket, stop: AbortSignal): Promise<Fetched> {
    const kept = await this.#tiles.kept(source, place);
    if (kept !== null) return { place, data: kept, failed: null };
    for (let left = TRIES; ; ) {
      const waitMs = bucket.waitMs(performance.now());
      if (!bucket.take(performance.now())) {
        await pause(Math.max(1, waitMs), undefined, { signal: stop });
        continue;
      }
      try {
        const { bytes } = await this.#tiles.fetch(source, place, {
          known: null,
          gone: stop,
          mayEvict: false,
        });
        return { place, data: bytes, failed: null };
      } catch (error) {
        if (!(error instanceof TileFailed)) throw error;
        left--;
        if (error.isAbsent || left <= 0) return { place, data: null, failed: error };
        await pause(Math.min(MAX_PAUSE_MS, error.retryMs), undefined, { signal: stop });
      }
    }
  }
}

interface Fetched {
  readonly place: TilePlace;
  readonly data: Buffer | null;
  readonly failed: TileFailed | null;
}

function boundsOf(bbox: readonly number[]): Bounds {
  const [west = Number.NaN, south = Number.NaN, east = Number.NaN, north = Number.NaN] = bbox;
  if (!(Math.abs(south) <= 90 && Math.abs(north) <= 90)) throw refused('bbox', 'A latitude is beyond 90°.');
  if (!(south < north)) throw refused('bbox', 'The south of the area must be less than its north.');
  return [west, south, east, north];
}

/** @throws ApiError E_INVALID_VALUE */
function checkedCount(
  { min_zoom: minZoom, max_zoom: maxZoom }: AreaRequest,
  bounds: Bounds,
  { config }: TileSource,
): number {
  if (minZoom > maxZoom) throw refused('max_zoom', 'max_zoom is less than min_zoom.');
  if (minZoom < config.min_zoom || maxZoom > config.max_zoom)
    throw refused(
      minZoom < config.min_zoom ? 'min_zoom' : 'max_zoom',
      `${config.name} has zooms ${config.min_zoom} to ${config.max_zoom}.`,
    );
  const tiles = countTiles(bounds, minZoom, maxZoom);
  if (tiles > MAX_AREA_TILES)
    throw refused(
      'bbox',
      `The area has ${tiles} tiles, and ${MAX_AREA_TILES} are the most. Choose a smaller one, or fewer zooms.`,
      { tiles },
    );
  return tiles;
}

function refused(member: string, detail: string, extras: Readonly<Record<string, unknown>> = {}): ApiError {
  return new ApiError('E_INVALID_VALUE', detail, {
    errors: [{ path: `/${member}`, message: detail }],
    ...extras,
  });
}
