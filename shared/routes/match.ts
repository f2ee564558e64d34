/**
 * Finds the rows for a raw request target. Only the canonical spelling of a path is accepted (docs/contract/edge.md#target), so that
 * two parsers can never read one target differently.
 */
import type { PathParam, Row, RowMethod } from './row.ts';
import { encodePathValue } from './target.ts';

/** The rows of one path template, by method. */
export interface Template {
  readonly path: string;
  readonly rows: ReadonlyMap<RowMethod, Row>;
}

interface PathMatch {
  readonly template: Template;
  /** Decoded values of the path parameters. */
  readonly params: Readonly<Record<string, string>>;
}

/**
 * `bad`: not canonical, with the reason, and the template if only the value of a parameter is wrong. `none`: canonical, but no row has it. `found`: the template of the path. A literal
 * segment wins over a parameter, for every method and whatever follows (docs/contract/edge.md#target).
 */
export type MatchResult =
  | { readonly kind: 'bad'; readonly why: string; readonly template?: Template }
  | { readonly kind: 'none' }
  | ({ readonly kind: 'found'; readonly path: string; readonly query: string } & PathMatch);

interface ParamEdge {
  readonly name: string;
  readonly pattern: RegExp;
  readonly rest: boolean;
  readonly raw: boolean;
  readonly node: Node;
}

interface Node {
  readonly literals: Map<string, Node>;
  /** At most one: two names or patterns at one place would make the meaning of a path depend on the order of rows. */
  param: ParamEdge | null;
  template: Template | null;
}

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});
const MAX_TARGET = 4096;
const MAX_SEGMENTS = 40;
// One segment: unreserved characters of RFC 3986 and upper-case percent escapes.
const SEGMENT = /^(?:[A-Za-z0-9._~-]|%[0-9A-F]{2})+$/;
/** What a percent-encoded character of a raw parameter must not be: it would divide the path, or end it. */
const DIVIDES = /[/\\\0]/;
const QUERY = /^(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*$/;

function emptyNode(): Node {
  return { literals: new Map(), param: null, template: null };
}

const WHY = {
  query: 'the query has a character that must be encoded',
  encoding: 'the path has an unnecessary encoding',
} as const;

function partsOf(target: string): { readonly path: string; readonly query: string } {
  const mark = target.indexOf('?');
  return mark === -1
    ? { path: target, query: '' }
    : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}

/** The segments of the path, none for `/`; or what is wrong with it. */
function segmentsOf(target: string, path: string): readonly string[] | string {
  if (target.length > MAX_TARGET) return `the target is longer than ${MAX_TARGET} characters`;
  if (!path.startsWith('/')) return 'the target must be a path';
  const segments = path === '/' ? [] : path.slice(1).split('/');
  return segments.length > MAX_SEGMENTS ? `the path has more than ${MAX_SEGMENTS} segments` : segments;
}

/**
 * Why a target is not canonical where no value in a path needs an encoding; null where it is. `Matcher` says the same of the paths that
 * it knows. @param target the raw request target
 */
export function whyNotCanonical(target: string): string | null {
  const { path, query } = partsOf(target);
  if (query !== '' && !QUERY.test(query)) return WHY.query;
  const segments = segmentsOf(target, path);
  if (typeof segments === 'string') return segments;
  return whyBadSegment(segments) ?? (path.includes('%') ? WHY.encoding : null);
}

export function anchored(param: PathParam): RegExp {
  return new RegExp(`^(?:${param.pattern})$`, 'u');
}

export class Matcher {
  readonly #root = emptyNode();
  /** Templates without parameters: the common case is one look-up, canonical by construction. */
  readonly #literal = new Map<string, Extract<MatchResult, { kind: 'found' }>>();

  constructor(templates: Iterable<Template>) {
    for (const template of templates) this.#add(template);
  }

  #add(template: Template): void {
    const segments = template.path === '/' ? [] : template.path.slice(1).split('/');
    let node = this.#root;
    const row = template.rows.values().next().value;
    for (const segment of segments) node = descend(node, segment, row?.params ?? {});
    node.template = template;
    if (!template.path.includes('{')) {
      this.#literal.set(template.path, {
        kind: 'found',
        path: template.path,
        query: '',
        template,
        params: NO_PARAMS,
      });
    }
  }

  /** @param target the raw request target: path, optionally `?` and a query */
  match(target: string): MatchResult {
    const { path, query } = partsOf(target);
    if (query !== '' && !QUERY.test(query)) return { kind: 'bad', why: WHY.query };
    const literal = this.#literal.get(path);
    if (literal !== undefined) return query === '' ? literal : { ...literal, query };
    const read = segmentsOf(target, path);
    if (typeof read === 'string') return { kind: 'bad', why: read };
    const why = whyBadSegment(read.slice(0, this.#ownLength(read)));
    if (why !== null) return { kind: 'bad', why };
    const found = this.#walk(read);
    if (found !== null) return 'why' in found ? found : { kind: 'found', path, query, ...found };
    return path.includes('%') ? { kind: 'bad', why: WHY.encoding } : { kind: 'none' };
  }

  /** The number of segments that are this node's to read: those before a raw parameter. */
  #ownLength(segments: readonly string[]): number {
    let node = this.#root;
    for (const [index, segment] of segments.entries()) {
      const literal = node.literals.get(segment);
      if (literal === undefined && node.param?.raw === true) return index;
      const next = literal ?? node.param?.node;
      if (next === undefined) break;
      node = next;
    }
    return segments.length;
  }

  /** The template and its parameters, null if none matches, or the reason why a parameter's value is invalid. */
  #walk(segments: readonly string[]): PathMatch | Extract<MatchResult, { kind: 'bad' }> | null {
    let node = this.#root;
    let why: string | null = null;
    let params = NO_PARAMS;
    for (const [index, segment] of segments.entries()) {
      const literal = node.literals.get(segment);
      if (literal !== undefined) {
        node = literal;
        continue;
      }
      const { param } = node;
      if (param === null) return why === null ? null : { kind: 'bad', why };
      const value = decode(param.rest ? segments.slice(index).join('/') : segment, param);
      if (value === null) why ??= `the path parameter ${param.name} does not fit its pattern`;
      else params = { ...params, [param.name]: value };
      node = param.node;
      if (param.rest) break;
    }
    const { template } = node;
    if (why !== null) return { kind: 'bad', why, ...(template !== null && { template }) };
    return template === null ? null : { template, params };
  }
}

