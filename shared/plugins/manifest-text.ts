import {
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type ParsedNode,
  parseDocument,
} from 'yaml';
import type { Violation } from '../schemas/validator.ts';

export const MAX_MANIFEST_BYTES = 64 * 1024;
const MAX_DEPTH = 32;
/** Opening brackets in all, in strings and comments too: what the YAML library does with deeper nests takes seconds. */
const MAX_BRACKETS = 2000;
/** Indicators of a list, a key or a value in one line: each may open one more level. */
const MAX_INDICATORS = 200;
const MAX_VIOLATIONS = 50;
/** They would reach the prototype of the object that a member is copied to. */
const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);

/** Either the plain value of a YAML text, or why it is not read. */
type ReadText =
  | { readonly value: unknown; readonly violations: readonly [] }
  | { readonly value: null; readonly violations: readonly Violation[] };

/**
 * Reads the part of YAML that has one meaning only: one document, no anchors, aliases, tags or merge keys, each key once and a
 * text. Two readers that disagree about a manifest would let one thing be shown and another be run.
 */
export function readManifestText(text: string): ReadText {
  if (Buffer.byteLength(text) > MAX_MANIFEST_BYTES)
    return refused('', `is larger than ${MAX_MANIFEST_BYTES / 1024} KiB`);
  if (opensTooMuch(text))
    return refused('', `has more than ${MAX_BRACKETS} brackets, or a line of too many levels`);
  try {
    // Duplicate keys are found below: the library compares each key with each other.
    const document = parseDocument(text, {
      uniqueKeys: false,
      merge: false,
      version: '1.2',
      schema: 'core',
      stringKeys: false,
      logLevel: 'error', // with 'silent', a second document would be passed over
    });
    const problems = [...document.errors, ...document.warnings].slice(0, MAX_VIOLATIONS).map((problem) => ({
      path: '',
      message: `is not valid YAML: ${problem.message.split(/:?\n/, 1)[0] ?? ''}`,
    }));
    if (problems.length > 0) return { value: null, violations: problems };
    if (document.directives.yaml.explicit === true || Object.keys(document.directives.tags).length > 1)
      return refused('', 'begins with a YAML directive, and may not');
    const violations: Violation[] = [];
    walk(document.contents, '', 0, violations);
    if (violations.length > 0) return { value: null, violations };
    return { value: document.toJS({ maxAliasCount: 0 }), violations: [] };
  } catch (error) {
    // The library walks down by recursion.
    if (error instanceof RangeError) return refused('', 'is nested too deeply');
    throw error;
  }
}

/** Counted before the parser builds anything. */
function opensTooMuch(text: string): boolean {
  let brackets = 0;
  let indicators = 0;
  for (const [mark] of text.matchAll(/[[{\n]|[-?:](?=[ \t])/g)) {
    if (mark === '\n') indicators = 0;
    else if (mark === '[' || mark === '{') brackets++;
    else indicators++;
    if (brackets > MAX_BRACKETS || indicators > MAX_INDICATORS) return true;
  }
  return false;
}

function refused(path: string, message: string): ReadText {
  return { value: null, violations: [{ path, message }] };
}

function walk(node: ParsedNode | Node | null, path: string, depth: number, out: Violation[]): void {
  if (node === null || out.length >= MAX_VIOLATIONS) return;
  const problem = problemOf(node, depth);
  if (problem !== null) {
    out.push({ path, message: problem });
    return;
  }
  if (isSeq(node)) {
    for (const [index, item] of node.items.entries()) walk(nodeOf(item), `${path}/${index}`, depth + 1, out);
  } else if (isMap(node)) {
    const seen = new Set<string>();
    for (const pair of node.items) {
      if (!isPair(pair)) continue;
      const key = nodeOf(pair.key);
      const problemOfKey = keyProblem(key, seen);
      const name = isScalar(key) ? String(key.value) : '';
      const below = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      if (problemOfKey !== null) {
        if (out.length < MAX_VIOLATIONS) out.push({ path: below, message: problemOfKey });
        continue;
      }
      seen.add(name);
      walk(nodeOf(pair.value), below, depth + 1, out);
    }
  }
}

/** A parsed document has nothing but nodes. */
function nodeOf(value: unknown): Node | null {
  return isNode(value) ? value : null;
}

function problemOf(node: Node, depth: number): string | null {
  if (isAlias(node)) return 'is an alias, and may not be one';
  if ('anchor' in node && node.anchor !== undefined) return 'has an anchor, and may not';
  if (node.tag !== undefined) return `has the tag ${node.tag}, and may not have one`;
  return depth > MAX_DEPTH ? `is nested deeper than ${MAX_DEPTH}` : null;
}

function keyProblem(key: Node | null, seen: ReadonlySet<string>): string | null {
  if (!isScalar(key) || typeof key.value !== 'string') return 'has a key that is not a text';
  if (problemOf(key, 0) !== null) return 'has a key with an anchor or a tag';
  if (key.value === '<<') return 'is a merge key, and may not be one';
  if (FORBIDDEN.has(key.value)) return 'is a name that is not allowed';
  return seen.has(key.value) ? 'stands there twice' : null;
}
