import type { FileHandle } from 'node:fs/promises';
import { Compression, TileType, zxyToTileId } from 'pmtiles';
import { fillAtomic } from '../files/atomic-write.ts';
import type { JsonObject } from '../member.ts';
import { type DirectoryEntry, packDirectories, packed } from './pmtiles-directory.ts';

/**
 * Writes PMTiles of version 3 (https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md), clustered, with gzip inside. No
 * library for Node writes them. Header and root directory have the first 16 KiB, then tiles, leaf directories and metadata: so
 * tiles go to the disk as they come, and only their places are kept (about 40 bytes for each).
 */

const HEADER_BYTES = 127;
/** The root directory must lie within these, for whoever reads both at once. */
const HEAD_BYTES = 16_384;
/** So much is gathered before it is written. */
const BUFFER_BYTES = 1024 * 1024;
/** Synced after so much, else the end would wait for gigabytes. */
const PIECE_BYTES = 64 * 1024 * 1024;
/** Bounds the memory. */
const MAX_ENTRIES = 2_000_000;
const MAX_ZOOM = 26;
/** The same tile again, such as open water, is stored once: of so many that are small. */
const REMEMBERED = 4096;
const REMEMBERED_BYTES = 2048;

export interface ArchiveTile {
  readonly z: number;
  readonly x: number;
  readonly y: number;
  readonly data: Uint8Array;
}

/** What the header and the metadata say of an archive. */
interface ArchiveAbout {
  readonly tileType: TileType;
  /** Of the tiles: None for pictures, usually Gzip for vector tiles. */
  readonly tileCompression: Compression;
  /** West, south, east, north, degrees. */
  readonly bounds: readonly [number, number, number, number];
  /** Where a viewer begins: longitude, latitude, zoom. By default the middle, at the lowest zoom. */
  readonly center?: readonly [number, number, number];
  /** `name`, `attribution` and so on; vector tiles need `vector_layers`. */
  readonly metadata: JsonObject;
}

/**
 * Stores an archive at `path`, completely or not at all, also over an old one.
 * @param tiles in the order of their tile ids (`inTileOrder`), each once
 * @throws RangeError for a tile outside of the world, Error for one out of order, and for no tile at all; what `tiles` and the
 *   file system throw
 */
export async function writePmtiles(
  path: string,
  about: ArchiveAbout,
  tiles: AsyncIterable<ArchiveTile> | Iterable<ArchiveTile>,
  mode = 0o640,
): Promise<void> {
  await fillAtomic(
    path,
    async (file) => {
      const writer = new PmtilesWriter(file);
      for await (const tile of tiles) await writer.add(tile);
      await writer.finish(about);
    },
    mode,
  );
}

/** Sorted as an archive has them. */
export function inTileOrder<T extends Omit<ArchiveTile, 'data'>>(tiles: readonly T[]): T[] {
  return tiles
    .map((tile) => ({ tile, id: zxyToTileId(tile.z, tile.x, tile.y) }))
    .toSorted((a, b) => a.id - b.id)
    .map(({ tile }) => tile);
}

/** For a file that is new and empty; whoever opened it syncs, closes and names it. */
export class PmtilesWriter {
  readonly #file: FileHandle;
  readonly #entries: DirectoryEntry[] = [];
  readonly #known = new Map<string, DirectoryEntry>();
  #buffer: Uint8Array[] = [Buffer.alloc(HEAD_BYTES)];
  #buffered = HEAD_BYTES;
  #unsynced = 0;
  #tileBytes = 0;
  #tiles = 0;
  #contents = 0;
  #zooms: readonly [number, number] | null = null;
  #lastId = -1;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Bytes of tiles so far; the same content counts once. */
  get bytes(): number {
    return this.#tileBytes;
  }

