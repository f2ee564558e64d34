import { readdir, readFile, readlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { every } from '../../../shared/async/every.ts';

export interface Card {
  readonly name: string;
  readonly driver: string;
  /** Its name for `iw phy`. */
  readonly phy: string | null;
}

/** Drivers that wfb-ng names as its own. */
const KNOWN_DRIVERS: ReadonlySet<string> = new Set(['rtl88xxau_wfb', 'rtl88x2eu']);
/** Takes the power as a negative number. */
const NEGATIVE_POWER = 'rtl88xxau_wfb';

/** The cards of the radio that this machine has at the moment. */
export class RadioCards {
  readonly #folder: string;
  readonly #wanted: readonly string[];
  readonly #pollMs: number;
  readonly #listeners = new Set<() => void>();
  #present: readonly Card[] = [];
  /** Those that were there since the start: where the config names none, one that goes is still missed. */
  readonly #seen = new Set<string>();
  #timer: NodeJS.Timeout | null = null;

  /**
   * @param wanted `radio.cards`
   * @param pollMs how often it looks
   */
  constructor(sysDir: string, wanted: readonly string[], pollMs: number) {
    this.#pollMs = pollMs;
    this.#folder = join(sysDir, 'class/net');
    this.#wanted = wanted;
  }

  async start(): Promise<void> {
    await this.#look();
    this.#timer = every(this.#pollMs, 'cards of the radio', async () => this.#look());
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** In the order of the config, else by name. */
  get present(): readonly Card[] {
    return this.#present;
  }

  get missing(): readonly string[] {
    const there = new Set(this.#present.map(({ name }) => name));
    const wanted = this.#wanted.length > 0 ? this.#wanted : [...this.#seen];
    return wanted.filter((name) => !there.has(name));
  }

  /** Called when a card has come or gone. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Frames that a card has received since it is there; null if it does not say. */
  async received(card: string): Promise<number | null> {
    const text = await readFile(join(this.#folder, card, 'statistics/rx_packets'), 'utf8').catch(() => ''); // it has gone
    return /^\d+\s*$/.test(text) ? Number(text) : null;
  }

  async #look(): Promise<void> {
    const names: readonly string[] = await readdir(this.#folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    const wanted =
      this.#wanted.length > 0
        ? this.#wanted.filter((name) => names.includes(name))
        : names.toSorted((a, b) => a.localeCompare(b));
    const found = await Promise.all(wanted.map(async (name) => this.#card(name)));
    const present = this.#wanted.length > 0 ? found : found.filter(({ driver }) => KNOWN_DRIVERS.has(driver));
    const before = this.#present.map(({ name }) => name).join(' ');
    this.#present = present;
    for (const { name } of present) this.#seen.add(name);
    if (present.map(({ name }) => name).join(' ') === before) return;
    for (const listener of this.#listeners) listener();
  }

  async #card(name: string): Promise<Card> {
    const folder = join(this.#folder, name);
    const [driver, phy] = await Promise.all([
      readlink(join(folder, 'device/driver')).then(basename, () => 'unknown'), // a virtual one has none
      readFile(join(folder, 'phy80211/name'), 'utf8').then(
        (text) => text.trim(),
        () => null,
      ), // not a wireless one
    ]);
    return { name, driver, phy };
  }
}

/** A power as `iw` and wfb-ng take it for this card. */
export function mbmOf({ driver }: Card, dbm: number): number {
  return driver === NEGATIVE_POWER ? -100 * dbm : 100 * dbm;
}
