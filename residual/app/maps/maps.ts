import { type FileHandle, mkdir, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import type { FromSchema } from 'json-schema-to-ts';
import { TileType } from 'pmtiles';
import { chunksOf } from '../../../shared/async/chunks.ts';
import { ApiError, codeOf, messageOf } from '../../../shared/errors.ts';
import { fillAtomic } from '../../../shared/files/atomic-write.ts';
import type { mapFile, mapList } from '../../../shared/schemas/maps.ts';
import { KeptFiles } from '../kept-files.ts';
import { aboutMap, checkWhole, HEADER_BYTES, mapHeader } from './map-header.ts';

export type MapFile = FromSchema<typeof mapFile>;
export type MapList = Pick<FromSchema<typeof mapList>, 'maps' | 'free_bytes' | 'problem'>;

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*\.pmtiles$/;
const TILE_WORDS: Readonly<Record<TileType, MapFile['tile_type']>> = {
  [TileType.Unknown]: 'unknown',
  [TileType.Mvt]: 'mvt',
  [TileType.Png]: 'png',
  [TileType.Jpeg]: 'jpeg',
  [TileType.Webp]: 'webp',
  [TileType.Avif]: 'avif',
  [TileType.Mlt]: 'mlt',
};
const VECTOR: ReadonlySet<TileType> = new Set([TileType.Mvt, TileType.Mlt]);
const MAX_LISTED = 200;
/** Left for the others that write to this disk. */
export const RESERVE_BYTES = 512e6;
/** A map is synced and the disk looked at after so much of it. */
const PIECE_BYTES = 64 * 1024 * 1024;

/** The map files of the node, PMTiles of version 3 in one folder. One that is copied there by hand counts too. */
export class Maps {
  readonly directory: string;
  readonly files: KeptFiles;
  readonly #reserve: number;

  constructor(directory: string, reserveBytes = RESERVE_BYTES) {
    this.directory = directory;
    this.files = new KeptFiles(directory, (name) => NAME.test(name), 'map');
    this.#reserve = reserveBytes;
  }

  /** By name, at most 200. */
  async list(): Promise<MapList> {
    const usable = await this.files.names();
    const maps: MapFile[] = [];
    const problems: string[] = [];
    if (usable.length > MAX_LISTED)
      problems.push(`only the first ${MAX_LISTED} of ${usable.length} are shown`);
    for (const name of usable.slice(0, MAX_LISTED)) {
      try {
        maps.push(await this.describe(name));
      } catch (error) {
        problems.push(`${name}: ${messageOf(error)}`);
      }
    }
    return { maps, free_bytes: await this.freeBytes(), problem: problems.join('; ') || null };
  }

  /**
   * Opens one for reading; the caller closes it. Links are not followed.
   * @throws ApiError E_NOT_FOUND
   */
  async open(name: string): Promise<FileHandle> {
    return this.files.open(name);
  }

  /**
   * Stores one completely or not at all, also over one of the same name.
   * @param length that was announced, bytes; null: not known
   * @throws ApiError E_BAD_REQUEST for its name, E_INVALID_VALUE, E_DISK_FULL, E_STORE; what the body fails with
   */
  async store(name: string, body: Readable, length: number | null): Promise<MapFile> {
    if (!NAME.test(name))
      throw new ApiError('E_BAD_REQUEST', 'The name of a map ends in .pmtiles. PUT it to such a path.');
    try {
      await mkdir(this.directory, { recursive: true, mode: 0o750 });
      await this.checkSpace(length ?? 0);
      const path = join(this.directory, name);
      await fillAtomic(path, async (handle) => handle.writeFile(this.#checked(body, handle)), 0o640);
    } catch (error) {
      if (error instanceof ApiError) throw error;
      if (codeOf(error) === 'ENOSPC') throw this.full();
      throw new ApiError('E_STORE', `The map could not be stored: ${messageOf(error)}.`);
    }
    return this.describe(name);
  }

  pathOf(name: string): string {
    return join(this.directory, name);
  }

  /** @throws ApiError E_MAP_EXISTS */
  async refuseExisting(name: string): Promise<void> {
    if ((await this.files.look(name)) !== null) throw new ApiError('E_MAP_EXISTS');
  }

  /** @throws ApiError E_NOT_FOUND */
  async remove(name: string): Promise<void> {
    await this.files.remove(name);
  }

  /** The body as it comes; it fails as soon as it is seen to be no map, or the disk to be full. */
  async *#checked(body: Readable, handle: FileHandle): AsyncGenerator<Buffer> {
    let head = Buffer.alloc(0);
    let size = 0;
    let piece = 0;
    for await (const chunk of chunksOf(body)) {
      size += chunk.length;
      piece += chunk.length;
      if (head.length < HEADER_BYTES) {
        head = Buffer.concat([head, chunk.subarray(0, HEADER_BYTES)]);
        if (head.length >= HEADER_BYTES) refuseUnless(() => mapHeader(head));
      }
      yield chunk;
      if (piece < PIECE_BYTES) continue;
      piece = 0;
      await handle.datasync(); // else the end would wait for gigabytes
      await this.checkSpace(0);
    }
    refuseUnless(() => checkWhole(mapHeader(head), size));
  }

  /** @throws Error with why it cannot be used */
  async describe(name: string): Promise<MapFile> {
    const file = await this.open(name);
    try {
      const { size, mtime } = await file.stat();
      const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
      const header = mapHeader(buffer.subarray(0, bytesRead));
      checkWhole(header, size);
      const about = await aboutMap(file, header);
      return {
        name,
        size_bytes: size,
        modified_at: mtime.toISOString(),
        tile_type: TILE_WORDS[header.tileType],
        min_zoom: header.minZoom,
        max_zoom: header.maxZoom,
        bounds: [header.minLon, header.minLat, header.maxLon, header.maxLat],
        center: [header.centerLon, header.centerLat, header.centerZoom],
        name_of_map: about.name,
        tile: VECTOR.has(header.tileType) ? 'vector' : about.isTerrain ? 'terrain' : 'raster',
        attribution: about.attribution,
        source: about.source,
      };
    } finally {
      await file.close();
    }
  }

  /** Bytes for users other than root; null if it cannot be read. */
  async freeBytes(): Promise<number | null> {
    for (const folder of [this.directory, dirname(this.directory)]) {
      const found = await statfs(folder).catch(() => null); // not there yet: its parent is on the same disk
      if (found !== null) return found.bavail * found.bsize;
    }
    return null;
  }

  /** @param needed bytes @throws ApiError E_DISK_FULL */
  async checkSpace(needed: number): Promise<void> {
    const free = await this.freeBytes();
    if (free !== null && free - needed < this.#reserve) throw this.full();
  }

  /** What to throw where the disk is full. */
  full(): ApiError {
    return new ApiError(
      'E_DISK_FULL',
      `The disk has no room for this map: ${this.#reserve / 1e6} MB stay free. Delete maps or recordings.`,
    );
  }
}

function refuseUnless(check: () => unknown): void {
  try {
    check();
  } catch (error) {
    throw new ApiError('E_INVALID_VALUE', `This cannot be used as a map: ${messageOf(error)}.`, {
      errors: [{ path: '', message: messageOf(error) }],
    });
  }
}
