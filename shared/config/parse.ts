import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, type Node as YamlNode } from 'yaml';
import { memberOf } from '../member.ts';
import { validatorOf } from '../schemas/validator.ts';
import { normaliseProfile } from './agent.ts';
import { type Config, configSchema } from './schema.ts';

// Fills the value with defaults in place.
const validateConfig = validatorOf(configSchema, { useDefaults: true });

/** So many faults are named; a file with more has one cause. */
const MAX_FAULTS = 10;

/** One thing that is wrong in a config text. */
interface Fault {
  readonly line: number;
  /** The dotted key; empty for the whole text. */
  readonly key: string;
  readonly reason: string;
}

/** What is wrong in a config text: everything, in the order of its lines. */
export class ConfigError extends Error {
  readonly faults: readonly Fault[];

  constructor(file: string, faults: readonly Fault[]) {
    const shown = faults
      .slice(0, MAX_FAULTS)
      .map(({ line, key, reason }) => `line ${line}: ${key}${key === '' ? '' : ' '}${reason}`);
    const more = faults.length > MAX_FAULTS ? `; and ${faults.length - MAX_FAULTS} more` : '';
    super(`${file} ${shown.join('; ')}${more}`);
    this.faults = faults;
  }
}

/**
 * @param text the YAML text of a config file
 * @param file its name, for the error sentence
 * @throws ConfigError with line and key of each error
 */
export function parseConfig(text: string, file: string): Config {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number): number => lines.linePos(offset).line;
  if (document.errors.length > 0) {
    const faults = document.errors.map(({ pos, message }) => ({
      line: lineAt(pos[0]),
      key: '',
      reason: message,
    }));
    throw new ConfigError(file, faults);
  }
  asMeant(document.contents, configSchema);
  const value: unknown = document.toJS({ maxAliasCount: 0 }) ?? {};
  if (isRecord(value) && isRecord(value['agent']) && 'profile' in value['agent']) {
    value['agent']['profile'] = normaliseProfile(value['agent']['profile']);
  }
  const faults = new Map<string, Fault>();
  for (const { path, message } of validateConfig(value) ?? []) {
    const keys = path.split('/').slice(1).map(unescaped);
    const key = keys.join('.') || 'the document';
    const line = lineAt(offsetOf(document.contents, keys));
    if (!faults.has(key)) faults.set(key, { line, key, reason: message });
  }
  if (faults.size > 0)
    throw new ConfigError(
      file,
      [...faults.values()].toSorted((a, b) => a.line - b.line),
    );
  return value as Config;
}

/**
 * A config as people write it by hand. A section or list of which everything is a comment is as if it were not there. A text is what
 * stands there, also where YAML sees a number or a truth in it: the region `00`, a name of digits.
 * @param schema of the place where the node stands
 */
function asMeant(node: unknown, schema: unknown): void {
  const type = memberOf(schema, 'type');
  if (isMap(node)) {
    node.items = node.items.filter(({ key, value }) => {
      const own = memberOf(memberOf(schema, 'properties'), isScalar(key) ? String(key.value) : '');
      asMeant(value, own);
      const isEmpty = value === null || (isScalar(value) && value.value === null);
      return !isEmpty || !['object', 'array'].includes(String(memberOf(own, 'type')));
    });
  } else if (isSeq(node)) for (const item of node.items) asMeant(item, memberOf(schema, 'items'));
  else if (isScalar(node) && type === 'string' && ['number', 'boolean'].includes(typeof node.value))
    node.value = node.source ?? node.value;
}

/** The value as a config, with its defaults; null if it is none. */
export function validConfig(value: unknown): Config | null {
  return isConfig(value) ? value : null;
}

/** The schema's own type does not know that the defaults are in. */
function isConfig(value: unknown): value is Config {
  return validateConfig(value) === null;
}

/** Where the last of `keys` stands in the text; where the text does not have it, the one before it. */
function offsetOf(root: YamlNode | null, keys: readonly string[]): number {
  let node: unknown = root;
  let offset = 0;
  for (const key of keys) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === key);
      if (pair === undefined) break;
      if (isScalar(pair.key)) offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(key)];
      offset = isNode(node) ? (node.range?.[0] ?? offset) : offset;
    } else break;
  }
  return offset;
}

function unescaped(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
