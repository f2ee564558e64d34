/** The settings of a schema as people see them, by topic: for the page, `svc config list` and docs/configuration.md. */

interface SettingNode<N> {
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, N>>;
  readonly items?: unknown;
  readonly enum?: readonly unknown[];
  readonly 'x-topic'?: string;
  readonly 'x-words'?: readonly string[];
  readonly 'x-unit'?: string;
  readonly 'x-reason'?: string;
}
interface TopicList {
  readonly 'x-topics'?: readonly (readonly [id: string, title: string])[];
}

export interface Setting<N> {
  /** Dotted. */
  readonly key: string;
  readonly leaf: N;
  /** Of the innermost section around it that says; empty: none does. */
  readonly topic: string;
  /** The sections around it, the outermost first. */
  readonly sections: readonly N[];
}

/** Every value of the schema; sections are walked, objects in lists are not. */
export function settingsOf<N extends SettingNode<N>>(
  schema: N,
  path: readonly string[] = [],
  topic = '',
  sections: readonly N[] = [],
): readonly Setting<N>[] {
  const own = schema['x-topic'] ?? topic;
  if (schema.properties === undefined) return [{ key: path.join('.'), leaf: schema, topic: own, sections }];
  const inner = path.length === 0 ? [] : [...sections, schema];
  return Object.entries(schema.properties).flatMap(([name, member]) =>
    settingsOf(member, [...path, name], own, inner),
  );
}

/** The topics that have settings, in their order, each with its title. A schema without topics has one without a name. */
export function topicsOf<N>(
  schema: TopicList,
  settings: readonly Setting<N>[],
): readonly { readonly id: string; readonly title: string; readonly settings: readonly Setting<N>[] }[] {
  return (schema['x-topics'] ?? [['', '']])
    .map(([id, title]) => ({ id, title, settings: settings.filter(({ topic }) => topic === id) }))
    .filter((each) => each.settings.length > 0);
}

/** By the innermost section around them, which is undefined for those that stand in none. */
export function bySection<N>(
  settings: readonly Setting<N>[],
): ReadonlyMap<N | undefined, readonly Setting<N>[]> {
  const groups = new Map<N | undefined, Setting<N>[]>();
  for (const setting of settings) {
    const own = setting.sections.at(-1);
    const group = groups.get(own);
    if (group === undefined) groups.set(own, [setting]);
    else group.push(setting);
  }
  return groups;
}

/**
 * Whether all words of `search` stand in a setting's key, its texts or those around it.
 * @param words what is shown in place of an English text
 */
export function isFound<N extends SettingNode<N>>(
  { key, leaf, sections }: Setting<N>,
  topicTitle: string,
  search: string,
  words: (text: string) => string = (text) => text,
): boolean {
  const texts = [leaf, ...sections].flatMap((each) => [each.title ?? '', each.description ?? '']);
  const all = [topicTitle, ...texts, ...choicesOf(leaf).map(([, word]) => word)];
  const said = `${key} ${all.join(' ')} ${all.map(words).join(' ')}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => said.includes(word));
}

/** The choices of a value, or of the members of a list, each with its word. */
export function choicesOf(leaf: SettingNode<unknown>): readonly (readonly [choice: unknown, word: string])[] {
  const { enum: choices, 'x-words': words, items } = leaf;
  if (choices !== undefined)
    return choices.map((choice, index) => [choice, words?.[index] ?? String(choice)]);
  return typeof items === 'object' && items !== null ? choicesOf(items) : [];
}

/** Every text of the schema that people see, once. */
export function textsIn<N extends SettingNode<N> & TopicList>(schema: N): readonly string[] {
  const settings = settingsOf(schema);
  const nodes = [...new Set(settings.flatMap(({ leaf, sections }) => [...sections, leaf]))];
  const texts = nodes.flatMap((node) => [
    ...[node.title, node.description, node['x-unit'], node['x-reason']].flatMap((text) => text ?? []),
    // A word that is the choice itself is no word of a language.
    ...choicesOf(node).flatMap(([choice, word]) => (word === String(choice) ? [] : [word])),
  ]);
  return [...new Set([...topicsOf(schema, settings).map(({ title }) => title), ...texts])];
}
