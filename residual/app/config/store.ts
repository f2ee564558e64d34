import { statSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { Serial } from '../../../shared/async/serial.ts';
import { normaliseProfile } from '../../../shared/config/agent.ts';
import { type ConfigNode, configLeaf, keysWith, valueAt } from '../../../shared/config/keys.ts';
import { loadConfig } from '../../../shared/config/load.ts';
import { holdsMask, maskedConfig, maskedValue } from '../../../shared/config/mask.ts';
import { idleRadioKey } from '../../../shared/config/radio.ts';
import type { Config } from '../../../shared/config/schema.ts';
import { invalidKey, setConfigKey } from '../../../shared/config/write.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { Paths } from '../../../shared/paths.ts';
import type { configPutAnswer } from '../../../shared/schemas/config.ts';
import type { Made } from '../../../shared/schemas/made.ts';
import { coerce } from './coerce.ts';

type ConfigWritten = Made<typeof configPutAnswer>;

/** The config file, read and written one key at a time; comments and order in the file survive. */
export class ConfigStore {
  readonly #paths: Pick<Paths, 'config' | 'configLastGood' | 'configChecked' | 'heldConfig'>;
  readonly #writes = new Serial();
  /** The parsed file of that version, so that each version is parsed only once. */
  #masked: { readonly version: string; readonly config: Config } | null = null;

  constructor(paths: Pick<Paths, 'config' | 'configLastGood' | 'configChecked' | 'heldConfig'>) {
    this.#paths = paths;
  }

  /** The config in force, with its secrets masked. */
  async read(): Promise<Config> {
    const version = fileVersion(this.#paths.config);
    if (this.#masked?.version !== version) {
      const { config, problem } = await loadConfig(this.#paths);
      const masked = maskedConfig(config);
      if (problem !== null) return masked; // not cached: it may be readable next time
      this.#masked = { version, config: masked };
    }
    return this.#masked.config;
  }

  /** Whether the file itself has the key; without it the default holds. */
  async has(key: string): Promise<boolean> {
    const { text } = await loadConfig(this.#paths);
    return text !== null && parseDocument(text).hasIn(key.split('.'));
  }

  /**
   * One secret of the config in clear text, for entering it elsewhere. Other keys are refused, so that the right to read
   * secrets is never needed for them.
   * @throws ApiError E_UNKNOWN_KEY
   */
  async secret(key: string): Promise<{ key: string; value: unknown; set: boolean }> {
    const leaf = configLeaf(key);
    if (leaf?.['x-secret'] !== true) {
      const reason = leaf === null ? 'There is no such config key' : 'This config key is not a secret';
      throw new ApiError(
        'E_UNKNOWN_KEY',
        `${reason}: ${key}. Secret keys: ${keysWith('x-secret').join(', ')}.`,
      );
    }
    const { config } = await loadConfig(this.#paths);
    const value = valueAt(config, key);
    const set = value !== undefined && value !== '';
    return { key, value: set ? value : null, set };
  }

  /**
   * Writes one key.
   * @param value a JSON value of the key's type, or its text
   * @throws ApiError E_UNKNOWN_KEY, E_INVALID_VALUE, E_STORE; nothing is written then
   */
  async write(key: string, value: unknown): Promise<ConfigWritten> {
    const leaf = configLeaf(key);
    if (leaf === null)
      throw new ApiError('E_UNKNOWN_KEY', `No config key ${key}. GET /api/config/schema lists them.`);
    const coerced = coerce(leaf, leaf['x-profile'] === true ? normaliseProfile(value) : value);
    if (holdsMask(leaf, coerced)) throw invalidKey(key, 'the mask is not a value');
    const cleared = await this.#writes.run(async () => setConfigKey(this.#paths, key, coerced));
    const { radio } = await this.read();
    return {
      key,
      value: maskedValue(leaf, coerced),
      persisted: true,
      restart_required: restartOf(leaf),
      cleared,
      note: idleRadioKey(key, radio.mode),
    };
  }
}

/** A text that differs for each content: a rename gives the file a new inode, a write in place a new time. */
function fileVersion(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? 'absent' : `${found.ino} ${found.mtimeNs} ${found.size}`;
}

function restartOf(leaf: ConfigNode): readonly string[] {
  return leaf['x-restart'] ?? [];
}
