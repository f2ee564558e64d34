import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SettingsSchema } from '../../../shared/plugins/manifest.ts';
import { MANIFEST_SCHEMA } from '../../../shared/plugins/manifest-schema.ts';
import { compileValidator, createAjv, lazyValidator } from '../../../shared/schemas/validator.ts';

const FILE = 'config-schema.json';
const MAX_CHARS = 256 * 1024;

const validate = lazyValidator(() => compileValidator(createAjv(), MANIFEST_SCHEMA.properties.settings));

/**
 * The settings of an extension whose manifest names none, from the file beside it in which older packers put their schema.
 * @param folder of its files
 * @returns null where there is none, or none that can be shown
 */
export async function olderSettings(folder: string): Promise<SettingsSchema | null> {
  const text = await readFile(join(folder, FILE), 'utf8').catch(() => null); // there is none
  if (text === null || text.length > MAX_CHARS) return null;
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && validate(value) === null ? (value as SettingsSchema) : null;
  } catch {
    return null; // no JSON
  }
}
