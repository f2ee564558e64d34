import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError, codeOf, messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { asRecord, type JsonObject, parseJson } from '../../../shared/member.ts';

/** Configurations of peripherals, a file each: `<id>.config.json`, which the program that serves the peripheral reads. */
export class ConfigFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  pathOf(id: string): string {
    return join(this.#folder, `${id}.config.json`);
  }

  /** Null if there is none. @throws ApiError E_STORE */
  async read(id: string): Promise<JsonObject | null> {
    try {
      return asRecord(parseJson(await readFile(this.pathOf(id), 'utf8')));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null;
      throw new ApiError('E_STORE', `The configuration cannot be read: ${messageOf(error)}.`);
    }
  }

  /** @throws ApiError E_STORE: nothing was changed */
  async write(id: string, config: unknown): Promise<void> {
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o755 });
      // Others read it: a driver, an extension with the file granted.
      await writeAtomic(this.pathOf(id), `${JSON.stringify(config, null, 2)}\n`, 0o644);
    } catch (error) {
      throw new ApiError('E_STORE', `The configuration could not be written: ${messageOf(error)}.`);
    }
  }
}
