import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Compression, PMTiles, type Source } from 'pmtiles';
import { messageOf } from '../../../shared/errors.ts';
import type { TilePlace } from '../../../shared/tiles/tile-place.ts';
import type { KeptFiles } from '../kept-files.ts';
import { readMapAbout } from './map-header.ts';

/** Tiles out of the offline areas that were made of a source. The files are whatever was uploaded, so each size has a bound. */

const MAX_READ = 4 * 1024 * 1024;
const MAX_DIRECTORY = 16 * 1024 * 1024;
const LOOK_MS = 5000;
const MAX_FILES = 200;

const unzip = promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip);

interface Area {
  readonly stamp: string;
  readonly source: string | null;
  readonly modifiedAt: number;
  readonly archive: PMTiles;
}

export class OfflineTiles {
  readonly #files: KeptFiles;
  readonly #onProblem: (sentence: string) => void;
  #areas = new Map<string, Area>();
  #lookedAt = -Infinity;
  #looking: Promise<void> | null = null;

  constructor(files: KeptFiles, onProblem: (sentence: string) => void) {
    this.#files = files;
    this.#onProblem = onProblem;
  }

  /** @param newerThan wall clock, ms: of older files nothing. @returns null where no area of this source has the tile */
  async tile(source: string, { z, x, y }: TilePlace, newerThan: number): Promise<Buffer | null> {
    await this.#look();
    for (const [name, area] of this.#areas) {
      if (area.source !== source || area.modifiedAt < newerThan) continue;
      try {
        const found = await area.archive.getZxy(z, x, y);
        if (found !== undefined) return Buffer.from(found.data);
      } catch (error) {
        this.#onProblem(`${name}: ${messageOf(error)}`);
      }
    }
    return null;
  }

  async #look(): Promise<void> {
    if (performance.now() - this.#lookedAt < LOOK_MS) return;
    this.#looking ??= this.#list().finally(() => {
      this.#looking = null;
      this.#lookedAt = performance.now();
    });
    await this.#looking;
  }

  async #list(): Promise<void> {
    const areas = new Map<string, Area>();
    for (const name of (await this.#files.names()).slice(0, MAX_FILES)) {
      const found = await this.#files.look(name);
      if (found === null) continue;
      const stamp = `${found.ino} ${found.size} ${found.mtimeMs}`;
      const known = this.#areas.get(name);
      areas.set(name, known?.stamp === stamp ? known : await this.#open(name, stamp, found.mtimeMs));
    }
    this.#areas = areas;
  }

  async #open(name: string, stamp: string, modifiedAt: number): Promise<Area> {
    const source = await this.#sourceOf(name).catch((error: unknown) => {
      this.#onProblem(`${name}: ${messageOf(error)}`);
      return null;
    });
    const bytes: Source = {
      getKey: () => name,
      getBytes: async (offset, length) => {
        if (!(length <= MAX_READ)) throw new Error(`a part of ${length} bytes`);
        const file = await this.#files.open(name);
        try {
          const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
          return { data: new Uint8Array(buffer.subarray(0, bytesRead)).buffer };
        } finally {
          await file.close();
        }
      },
    };
    return { stamp, source, modifiedAt, archive: new PMTiles(bytes, undefined, bounded) };
  }

  async #sourceOf(name: string): Promise<string | null> {
    const file = await this.#files.open(name);
    try {
      return (await readMapAbout(file)).source;
    } finally {
      await file.close();
    }
  }
}

async function bounded(data: ArrayBuffer, compression: Compression): Promise<ArrayBuffer> {
  if (compression === Compression.None) return data;
  if (compression !== Compression.Gzip) throw new Error('it is packed in a way that is not read here');
  return new Uint8Array(await unzip(Buffer.from(data), { maxOutputLength: MAX_DIRECTORY })).buffer;
}
