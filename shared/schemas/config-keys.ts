import { configSchema } from './config.ts';

/** Walking the config schema by dotted key. */

/** A node of the config schema, as far as walking it needs to know it. */
export interface ConfigNode {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, ConfigNode>>;
  readonly 'x-secret'?: boolean;
  readonly 'x-root-only'?: boolean;
  readonly 'x-profile'?: boolean;
  readonly 'x-restart'?: readonly string[];
  readonly [keyword: string]: unknown;
}

/** The schema of the key, or null where there is no such key or it names a section. */
export function configLeaf(key: string): ConfigNode | null {
  let node: ConfigNode = configSchema;
  for (const part of key.split('.')) {
    const next =
      node.properties !== undefined && Object.hasOwn(node.properties, part)
        ? node.properties[part]
        : undefined;
    if (next === undefined) return null;
    node = next;
  }
  return node.properties === undefined ? node : null;
}

/** Every leaf key that carries `keyword` as true. */
export function keysWith(keyword: 'x-secret' | 'x-root-only' | 'x-profile'): readonly string[] {
  const out: string[] = [];
  const visit = (node: ConfigNode, path: readonly string[]): void => {
    if (node[keyword] === true) out.push(path.join('.'));
    for (const [name, child] of Object.entries(node.properties ?? {})) visit(child, [...path, name]);
  };
  visit(configSchema, []);
  return out;
}
