/** What an extension shows of itself at GET /api/plugins/{id}/state: a value for each of a few topics. */

const MAX_TOPICS = 8;
const MAX_CHARS = 64 * 1024;
const FRESH_MS = 10_000;

type PublishedState = Readonly<Record<string, { readonly payload: unknown; readonly ts_ms: number }>>;

export class Published {
  readonly #topics = new Map<string, { payload: unknown; ts_ms: number; at: number }>();
  readonly #now: () => number;
  readonly #wall: () => number;

  /** @param now monotonic, ms @param wall Unix time, ms */
  constructor(now: () => number, wall: () => number) {
    this.#now = now;
    this.#wall = wall;
  }

  /** @throws Error for a ninth topic, and for a value of more than 64 KiB as JSON */
  set(topic: string, payload: unknown): void {
    if (!this.#topics.has(topic) && this.#topics.size >= MAX_TOPICS)
      throw new Error(`at most ${MAX_TOPICS} topics are shown`);
    // Nothing of what JSON does not know, which Node's type leaves out.
    const text: string | undefined = JSON.stringify(payload);
    if (text === undefined || text.length > MAX_CHARS)
      throw new Error(`a value is JSON of at most ${MAX_CHARS} characters`);
    this.#topics.set(topic, { payload: JSON.parse(text), ts_ms: this.#wall(), at: this.#now() });
  }

  /** What is not older than 10 s; null if there is nothing. */
  fresh(): PublishedState | null {
    const oldest = this.#now() - FRESH_MS;
    const fresh = [...this.#topics].filter(([, { at }]) => at >= oldest);
    if (fresh.length === 0) return null;
    return Object.fromEntries(fresh.map(([topic, { payload, ts_ms }]) => [topic, { payload, ts_ms }]));
  }
}
