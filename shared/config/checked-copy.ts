import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { readPrivate } from '../files/private-file.ts';
import { isRecord, parseJson } from '../member.ts';
import { VERSION } from '../version.ts';
import { type Config, configSchema } from './schema.ts';

/**
 * The config as it was made of a text that this very program has checked, so that each process does not check the same text again.
 * It is as private as the config, and of no use for another text, schema or version.
 */

const MAX_BYTES = 1024 * 1024;

/** Null: there is none for this text, or it cannot be read; then the text is checked again, which says what is wrong. */
export async function readChecked(file: string, text: string): Promise<Config | null> {
  const content = await readPrivate(file, MAX_BYTES).catch(() => null);
  if (content === null) return null;
  const end = content.indexOf('\n');
  return content.slice(0, end) === sumOf(text, content.slice(end + 1))
    ? configIn(content.slice(end + 1))
    : null;
}

/** @param write writes a private file as a whole @throws the file system's own error; nothing has changed then */
export async function keepChecked(
  file: string,
  text: string,
  config: Config,
  write: (file: string, content: string) => Promise<void>,
): Promise<void> {
  const json = JSON.stringify(config);
  if (!isDeepStrictEqual(parseJson(json), config)) throw new Error('the config is more than JSON');
  await write(file, `${sumOf(text, json)}\n${json}`);
}

/** Of the text and of what was made of it, so that half a file fits nothing. */
function sumOf(text: string, json: string): string {
  return hash('sha256', JSON.stringify([VERSION, configSchema, text, json]));
}

function configIn(json: string): Config | null {
  const value = parseJson(json);
  return isChecked(value) ? value : null;
}

/** Its sum says so. */
function isChecked(value: unknown): value is Config {
  return isRecord(value);
}
