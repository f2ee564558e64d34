import type { ReadonlyDeep } from './readonly-deep.ts';
import type { Described } from './validator.ts';

/** What an answer by this schema may be made of. */
export type Made<S> = ReadonlyDeep<Described<S>>;

/** As an older node's readers have it, and whoever makes it: all members are there, and may be changed. */
export type Whole<T> = T extends readonly (infer Item)[]
  ? Whole<Item>[]
  : T extends object
    ? { -readonly [K in keyof T]-?: Whole<T[K]> }
    : T;
