import { mkdir, readdir, readFile, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Serial } from '../../../shared/async/serial.ts';
import { codeOf, messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { listOf, recordOf } from '../../../shared/member.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import { MAX_PARAMS, type ParamEntry } from './param-table.ts';

const MAX_FILE_BYTES = 2 * 1024 * 1024;
/** Vehicles kept on disk; the one not seen for the longest time is removed first. */
const MAX_VEHICLES = 32;
const VERSION = 1;

/** One vehicle's parameters as they were. */
export interface StoredParams {
  /** The vehicle's `_HASH_CHECK` at the time of the download; null if it has none. */
  readonly hash: number | null;
  readonly entries: readonly (readonly [name: string, entry: ParamEntry])[];
}

/** The parameters of each vehicle on disk, `<uid>.json`. An unreadable file is ignored: this is a cache. */
export class ParamStore {
  readonly #directory: string;
  readonly #log: Logger;
  readonly #writes = new Serial();

  constructor(directory: string, log: Logger) {
    this.#directory = directory;
    this.#log = log;
  }

  async read(uid: string): Promise<StoredParams | null> {
    const path = this.#pathOf(uid);
    try {
      if ((await stat(path)).size > MAX_FILE_BYTES) return null;
      return parse(JSON.parse(await readFile(path, 'utf8')));
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') this.#log.warn(`parameter cache ${path}: ${messageOf(error)}`);
      return null;
    }
  }

  /** Writes one after the other; a failure is only logged, since the vehicle has the parameters. */
  write(uid: string, params: StoredParams): void {
    const path = this.#pathOf(uid);
    const entries = params.entries.map(([name, { bits, type, index }]) => [name, bits, type, index]);
    const text = JSON.stringify({ version: VERSION, hash: params.hash, entries });
    this.#writes
      .run(async () => {
        await mkdir(this.#directory, { recursive: true, mode: 0o755 });
        await writeAtomic(path, text, 0o644);
        await this.#prune();
      })
      .catch((error: unknown) => this.#log.warn(`parameter cache ${path}: ${messageOf(error)}`));
  }

  /** Resolves when nothing waits to be written. */
  async settled(): Promise<void> {
    await this.#writes.idle();
  }

  /** @param uid hex, as the vehicle gave it */
  #pathOf(uid: string): string {
    return join(this.#directory, `${uid.replaceAll(/[^0-9a-f]/g, '')}.json`);
  }

  async #prune(): Promise<void> {
    const names = (await readdir(this.#directory)).filter((name) => name.endsWith('.json'));
    if (names.length <= MAX_VEHICLES) return;
    const times = await Promise.all(
      names.map(async (name) => ({ name, at: (await stat(join(this.#directory, name))).mtimeMs })),
    );
    const oldest = times.toSorted((a, b) => a.at - b.at).slice(0, names.length - MAX_VEHICLES);
    for (const { name } of oldest) await unlink(join(this.#directory, name));
  }
}

function parse(value: unknown): StoredParams | null {
  const { version, hash, entries } = recordOf(value);
  if (version !== VERSION || (hash !== null && typeof hash !== 'number')) return null;
  if (!Array.isArray(entries) || entries.length > MAX_PARAMS) return null;
  const read: [string, ParamEntry][] = [];
  for (const entry of listOf(entries)) {
    if (!Array.isArray(entry)) return null;
    const [name, bits, type, index] = listOf(entry);
    if (typeof name !== 'string' || typeof bits !== 'number') return null;
    if (typeof type !== 'number' || typeof index !== 'number') return null;
    read.push([name, { bits, type, index }]);
  }
  return { hash, entries: read };
}
