/** Events of the node and of extensions, to whoever subscribed. Who may do which is decided by the callers. */
export class Topics {
  readonly #listeners = new Map<string, Set<(topic: string, payload: unknown) => void>>();

  publish(topic: string, payload: unknown): void {
    for (const listener of this.#listeners.get(topic) ?? []) listener(topic, payload);
  }

  /** @returns how to unsubscribe */
  subscribe(topic: string, listener: (topic: string, payload: unknown) => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(topic);
    };
  }
}
