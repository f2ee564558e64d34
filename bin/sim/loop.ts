const SOON_MS = 10;

/** Calls a function that says itself in how many ms it wants to be called again. */
export class Loop {
  readonly #tick: () => number;
  #timer: NodeJS.Timeout | undefined;
  #due = 0;

  constructor(tick: () => number) {
    this.#tick = tick;
  }

  start(): void {
    this.#run();
  }

  /** Something has happened: does not wait for the rest of a long pause. */
  soon(): void {
    if (this.#timer === undefined || this.#due - performance.now() <= SOON_MS) return;
    this.#wait(SOON_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #run(): void {
    this.#wait(this.#tick());
  }

  #wait(ms: number): void {
    clearTimeout(this.#timer);
    this.#due = performance.now() + ms;
    this.#timer = setTimeout(() => this.#run(), ms);
  }
}
