import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'vite';
import { isObject, type JsonObject, listOf, memberOf } from '../../shared/member.ts';
import { ROOT } from './node.ts';

const SRC = join(ROOT, 'residual/web/src');
/** What a module of words gives to others, and of which catalogue it is. */
const CATALOGUE: Readonly<Record<string, string>> = {
  t: 'page',
  hub: 'hub',
  viewerWords: 'log-viewer',
  auditWords: 'audit',
  planWords: 'plan',
  confirmWords: 'confirm',
};
const BUTTONS: readonly unknown[] = ['Button', 'HoldButton'];
const SCOPE = /^(?:Program|BlockStatement|FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;

/** A place of the page's source that says words. */
export interface SaidWords {
  /** Names from the catalogue on; `*`: any. All below it may be said, too. */
  readonly path: readonly string[];
  readonly onButton: boolean;
}

/** Whether a message is said there. A list is walked, so that its members have no name in the source. */
export function isSaidAt({ path }: SaidWords, message: readonly string[]): boolean {
  return path.every((name, at) => name === '*' || name === message[at] || /^\d+$/.test(message[at] ?? ''));
}

/** Every place of the page that says words. */
export function saidWords(): readonly SaidWords[] {
  return globSync('**/*.{ts,tsx}', { cwd: SRC }).flatMap((file) => new SourceWords(file).said);
}

class SourceWords {
  readonly said: SaidWords[] = [];
  /** What a name in each scope stands for, the innermost last; null: no words. */
  readonly #scopes: Map<string, readonly string[] | null>[] = [];
  #onButton = false;

  constructor(file: string) {
    const code = readFileSync(join(SRC, file), 'utf8');
    this.#look(parseAst(code, { lang: file.endsWith('x') ? 'tsx' : 'ts', astType: 'ts' }));
  }

  #look(node: unknown): void {
    if (Array.isArray(node)) for (const each of node) this.#look(each);
    if (!isObject(node) || Array.isArray(node)) return;
    const type = String(node['type']);
    // Types say nothing.
    if (type.startsWith('TS') && node['expression'] === undefined) return;
    const path = this.#pathOf(node);
    if (path !== null) {
      this.said.push({ path, onButton: this.#onButton });
      return this.#lookIntoIndexes(node);
    }
    if (type === 'ImportDeclaration') return this.#import(node);
    if (type === 'MemberExpression' || type === 'Property') {
      const [of, name] = type === 'Property' ? ['value', 'key'] : ['object', 'property'];
      this.#look(node[of]);
      if (node['computed'] === true) this.#look(node[name]);
      return;
    }
    if (type === 'VariableDeclarator') return this.#declare(node);
    const isScope = SCOPE.test(type);
    if (isScope) this.#scopes.push(new Map());
    for (const param of listOf(node['params'])) this.#name(param, null);
    const isButton =
      type === 'JSXElement' && BUTTONS.includes(memberOf(memberOf(node['openingElement'], 'name'), 'name'));
    for (const [key, each] of Object.entries(node)) {
      const before = this.#onButton;
      if (isButton) this.#onButton = key === 'children';
      if (key !== 'params' || !isScope) this.#look(each);
      else for (const param of listOf(each)) this.#look(memberOf(param, 'right'));
      this.#onButton = before;
    }
    if (isScope) this.#scopes.pop();
  }

  #import(node: JsonObject): void {
    if (!/(?:strings|-words)\.ts$/.test(String(memberOf(node['source'], 'value')))) return;
    for (const each of listOf(node['specifiers'])) {
      const catalogue = CATALOGUE[String(memberOf(memberOf(each, 'imported'), 'name'))];
      if (catalogue !== undefined) this.#name(memberOf(each, 'local'), [catalogue]);
    }
  }

  #declare({ id, init }: JsonObject): void {
    const path = this.#pathOf(init);
    this.#name(id, path);
    if (path === null) this.#look(init);
    else this.#lookIntoIndexes(init);
  }

  /** @param pattern a name, or several taken out of an object */
  #name(pattern: unknown, path: readonly string[] | null): void {
    const name = memberOf(pattern, 'name');
    if (typeof name === 'string') this.#scopes.at(-1)?.set(name, path);
    for (const part of listOf(memberOf(pattern, 'properties'))) {
      const key = String(memberOf(memberOf(part, 'key'), 'name'));
      const below = memberOf(part, 'type') === 'RestElement' ? path : (path?.concat(key) ?? null);
      this.#name(memberOf(part, 'value') ?? memberOf(part, 'argument'), below);
    }
    for (const part of listOf(memberOf(pattern, 'elements'))) this.#name(part, null);
    if (memberOf(pattern, 'left') !== undefined) {
      this.#name(memberOf(pattern, 'left'), path);
    }
  }

  /** The words that `t.fly`, `words.why[cmd]` and the like stand for; null: none. */
  #pathOf(node: unknown): readonly string[] | null {
    const type = memberOf(node, 'type');
    if (type === 'Identifier') {
      const name = String(memberOf(node, 'name'));
      return this.#scopes.findLast((scope) => scope.has(name))?.get(name) ?? null;
    }
    if (type !== 'MemberExpression') return null;
    const property = memberOf(node, 'property');
    const name =
      memberOf(node, 'computed') === true ? memberOf(property, 'value') : memberOf(property, 'name');
    return this.#pathOf(memberOf(node, 'object'))?.concat(typeof name === 'string' ? name : '*') ?? null;
  }

  #lookIntoIndexes(node: unknown): void {
    if (memberOf(node, 'type') !== 'MemberExpression') return;
    if (memberOf(node, 'computed') === true) this.#look(memberOf(node, 'property'));
    this.#lookIntoIndexes(memberOf(node, 'object'));
  }
}
