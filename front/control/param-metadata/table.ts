import type { Described, ParamDescription } from './description.ts';

/** More than any firmware has; a bound against a hostile file. */
const MAX_PARAMS = 8192;
const NAME = /^[A-Za-z0-9_]{1,16}$/;

interface Place {
  readonly start: number;
  readonly end: number;
  readonly default: number | null;
}

/**
 * Descriptions of parameters, kept small: the texts of all as JSON in one buffer (PX4: 0.5 MB), and where each one stands. As
 * objects they would take several times of that.
 */
export class DescriptionTable {
  readonly #bytes: Buffer;
  readonly #places = new Map<string, Place>();

  constructor(all: readonly Described[]) {
    const parts: Buffer[] = [];
    let end = 0;
    for (const { name, description, default: initial } of all) {
      if (!NAME.test(name) || this.#places.has(name) || this.#places.size >= MAX_PARAMS) continue;
      const part = Buffer.from(JSON.stringify(description));
      parts.push(part);
      this.#places.set(name, { start: end, end: end + part.length, default: initial });
      end += part.length;
    }
    this.#bytes = Buffer.concat(parts);
  }

  get size(): number {
    return this.#places.size;
  }

  /** Null: nothing describes it. */
  get(name: string): ParamDescription | null {
    const place = this.#places.get(name);
    if (place === undefined) return null;
    return JSON.parse(this.#bytes.toString('utf8', place.start, place.end)) as ParamDescription;
  }

  defaultOf(name: string): number | null {
    return this.#places.get(name)?.default ?? null;
  }
}
