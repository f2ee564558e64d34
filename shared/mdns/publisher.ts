import { getuid } from 'node:process';
import { Avahi } from './avahi.ts';
import type { Service } from './records.ts';
import { Responder } from './responder.ts';

/** So often avahi-daemon is looked for: it may start later, or again. */
const AVAHI_MS = 30_000;

/** Makes services known by avahi-daemon where that runs, and by itself elsewhere. */
export class Publisher {
  readonly #bus: string;
  readonly #tell: (sentence: string) => void;
  #services: readonly Service[] = [];
  #avahi: Avahi | null = null;
  #responder: Responder | null = null;
  #searchedAt = -Infinity;
  #said = '';
  #isLooking = false;
  #hasStopped = false;

  /** @param bus the socket of the system's D-Bus */
  constructor(bus: string, tell: (sentence: string) => void) {
    this.#bus = bus;
    this.#tell = tell;
  }

  publish(services: readonly Service[]): void {
    this.#services = services;
    this.#responder?.publish(services);
  }

  /** Follows whatever came or went. @throws if links cannot be read */
  async look(): Promise<void> {
    if (this.#isLooking || this.#hasStopped) return;
    this.#isLooking = true;
    try {
      if (!(await this.#byAvahi())) this.#byItself();
    } finally {
      this.#isLooking = false;
    }
  }

  async stop(): Promise<void> {
    this.#hasStopped = true;
    this.#avahi?.close();
    await this.#responder?.stop();
  }

  async #byAvahi(): Promise<boolean> {
    try {
      const avahi = this.#avahi ?? (await this.#search());
      if (avahi === null) return false;
      // Before: avahi-daemon would take its answers for another machine's.
      await this.#responder?.stop();
      this.#responder = null;
      const said = JSON.stringify(this.#services);
      if (said !== this.#said) await avahi.publish(this.#services);
      this.#said = said;
      const sentence = await avahi.look();
      if (sentence !== null) this.#tell(sentence);
      if (this.#hasStopped) avahi.close();
      return true;
    } catch {
      // It does not run, or has ended: this process answers instead.
      this.#avahi?.close();
      this.#avahi = null;
      return false;
    }
  }

  async #search(): Promise<Avahi | null> {
    if (performance.now() - this.#searchedAt < AVAHI_MS) return null;
    this.#searchedAt = performance.now();
    this.#said = '';
    this.#avahi = await Avahi.open(this.#bus, getuid?.() ?? 0);
    return this.#avahi;
  }

  #byItself(): void {
    if (this.#hasStopped) return;
    if (this.#responder === null) {
      this.#responder = new Responder(this.#tell);
      this.#responder.publish(this.#services);
    }
    this.#responder.look();
  }
}
