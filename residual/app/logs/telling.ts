/** Where a part of the log store says what it cannot store: a logger, also from another thread. */
export interface Telling {
  error(text: string): void;
  warn(text: string): void;
  debug(text: string): void;
}
