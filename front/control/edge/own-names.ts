import { isIPv6 } from 'node:net';
import type { networkInterfaces } from 'node:os';

/** How often the addresses are read at most; a new address is known after this time at the latest. */
const AGE_MS = 20;

interface OwnNamesOptions {
  /** `svc-<id>.local` and what the config adds. */
  readonly names: readonly string[];
  readonly interfaces: typeof networkInterfaces;
  /** Monotonic clock, ms. */
  readonly now: () => number;
}

/** The names under which callers reach this node: its host names and the addresses of its interfaces. */
export class OwnNames {
  readonly #options: OwnNamesOptions;
  #current: ReadonlySet<string> = new Set();
  #until = 0;

  constructor(options: OwnNamesOptions) {
    this.#options = options;
  }

  /** @param name lower case, in one spelling */
  has(name: string): boolean {
    return this.#current.has(name) || this.#look().has(name);
  }

  #look(): ReadonlySet<string> {
    const { names, interfaces, now } = this.#options;
    if (now() < this.#until) return this.#current;
    const addresses = Object.values(interfaces()).flatMap((list) => list ?? []);
    this.#current = new Set([
      ...names.map((name) => name.toLowerCase()),
      ...addresses.map(({ address }) => oneSpelling(address)),
    ]);
    this.#until = now() + AGE_MS;
    return this.#current;
  }
}

/** IPv6 has many spellings of one address; every other name is as it is. @param name lower case */
export function oneSpelling(name: string): string {
  return isIPv6(name) ? new URL(`http://[${name.replace(/%.*$/, '')}]/`).hostname.slice(1, -1) : name;
}
