import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Serial } from '../../../shared/async/serial.ts';
import { ApiError, codeOf, messageOf } from '../../../shared/errors.ts';
import { sweepTemporary, writeAtomic } from '../../../shared/files/atomic-write.ts';
import { parseJson } from '../../../shared/member.ts';
import type { OnProgress } from '../../../shared/routes/handler.ts';
import { checked } from '../../../shared/schemas/checked.ts';
import { fileValidatorOf } from '../../../shared/schemas/validator.ts';
import {
  MODEL_BYTES,
  type ModelMeta,
  type ModelMetadata,
  modelMeta,
} from '../../../shared/schemas/vision.ts';
import { BUILTIN_MODELS, modelFiles } from '../../../shared/vision/model-files.ts';
import type { CheckModel } from './model-check.ts';

/** Where files wait until they have been checked. What a killed process left there is removed at the next start. */
const INCOMING = '.incoming';
const MODEL = /^(.+)\.onnx$/;

interface ModelStoreOptions {
  readonly folder: string;
  /** Space for all of them, bytes. */
  readonly maxBytes: number;
  readonly check: CheckModel;
  /** Unix time, ms. */
  readonly wall: () => number;
  readonly warn: (sentence: string) => void;
}

/** A file on its way in. */
export interface Incoming {
  readonly path: string;
  /** How long it may be at most, bytes. */
  readonly maxBytes: number;
  /** The error for a longer one. */
  readonly tooLarge: () => ApiError;
}

/**
 * The models of the node: those of the program, and files `<id>.onnx` with `<id>.json` beside them, which is written last and
 * removed first. So a model without it does not exist, and the next start removes it.
 */
export class ModelStore {
  readonly #options: ModelStoreOptions;
  readonly #changes = new Serial();
  readonly #stopped = new AbortController();
  #receiving = false;

  constructor(options: ModelStoreOptions) {
    this.#options = options;
  }

