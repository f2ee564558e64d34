/** What an answer of `T` may be made of: nobody changes it here, and members that a schema only allows need no index signature. */
export type ReadonlyDeep<T> = unknown extends T
  ? unknown
  : T extends readonly unknown[]
    ? { readonly [K in keyof T]: ReadonlyDeep<T[K]> }
    : T extends object
      ? [keyof Named<T>] extends [never]
        ? unknown extends T[keyof T]
          ? object
          : { readonly [K in keyof T]: ReadonlyDeep<T[K]> }
        : { readonly [K in keyof Named<T>]: ReadonlyDeep<Named<T>[K]> }
      : T;

/** Without the index signature. */
type Named<T> = { [K in keyof T as string extends K ? never : K]: T[K] };
