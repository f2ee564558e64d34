import { randomBytes } from 'node:crypto';
import {
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  statfs,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { crc32 } from 'node:zlib';
import { codeOf, messageOf } from '../errors.ts';
import { memberOf, parseJson } from '../member.ts';
import type { PictureType } from './picture.ts';

/** A tile as it is kept. */
export interface KeptTile {
  readonly bytes: Buffer;
  readonly type: PictureType;
  /** Of the server, to ask whether it has changed. */
  readonly etag: string | null;
  /** Wall clock, ms. */
  readonly fetchedAt: number;
  /** For so long after that it is as good as new. */
  readonly freshMs: number;
}

interface Entry {
  readonly bytes: number;
  /** When its time on the disk was last set, ms. */
  touchedAt: number;
}

interface CacheOptions {
  readonly directory: string;
  readonly limitBytes: number;
  /** Folders of the sources that there are; what another source left is deleted. */
  readonly folders: readonly string[];
  /** Free bytes that are left to others. */
  readonly reserveBytes: number;
  readonly onProblem: (sentence: string) => void;
}

/** A file takes whole blocks. */
const BLOCK = 4096;
/** Bounds the memory of the index; an area of 200 000 tiles still fits. */
const MAX_ENTRIES = 250_000;
const MAX_FILE_BYTES = 1024 * 1024 + 1024;
const TOUCH_MS = 3_600_000;
const ROOM_MS = 5000;
const STATS_AT_ONCE = 32;
const TYPES: ReadonlySet<unknown> = new Set<PictureType>(['image/png', 'image/jpeg', 'image/webp']);

/**
 * Tiles on the disk, a file each: a line of JSON and the picture. What was used longest ago goes first. Nothing is synced: a tile
 * that a power cut has spoilt does not fit its checksum, is dropped, and is fetched again.
 */
export class TileCache {
  readonly #options: CacheOptions;
  /** The longest unused first. */
  #entries = new Map<string, Entry>();
  #bytes = 0;
  #scanned: Promise<void> | null = null;
  #isScanned = false;
  #room = { at: -Infinity, free: true };
  #problem = '';

  constructor(options: CacheOptions) {
    this.#options = options;
  }

  /** On the disk, as far as is known. */
  get bytes(): number {
    return this.#bytes;
  }

  get limit(): number {
    return this.#options.limitBytes;
  }

  /** Looks in the background at what an earlier run has left. */
  start(): void {
    this.#scanned ??= this.#scan().catch((error: unknown) => this.#tell(error));
  }

  async stop(): Promise<void> {
    await this.#scanned;
  }

  /** Null for a tile that is not kept, or is spoilt. @param key folder of the source, zoom, column and row, by `/` */
  async read(key: string): Promise<KeptTile | null> {
    if (this.limit === 0) return null;
    const path = this.#path(key);
    let file: Buffer;
    try {
      if ((await stat(path)).size > MAX_FILE_BYTES) throw new Error('it is no tile');
      file = await readFile(path);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') await this.#drop(key);
      return null;
    }
    const tile = unpacked(file);
    if (tile === null) await this.#drop(key);
    else this.#use(key, path, file.length);
    return tile;
  }

  /** @param mayEvict false: only where there is room. Never throws: a tile that is not kept is fetched again */
  async write(key: string, tile: KeptTile, mayEvict: boolean): Promise<void> {
    const file = packed(tile);
    const size = onDisk(file.length);
    const old = this.#entries.get(key)?.bytes ?? 0;
    const isFull = this.#bytes - old + size > this.limit || (old === 0 && this.#entries.size >= MAX_ENTRIES);
    if (size > this.limit || (isFull && !mayEvict) || !(await this.#hasRoom())) return;
    const path = this.#path(key);
    const temporary = join(dirname(path), `.${randomBytes(6).toString('hex')}.tmp`);
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o750 });
      await writeFile(temporary, file, { mode: 0o640, flag: 'wx' });
      await rename(temporary, path);
    } catch (error) {
      this.#tell(error);
      await rm(temporary, { force: true }).catch((failure: unknown) => this.#tell(failure));
      return;
    }
    this.#forget(key);
    this.#entries.set(key, { bytes: size, touchedAt: Date.now() });
    this.#bytes += size;
    await this.#evict();
  }

  #path(key: string): string {
    return join(this.#options.directory, key);
  }

  #use(key: string, path: string, length: number): void {
    const now = Date.now();
    const entry = this.#entries.get(key) ?? { bytes: onDisk(length), touchedAt: 0 };
    this.#forget(key);
    this.#entries.set(key, entry);
    this.#bytes += entry.bytes;
    if (Math.abs(now - entry.touchedAt) < TOUCH_MS) return;
    entry.touchedAt = now;
    utimes(path, now / 1000, now / 1000).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') this.#tell(error);
    });
  }

  #forget(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }

  async #drop(key: string): Promise<void> {
    this.#forget(key);
    await rm(this.#path(key), { force: true, recursive: true }).catch((error: unknown) => this.#tell(error));
  }

  async #evict(): Promise<void> {
    if (!this.#isScanned) return; // what is there is not known yet
    while (this.#bytes > this.limit || this.#entries.size > MAX_ENTRIES) {
      const [oldest] = this.#entries.keys();
      if (oldest === undefined) return;
      await this.#drop(oldest);
    }
  }

  async #hasRoom(): Promise<boolean> {
    const now = performance.now();
    if (now - this.#room.at > ROOM_MS) {
      const { directory, reserveBytes } = this.#options;
      const found = await statfs(directory).catch(async () => statfs(dirname(directory)).catch(() => null));
      this.#room = { at: now, free: found === null || found.bavail * found.bsize > reserveBytes };
    }
    return this.#room.free;
  }

  async #scan(): Promise<void> {
    const { directory, folders } = this.#options;
    const found: { key: string; bytes: number; at: number }[] = [];
    for (const folder of await namesIn(directory)) {
      const path = join(directory, folder);
      if (!folders.includes(folder) || this.limit === 0) {
        await rm(path, { recursive: true, force: true });
        continue;
      }
      const files = await readdir(path, { recursive: true, withFileTypes: true });
      for (let start = 0; start < files.length; start += STATS_AT_ONCE)
        await Promise.all(
          files.slice(start, start + STATS_AT_ONCE).map(async (file) => {
            if (file.isDirectory()) return;
            const at = join(file.parentPath, file.name);
            const key = relative(directory, at);
            if (!file.isFile() || !/^\d+$/.test(file.name) || found.length >= 2 * MAX_ENTRIES) {
              // Being written now, or left by a process that was killed.
              if (!this.#isNew(await stat(at).catch(() => null))) await unlink(at).catch(() => undefined);
              return;
            }
            const { size, mtimeMs } = await stat(at).catch(() => ({ size: 0, mtimeMs: 0 }));
            if (size > 0) found.push({ key, bytes: onDisk(size), at: mtimeMs });
          }),
        );
    }
    const newer = this.#entries;
    this.#entries = new Map();
    for (const { key, bytes, at } of found.toSorted((a, b) => a.at - b.at))
      if (!newer.has(key)) this.#entries.set(key, { bytes, touchedAt: at });
    for (const [key, entry] of newer) this.#entries.set(key, entry);
    this.#bytes = [...this.#entries.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    this.#isScanned = true;
    await this.#evict();
  }

  #isNew(found: { readonly mtimeMs: number } | null): boolean {
    return found !== null && Math.abs(Date.now() - found.mtimeMs) < 60_000;
  }

  /** The same problem once. */
  #tell(error: unknown): void {
    const problem = codeOf(error) ?? messageOf(error);
    if (problem !== this.#problem) this.#options.onProblem(`tiles of the map cannot be kept: ${problem}`);
    this.#problem = problem;
  }
}

