import { ApiError, messageOf } from './errors.ts';
import { writeAtomic } from './files/atomic-write.ts';
import { readOwn } from './files/private-file.ts';
import { putAside } from './files/put-aside.ts';
import { removeDurably } from './files/remove-durably.ts';
import { parseJson } from './member.ts';
import { checked } from './schemas/checked.ts';
import type { Validator } from './schemas/validator.ts';

interface JsonFileOptions {
  /** Of the new file. */
  readonly mode: number;
  /** The mode bits that a file must not have to be believed; only its owner reads it where nothing is said. */
  readonly forbidden?: number;
  readonly maxBytes?: number;
  /** As in JSON.stringify. */
  readonly indent?: number;
}

/** The mode bits of others who may write. */
export const OTHERS_WRITE = 0o022;

/** A small file of JSON that this service alone writes: checked by its schema when it is read, replaced as a whole. */
export class JsonFile<T> {
  readonly path: string;
  readonly #validate: Validator<T>;
  readonly #options: JsonFileOptions;

  constructor(path: string, validate: Validator<T>, options: JsonFileOptions) {
    this.path = path;
    this.#validate = validate;
    this.#options = options;
  }

  /** Null: there is none. @throws Error saying what is wrong with it */
  async read(): Promise<T | null> {
    const { forbidden = 0o077, maxBytes } = this.#options;
    const text = await readOwn(this.path, forbidden, maxBytes);
    return text === null ? null : checked(this.#validate, parseJson(text));
  }

  /** As `read`, for what must not be guessed. @throws ApiError E_STORE */
  async load(): Promise<T | null> {
    try {
      return await this.read();
    } catch (error) {
      throw new ApiError('E_STORE', `${this.path} cannot be used: ${messageOf(error)}. Repair or remove it.`);
    }
  }

  /** As `read`, for what can begin anew: null, too, for a file that cannot be used, which is put aside. @param tell in a sentence */
  async readOrPutAside(tell: (problem: string) => void): Promise<T | null> {
    try {
      return await this.read();
    } catch (error) {
      tell(await putAside(this.path, error));
      return null;
    }
  }

  /** Resolves when it would survive a power cut; so does `remove`. @throws the file system's own error; nothing has changed then */
  async write(value: T): Promise<void> {
    const { mode, indent } = this.#options;
    await writeAtomic(this.path, `${JSON.stringify(value, null, indent)}\n`, mode);
  }

  /** As `write`. @throws ApiError E_STORE */
  async store(value: T): Promise<void> {
    await this.write(value).catch((error: unknown) => {
      throw new ApiError('E_STORE', `${this.path} could not be written: ${messageOf(error)}.`);
    });
  }

  async remove(): Promise<void> {
    await removeDurably(this.path);
  }
}