function descend(node: Node, segment: string, params: Readonly<Record<string, PathParam>>): Node {
  const named = /^\{(\*?)([a-z_]+)\}$/.exec(segment);
  if (named === null) {
    const next = node.literals.get(segment) ?? emptyNode();
    node.literals.set(segment, next);
    return next;
  }
  const name = named[2] ?? '';
  const spec = params[name];
  if (spec === undefined) throw new Error(`path parameter {${name}} has no pattern`);
  const pattern = anchored(spec);
  const rest = named[1] === '*';
  const same = node.param;
  if (same === null) {
    node.param = { name, pattern, rest, raw: spec.raw === true, node: emptyNode() };
    return node.param.node;
  }
  const alike = same.rest === rest && same.raw === (spec.raw === true);
  if (same.name !== name || same.pattern.source !== pattern.source || !alike)
    throw new Error(`{${name}} and {${same.name}} are at the same place with different meaning`);
  return same.node;
}

function whyBadSegment(segments: readonly string[]): string | null {
  for (const segment of segments) {
    if (segment === '') return 'the path has an empty segment or ends with a slash';
    if (segment === '.' || segment === '..') return 'the path has a dot segment';
    if (!SEGMENT.test(segment)) return 'the path has a character that is not allowed';
  }
  return null;
}

/** The value, or null if it does not match the pattern or is not in canonical spelling. */
function decode(raw: string, edge: ParamEdge): string | null {
  if (edge.raw) return edge.pattern.test(raw) && raw.split('/').every(isOneSegment) ? raw : null;
  if (!raw.includes('%')) return edge.pattern.test(raw) ? raw : null;
  let value: string;
  try {
    value = decodeURIComponent(raw);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
  if (value.includes('/') && !edge.rest) return null;
  return encodePathValue(value) === raw && edge.pattern.test(value) ? value : null;
}

/** Whether every reader takes it for one segment of a path: it is UTF-8, and its characters neither divide the path nor climb. */
function isOneSegment(segment: string): boolean {
  try {
    const text = decodeURIComponent(segment);
    return text !== '.' && text !== '..' && !DIVIDES.test(text);
  } catch (error) {
    if (error instanceof URIError) return false;
    throw error;
  }
}
