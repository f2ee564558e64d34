import { isDeepStrictEqual } from 'node:util';
import { isObject, type JsonObject } from '../member.ts';

const NOTHING: JsonObject = { not: {} };
/** What a use of a named schema may say of its own, beside the reference. */
const OWN = ['description'] as const;
const COMBINED = ['anyOf', 'oneOf', 'allOf'] as const;
const SCHEMAS = ['items', 'contains', 'propertyNames', 'not', 'if', 'then', 'else'] as const;

/**
 * Our schemas as OpenAPI has them: each with a `title` is a component of that name, referred to everywhere. They say the same as
 * those that check, in the words that generators of clients read: no schema is `true` or `false`, each says its type, and what
 * only binds the members of an object to each other (`anyOf` beside `properties`) does not look like a choice of types.
 */
export class Components {
  readonly #named = new Map<string, JsonObject>();
  /** What was made of each schema: most stand in many rows. */
  readonly #made = new Map<object, JsonObject>();

  /** All that were referred to, by name. */
  get schemas(): JsonObject {
    return Object.fromEntries([...this.#named].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** The schema, or the reference to it. @throws Error for two schemas of one name */
  of(schema: unknown): JsonObject {
    if (!isObject(schema)) return schema === false ? NOTHING : {};
    const made = this.#made.get(schema) ?? this.#use(schema);
    this.#made.set(schema, made);
    return made;
  }

  #use({ title, ...rest }: JsonObject): JsonObject {
    if (typeof title !== 'string') return this.#plain(rest);
    const own = Object.fromEntries(
      OWN.flatMap((name) => (rest[name] === undefined ? [] : [[name, rest[name]]])),
    );
    const { type } = rest;
    const nullable = Array.isArray(type) && type.includes('null');
    const types = nullable ? type.filter((one) => one !== 'null') : [];
    this.#add(title, nullable ? { ...rest, type: types.length === 1 ? types[0] : types } : rest);
    const ref = { $ref: `#/components/schemas/${title}` };
    return nullable ? { ...own, anyOf: [ref, { type: 'null' }] } : { ...ref, ...own };
  }

  #add(name: string, { default: _default, ...schema }: JsonObject): void {
    const { description, ...made } = this.#plain(schema);
    const known = this.#named.get(name);
    if (known === undefined) {
      this.#named.set(name, { ...(description !== undefined && { description }), ...made });
      return;
    }
    const { description: _description, ...before } = known;
    if (!isDeepStrictEqual(before, made)) throw new Error(`two schemas have the title ${name}`);
  }

  #plain(schema: JsonObject): JsonObject {
    const made: Record<string, unknown> = { ...schema };
    // Of an object it is what is missing in each member, so it need not fit by itself.
    if (typeof schema['default'] === 'object') delete made['default'];
    if (isJson(schema['properties']))
      made['properties'] = Object.fromEntries(
        Object.entries(schema['properties']).map(([name, one]) => [name, this.of(one)]),
      );
    for (const word of SCHEMAS) if (word in schema) made[word] = this.of(schema[word]);
    if (isJson(schema['additionalProperties']))
      made['additionalProperties'] = this.of(schema['additionalProperties']);
    for (const word of COMBINED) {
      const all = schema[word];
      if (Array.isArray(all)) made[word] = all.map((one: unknown) => this.of(one));
    }
    // A list of whatever it may be says so: not every reader knows a list without items.
    const { type } = schema;
    if ((type === 'array' || (Array.isArray(type) && type.includes('array'))) && !('prefixItems' in made))
      made['items'] ??= {};
    return typed('properties' in schema ? bound(made) : made);
  }
}

function isJson(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `anyOf` and the like beside `properties` as a condition, which says the same. */
function bound(schema: JsonObject): JsonObject {
  const conditions = COMBINED.filter((word) => word in schema);
  if (conditions.length === 0) return schema;
  const rest = Object.entries(schema).filter(([word]) => !COMBINED.some((one) => one === word));
  const condition = Object.fromEntries(conditions.map((word) => [word, schema[word]]));
  return { ...Object.fromEntries(rest), if: condition, else: NOTHING };
}

/** With the type of a list of values, or of one. */
function typed(schema: JsonObject): JsonObject {
  const values: unknown = 'const' in schema ? [schema['const']] : schema['enum'];
  if (!Array.isArray(values)) return schema;
  const types = [...new Set(values.map(typeOf))];
  if (types.filter((type) => type !== 'null').length > 1) return ofSeveralTypes(schema, values, types);
  const spelt = 'enum' in schema ? { enum: oneSpelling(values) } : {};
  return { type: types.length === 1 ? types[0] : types, ...schema, ...spelt };
}

/** `true`, `false` or `unknown` is a choice of a boolean and a word. */
function ofSeveralTypes(
  schema: JsonObject,
  values: readonly unknown[],
  types: readonly string[],
): JsonObject {
  const { enum: _values, type: _type, ...rest } = schema;
  const anyOf = types.map((type) =>
    type === 'boolean' || type === 'null'
      ? { type }
      : { type, enum: values.filter((value) => typeOf(value) === type) },
  );
  return { ...rest, anyOf };
}

/** Of two spellings of one word, `ground-station` and `ground_station`, the first: a client has one name for both. */
function oneSpelling(values: readonly unknown[]): readonly unknown[] {
  const spelling = (value: unknown): unknown =>
    typeof value === 'string' ? value.replaceAll(/[-_ ]/g, '') : value;
  return values.filter((value, at) => values.findIndex((one) => spelling(one) === spelling(value)) === at);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}
