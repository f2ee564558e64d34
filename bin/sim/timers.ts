/** One-shot timers that end together, so that a reboot or a stop leaves none behind. */
export class Timers {
  readonly #running = new Set<NodeJS.Timeout>();

  /** @param ms wall clock */
  after(ms: number, action: () => void): void {
    const timer = setTimeout(() => {
      this.#running.delete(timer);
      action();
    }, ms);
    this.#running.add(timer);
  }

  clear(): void {
    for (const timer of this.#running) clearTimeout(timer);
    this.#running.clear();
  }
}
