import type { FromSchema } from 'json-schema-to-ts';
import type { JsonSchema } from './json-schema.ts';
import type { ReadonlyDeep } from './readonly-deep.ts';

/** What a schema describes. Unknown for a schema that is only known when it is there: TypeScript cannot derive a type from it. */
export type Described<S> = JsonSchema extends S ? unknown : S extends JsonSchema ? FromSchema<S> : never;

/** What an answer by this schema may be made of. */
export type Made<S> = ReadonlyDeep<Described<S>>;

/** As an older node's readers have it, and whoever makes it: all members are there, and may be changed. */
export type Whole<T> = T extends readonly (infer Item)[]
  ? Whole<Item>[]
  : T extends object
    ? { -readonly [K in keyof T]-?: Whole<T[K]> }
    : T;