  /** Removes what a process that was killed left behind. */
  async start(): Promise<void> {
    const { folder, warn } = this.#options;
    await mkdir(folder, { recursive: true, mode: 0o750 });
    await rm(join(folder, INCOMING), { recursive: true, force: true });
    await sweepTemporary([folder], this.#options.wall(), warn);
    const names = new Set(await readdir(folder));
    for (const name of names) {
      const id = MODEL.exec(name)?.[1];
      if (id !== undefined && !names.has(`${id}.json`)) await rm(join(folder, name), { force: true });
    }
  }

  /** Ends a check that is under way. */
  stop(): void {
    this.#stopped.abort();
  }

  /** Those of the program first, then by id. One whose metadata cannot be read is left out, with a warning. */
  async list(): Promise<readonly ModelMeta[]> {
    const found: ModelMeta[] = [];
    for (const id of [...BUILTIN_MODELS, ...(await this.#stored())]) {
      const meta = await this.find(id);
      if (meta !== null) found.push(meta);
    }
    return found;
  }

  /** Null if there is none. */
  async find(id: string): Promise<ModelMeta | null> {
    const { meta } = modelFiles(this.#options.folder, id);
    try {
      return checked(fileValidatorOf(modelMeta), parseJson(await readFile(meta, 'utf8')));
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') this.#options.warn(`${meta}: ${messageOf(error)}`);
      return null;
    }
  }

  async space(): Promise<{ readonly used: number; readonly max: number }> {
    const { folder, maxBytes } = this.#options;
    let used = 0;
    for (const id of await this.#stored()) {
      // Deleted since it was listed: it takes nothing.
      const found = await stat(modelFiles(folder, id).model).catch(() => null);
      used += found?.size ?? 0;
    }
    return { used, max: maxBytes };
  }

  /**
   * Gives `work` a place for a file, which is removed afterwards unless it was added. One at a time: the check of a model takes
   * as much memory as a detector may.
   * @throws ApiError E_BUSY, E_DISK_FULL
   */
  async receive<T>(work: (incoming: Incoming) => Promise<T>): Promise<T> {
    if (this.#receiving)
      throw new ApiError('E_BUSY', 'Another model is being uploaded. Wait until it is saved.');
    this.#receiving = true;
    const folder = join(this.#options.folder, INCOMING);
    const path = join(folder, `${randomBytes(8).toString('hex')}.onnx`);
    try {
      const { used, max } = await this.space();
      const free = max - used;
      if (free <= 0) throw noSpace(max);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      return await work({
        path,
        maxBytes: Math.min(free, MODEL_BYTES),
        tooLarge: () =>
          free < MODEL_BYTES
            ? noSpace(max)
            : new ApiError('E_TOO_LARGE', `A model has at most ${MODEL_BYTES / 1024 / 1024} MiB.`, {
                limit: MODEL_BYTES,
              }),
      });
    } catch (error) {
      const code = codeOf(error);
      if (code === 'ENOSPC' || code === 'EDQUOT')
        throw new ApiError(
          'E_DISK_FULL',
          'The disk has no room for this model. Delete models or recordings.',
        );
      if (code === 'EROFS' || code === 'EIO')
        throw new ApiError('E_STORE', `The model could not be stored: ${messageOf(error)}.`);
      throw error;
    } finally {
      await rm(path, { force: true });
      this.#receiving = false;
    }
  }

  /** The same file under the same name, if it is there already. @throws ApiError E_MODEL_EXISTS for another file */
  async same(id: string, sha256: string): Promise<ModelMeta | null> {
    const found = await this.find(id);
    if (found === null && !modelFiles(this.#options.folder, id).builtin) return null;
    if (found?.sha256 === sha256) return found;
    throw new ApiError(
      'E_MODEL_EXISTS',
      `There is another model ${id}. Delete it first, or choose another name.`,
    );
  }

  /**
   * Checks a received file, and takes it over.
   * @returns what is known of it; of the one that is there, if it is the same file
   * @throws ApiError E_MODEL, E_MODEL_EXISTS, E_DRAINING
   */
  async add(path: string, sha256: string, metadata: ModelMetadata, progress: OnProgress): Promise<ModelMeta> {
    const { id } = metadata;
    const there = await this.same(id, sha256);
    if (there !== null) return there;
    progress({ done: 0, total: null, text: 'checking' });
    const { size } = await stat(path);
    const { input, outputs, inference_ms } = await this.#options.check(path, metadata, this.#stopped.signal);
    const meta: ModelMeta = {
      name: id,
      classes: [],
      runtime: 'onnx',
      board_match: 'generic',
      ...metadata,
      sha256,
      size_bytes: size,
      added_at: new Date(this.#options.wall()).toISOString(),
      input,
      outputs,
      inference_ms,
    };
    return this.#changes.run(async () => {
      const files = modelFiles(this.#options.folder, id);
      await rm(files.trouble, { force: true });
      await rename(path, files.model); // its bytes are on the disk already
      await writeAtomic(files.meta, `${JSON.stringify(meta)}\n`, 0o640); // syncs the folder, with both names
      return meta;
    });
  }

  /** @param isChosen whether it is the detector. @throws ApiError E_NOT_FOUND, E_MODEL_IN_USE */
  async remove(id: string, isChosen: () => Promise<boolean>): Promise<void> {
    await this.#changes.run(async () => {
      await this.#existing(id);
      const files = modelFiles(this.#options.folder, id);
      if (files.builtin)
        throw new ApiError('E_MODEL_IN_USE', `The model ${id} comes with the program and cannot be deleted.`);
      if (await isChosen())
        throw new ApiError(
          'E_MODEL_IN_USE',
          `The model ${id} is the detector. Choose another one, or none, first.`,
        );
      for (const path of [files.meta, files.model, files.trouble]) await rm(path, { force: true });
    });
  }

  /**
   * Runs `work` while the model cannot be deleted. A detector that failed with it may try again.
   * @throws ApiError E_NOT_FOUND
   */
  async choose(id: string, work: () => Promise<unknown>): Promise<void> {
    await this.#changes.run(async () => {
      await this.#existing(id);
      await rm(modelFiles(this.#options.folder, id).trouble, { force: true });
      await work();
    });
  }

  async #existing(id: string): Promise<void> {
    if ((await this.find(id)) === null)
      throw new ApiError('E_NOT_FOUND', `No model ${id}. GET /api/vision/models lists them.`);
  }

  /** The ids of those that are no part of the program, sorted. */
  async #stored(): Promise<readonly string[]> {
    const names: readonly string[] = await readdir(this.#options.folder).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return [];
        throw error;
      },
    );
    return names
      .map((name) => MODEL.exec(name)?.[1])
      .filter((id) => id !== undefined)
      .filter((id) => names.includes(`${id}.json`) && !modelFiles(this.#options.folder, id).builtin)
      .toSorted();
  }
}

function noSpace(max: number): ApiError {
  return new ApiError(
    'E_DISK_FULL',
    `No space left for models: ${max / 1e6} MB (vision.models_max_mb). Delete models first.`,
  );
}
