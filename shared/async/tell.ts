/** Calls a listener. What it throws ends neither its teller nor the listeners after it, and is written to stderr. */
export function tell<T>(what: string, listener: (value: T) => void, value: T): void {
  try {
    listener(value);
  } catch (error) {
    process.emitWarning(
      `a listener of ${what} failed: ${error instanceof Error ? error.stack : String(error)}`,
    );
  }
}

export function tellAll<T>(what: string, listeners: Iterable<(value: T) => void>, value: T): void {
  for (const listener of listeners) tell(what, listener, value);
}
