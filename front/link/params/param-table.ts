import type { ParamValue } from '../../../shared/mavlink/decode.ts';

/** More than any firmware has; a bound against a hostile or broken vehicle. */
export const MAX_PARAMS = 8192;
/** PARAM_VALUE's index outside a list: an answer to a write, or to a read by name. */
export const NOT_IN_LIST = 65_535;

export interface ParamEntry {
  /** The raw 32 bits; their meaning depends on the type and on the vehicle's encoding. */
  readonly bits: number;
  /** MAV_PARAM_TYPE */
  readonly type: number;
  readonly index: number;
}

/** What is known of the vehicle's parameters. Only values that the vehicle sent, now or in an earlier session, change it. */
export class ParamTable {
  readonly #entries = new Map<string, ParamEntry>();
  /** Grows by one whenever a value changes. */
  generation = 0;

  get size(): number {
    return this.#entries.size;
  }

  get(name: string): ParamEntry | undefined {
    return this.#entries.get(name);
  }

  entries(): IterableIterator<[string, ParamEntry]> {
    return this.#entries.entries();
  }

  clear(): void {
    if (this.#entries.size > 0) this.generation++;
    this.#entries.clear();
  }

  /** @returns whether the value or its type is another one now */
  set({ name, bits, type, index }: Pick<ParamValue, 'name' | 'bits' | 'type' | 'index'>): boolean {
    const before = this.#entries.get(name);
    if (name === '' || (before === undefined && this.#entries.size >= MAX_PARAMS)) return false;
    const known = index === NOT_IN_LIST ? (before?.index ?? NOT_IN_LIST) : index;
    const changed = before?.bits !== bits || before.type !== type;
    if (changed || before.index !== known) this.#entries.set(name, { bits, type, index: known });
    if (changed) this.generation++;
    return changed;
  }

  /** Removes parameters that are not in `names`: they belong to another firmware of the same vehicle. */
  keepOnly(names: ReadonlySet<string>): void {
    for (const name of this.#entries.keys()) {
      if (names.has(name)) continue;
      this.#entries.delete(name);
      this.generation++;
    }
  }
}
