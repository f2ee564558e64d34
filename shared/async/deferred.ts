/** A promise that is settled from outside. `Promise.withResolvers`, which Node 20 does not have. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: Error) => void;
}

export function deferred<T = void>(): Deferred<T> {
  let settle: Omit<Deferred<T>, 'promise'> | null = null;
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  // The function above has run already.
  return { promise, ...(settle as unknown as Omit<Deferred<T>, 'promise'>) };
}
