import { LineCounter, parseDocument, type Node as YamlNode } from 'yaml';
import { messageOf } from '../errors.ts';
import { readOwn } from '../files/private-file.ts';
import type { Paths } from '../paths.ts';
import { compileValidator, createAjv } from '../schemas/validator.ts';
import { normaliseProfile } from './agent.ts';
import { type Config, configSchema } from './schema.ts';

// Fills the value with defaults in place.
const validateConfig = compileValidator(createAjv({ useDefaults: true }), configSchema);

const OTHERS_WRITE = 0o002;
const MAX_BYTES = 1024 * 1024;

/** An error in a config text. */
export class ConfigError extends Error {
  /** The dotted key with the error; empty for the whole text. */
  readonly key: string;
  /** The error, without its place. */
  readonly reason: string;

  constructor(place: string, key: string, reason: string) {
    super(`${place}: ${key}${key === '' ? '' : ' '}${reason}`);
    this.key = key;
    this.reason = reason;
  }
}

/**
 * @param text the YAML text of a config file
 * @param file its name, for the error sentence
 * @throws ConfigError with line and key of the first error
 */
export function parseConfig(text: string, file: string): Config {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const syntax = document.errors[0];
  if (syntax !== undefined) {
    throw new ConfigError(`${file} line ${lines.linePos(syntax.pos[0]).line}`, '', syntax.message);
  }
  const value: unknown = document.toJS({ maxAliasCount: 0 }) ?? {};
  if (isRecord(value) && isRecord(value['agent']) && 'profile' in value['agent']) {
    value['agent']['profile'] = normaliseProfile(value['agent']['profile']);
  }
  const violation = validateConfig(value)?.[0];
  if (violation !== undefined) {
    const path = violation.path.split('/').slice(1);
    const node = document.getIn(path, true) as YamlNode | undefined;
    const line = node?.range ? lines.linePos(node.range[0]).line : 1;
    throw new ConfigError(`${file} line ${line}`, path.join('.') || 'the document', violation.message);
  }
  return value as Config;
}

export interface LoadedConfig {
  readonly config: Config;
  /** The file's text if the file is in force, else null. */
  readonly text: string | null;
  /** The error in the file, in a sentence with key and line; null if the file is in force or absent. */
  readonly problem: string | null;
}

/** The config decides who may fly, so only the service's user or root may own it, and links are not followed. */
async function readIfThere(path: string): Promise<string | null> {
  return readOwn(path, OTHERS_WRITE, MAX_BYTES);
}

/**
 * The config in force: the file; if it is broken or unreadable, the last good copy; if there is none, the defaults, which allow
 * the least (tokens off, no extra origins).
 */
export async function loadConfig(paths: Pick<Paths, 'config' | 'configLastGood'>): Promise<LoadedConfig> {
  let problem: string;
  try {
    const text = (await readIfThere(paths.config)) ?? '';
    return { config: parseConfig(text, paths.config), text, problem: null };
  } catch (error) {
    problem = messageOf(error);
  }
  try {
    const good = await readIfThere(paths.configLastGood);
    if (good !== null) return { config: parseConfig(good, paths.configLastGood), text: null, problem };
  } catch (error) {
    problem += `; and the last good copy: ${messageOf(error)}`;
  }
  return { config: parseConfig('', 'defaults'), text: null, problem };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