async function namesIn(directory: string): Promise<readonly string[]> {
  return readdir(directory).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return []; // nothing was kept yet
    throw error;
  });
}

function onDisk(length: number): number {
  return Math.ceil(length / BLOCK) * BLOCK;
}

function packed({ bytes, ...about }: KeptTile): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify({ ...about, crc: crc32(bytes) })}\n`), bytes]);
}

function unpacked(file: Buffer): KeptTile | null {
  const end = file.subarray(0, 1024).indexOf(0x0a);
  if (end === -1) return null;
  const bytes = file.subarray(end + 1);
  let about: unknown;
  try {
    about = parseJson(file.toString('utf8', 0, end));
  } catch {
    return null; // spoilt
  }
  const [etag, fetchedAt, freshMs] = ['etag', 'fetchedAt', 'freshMs'].map((name) => memberOf(about, name));
  const type = memberOf(about, 'type');
  if (!isPictureType(type) || typeof fetchedAt !== 'number' || typeof freshMs !== 'number') return null;
  if (memberOf(about, 'crc') !== crc32(bytes) || !(etag === null || typeof etag === 'string')) return null;
  return { bytes, type, etag, fetchedAt, freshMs };
}

function isPictureType(value: unknown): value is PictureType {
  return TYPES.has(value);
}
