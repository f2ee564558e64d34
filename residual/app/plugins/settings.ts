import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Serial } from '../../../shared/async/serial.ts';
import { ApiError, codeOf, messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { asRecord, type JsonObject, parseJson, recordOf } from '../../../shared/member.ts';

const MAX_KEYS = 256;
const MAX_CHARS = 256 * 1024;

export type Scope = 'drone' | 'global';
type Values = JsonObject;
type File = Readonly<Record<Scope, Values>>;

/** The settings of one extension, in a file: those of this node (`drone`) before those of all nodes (`global`). */
export class PluginSettings {
  readonly #folder: string;
  readonly #path: string;
  readonly #serial = new Serial();

  constructor(folder: string, id: string) {
    this.#folder = folder;
    this.#path = join(folder, `${id}.json`);
  }

  /** All of them, by key. @throws ApiError E_STORE */
  async read(): Promise<Values> {
    const { drone, global } = await this.#load();
    return { ...global, ...drone };
  }

  /** @param value null removes the key @throws ApiError E_TOO_LARGE, E_STORE: nothing was changed */
  async write(key: string, value: unknown, scope: Scope): Promise<Values> {
    return this.#serial.run(async () => {
      const file = await this.#load();
      const { [key]: _old, ...others } = file[scope];
      const changed: File = { ...file, [scope]: value === null ? others : { ...others, [key]: value } };
      const text = JSON.stringify(changed);
      if (Object.keys(changed[scope]).length > MAX_KEYS || text.length > MAX_CHARS)
        throw new ApiError(
          'E_TOO_LARGE',
          `Settings are at most ${MAX_KEYS} keys and ${MAX_CHARS / 1024} KiB of JSON.`,
        );
      try {
        await mkdir(this.#folder, { recursive: true, mode: 0o700 });
        await writeAtomic(this.#path, `${text}\n`);
      } catch (error) {
        throw new ApiError('E_STORE', `The settings could not be written: ${messageOf(error)}.`);
      }
      return { ...changed.global, ...changed.drone };
    });
  }

  async remove(): Promise<void> {
    await this.#serial.run(async () => rm(this.#path, { force: true }));
  }

  async #load(): Promise<File> {
    try {
      const { drone, global } = asRecord(parseJson(await readFile(this.#path, 'utf8')));
      // No prototype of ours: a key such as `constructor` is a key.
      return { drone: { ...recordOf(drone) }, global: { ...recordOf(global) } };
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return { drone: {}, global: {} };
      throw new ApiError('E_STORE', `The settings cannot be read: ${messageOf(error)}.`);
    }
  }
}
