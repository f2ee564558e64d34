import { randomUUID } from 'node:crypto';

// More than a person could answer; the oldest are forgotten, and asked again.
const MAX_OPEN = 256;

/** The questions that wait for an answer of a client's user. Each is answered once, whatever the client repeats. */
export class Questions {
  readonly #open = new Set<string>();

  /** @returns the id of a new question */
  ask(): string {
    const id = randomUUID();
    this.#open.add(id);
    const [oldest] = this.#open;
    if (this.#open.size > MAX_OPEN && oldest !== undefined) this.#open.delete(oldest);
    return id;
  }

  /** @returns false if it was answered before, or is not known */
  answer(id: string): boolean {
    return this.#open.delete(id);
  }
}