  /** @throws RangeError for a tile outside of the world or an empty one, Error for one out of order */
  async add({ z, x, y, data }: ArchiveTile): Promise<void> {
    const side = 2 ** z;
    if (![z, x, y].every(Number.isSafeInteger) || z < 0 || z > MAX_ZOOM)
      throw new RangeError(`no tile ${z}/${x}/${y}`);
    if (x < 0 || y < 0 || x >= side || y >= side) throw new RangeError(`no tile ${z}/${x}/${y}`);
    if (data.length === 0) throw new RangeError(`tile ${z}/${x}/${y} is empty`);
    const tileId = zxyToTileId(z, x, y);
    if (tileId <= this.#lastId) throw new Error(`tile ${z}/${x}/${y} is not in the order of the archive`);
    const follows = tileId === this.#lastId + 1;
    this.#lastId = tileId;
    this.#zooms = [this.#zooms?.[0] ?? z, z];
    this.#tiles++;
    const key = data.length <= REMEMBERED_BYTES ? Buffer.from(data).toString('latin1') : null;
    const same = key === null ? undefined : this.#recall(key);
    const last = this.#entries.at(-1);
    if (same !== undefined && same.offset === last?.offset && follows) {
      last.runLength++;
      return;
    }
    if (this.#entries.length >= MAX_ENTRIES) throw new RangeError(`more than ${MAX_ENTRIES} tiles`);
    const { offset, length } = same ?? { offset: this.#tileBytes, length: data.length };
    const entry = { tileId, offset, length, runLength: 1 };
    this.#entries.push(entry);
    if (same !== undefined) return;
    if (key !== null) this.#remember(key, entry);
    this.#contents++;
    this.#tileBytes += data.length;
    await this.#write(data);
  }

  /** Writes what readers begin with. @throws Error for an archive without tiles */
  async finish({ tileType, tileCompression, bounds, center, metadata }: ArchiveAbout): Promise<void> {
    if (this.#zooms === null) throw new Error('a map needs at least one tile');
    const { root, leaves } = await packDirectories(this.#entries, HEAD_BYTES - HEADER_BYTES);
    for (const leaf of leaves) await this.#write(leaf);
    const json = await packed(Buffer.from(JSON.stringify(metadata)));
    await this.#write(json);
    await this.#flush();
    const leavesAt = HEAD_BYTES + this.#tileBytes;
    const leafBytes = leaves.reduce((sum, leaf) => sum + leaf.length, 0);
    const head = Buffer.alloc(HEADER_BYTES);
    head.write('PMTiles', 'latin1');
    head[7] = 3;
    const numbers = [
      HEADER_BYTES,
      root.length,
      leavesAt + leafBytes,
      json.length,
      leavesAt,
      leafBytes,
      HEAD_BYTES,
      this.#tileBytes,
      this.#tiles,
      this.#entries.length,
      this.#contents,
    ];
    for (const [index, value] of numbers.entries()) head.writeBigUInt64LE(BigInt(value), 8 + 8 * index);
    const isClustered = 1;
    head.set([isClustered, Compression.Gzip, tileCompression, tileType, ...this.#zooms], 96);
    const [west, south, east, north] = bounds;
    const [lon, lat, zoom] = center ?? [(west + east) / 2, (south + north) / 2, this.#zooms[0]];
    for (const [index, degrees] of bounds.entries()) head.writeInt32LE(e7(degrees), 102 + 4 * index);
    head[118] = zoom;
    head.writeInt32LE(e7(lon), 119);
    head.writeInt32LE(e7(lat), 123);
    const start = Buffer.concat([head, root]);
    const { bytesWritten } = await this.#file.write(start, 0, start.length, 0);
    if (bytesWritten !== start.length) throw new Error(`only ${bytesWritten} bytes could be written`);
  }

  /** One that comes again is kept longer. */
  #recall(key: string): DirectoryEntry | undefined {
    const entry = this.#known.get(key);
    if (entry === undefined) return undefined;
    this.#known.delete(key);
    this.#known.set(key, entry);
    return entry;
  }

  #remember(key: string, entry: DirectoryEntry): void {
    if (this.#known.size >= REMEMBERED) {
      const [oldest] = this.#known.keys();
      if (oldest !== undefined) this.#known.delete(oldest);
    }
    this.#known.set(key, entry);
  }

  async #write(data: Uint8Array): Promise<void> {
    this.#buffer.push(data);
    this.#buffered += data.length;
    if (this.#buffered >= BUFFER_BYTES) await this.#flush();
  }

  async #flush(): Promise<void> {
    const gathered = Buffer.concat(this.#buffer);
    this.#buffer = [];
    this.#buffered = 0;
    await this.#file.writeFile(gathered); // goes on where the last one ended
    this.#unsynced += gathered.length;
    if (this.#unsynced < PIECE_BYTES) return;
    this.#unsynced = 0;
    await this.#file.datasync();
  }
}

function e7(degrees: number): number {
  return Math.round(degrees * 1e7);
}
