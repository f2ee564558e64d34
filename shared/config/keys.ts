import { memberOf } from '../member.ts';
import type { LeafKeywords } from './leaf.ts';
import { configSchema } from './schema.ts';
import { settingsOf } from './settings.ts';

/** Walking the config schema by dotted key. */

/** A node of the config schema, as far as walking it needs to know it. */
export interface ConfigNode extends Partial<LeafKeywords> {
  readonly type?: unknown;
  readonly title?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly 'x-topics'?: readonly (readonly [id: string, title: string])[];
  readonly 'x-topic'?: string;
  readonly properties?: Readonly<Record<string, ConfigNode>>;
  readonly [keyword: string]: unknown;
}

/** The schema of the key, or null if there is no such key or it names a section. */
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

/** Every leaf with its dotted key. */
export function configLeaves(): readonly (readonly [key: string, leaf: ConfigNode])[] {
  return settingsOf<ConfigNode>(configSchema).map(({ key, leaf }) => [key, leaf]);
}

/** Every leaf key that carries `keyword` as true. */
export function keysWith(keyword: 'x-secret'): readonly string[] {
  return configLeaves().flatMap(([key, leaf]) => (leaf[keyword] === true ? [key] : []));
}

/** The value at a dotted key; undefined if there is none. */
export function valueAt(config: unknown, key: string): unknown {
  return key.split('.').reduce(memberOf, config);
}
