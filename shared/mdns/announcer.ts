import { extname, join } from 'node:path';
import { OwnThread } from '../async/own-thread.ts';
import { Retry } from '../async/retry.ts';
import type { Service } from './records.ts';

const FILE = join(import.meta.dirname, `mdns-thread${extname(import.meta.filename)}`);
const HEAP = { oldMb: 64, youngMb: 2 };
/** Of its sentences, one each: what a hostile network brings about fills no log. */
const MAX_SAID = 8;
/** Where the system bus is on every Linux of today. */
const SYSTEM_BUS = '/run/dbus/system_bus_socket';

export interface ThreadData {
  readonly bus: string;
}

export type ToMdns = readonly Service[] | 'stop';

/** Makes services known by mDNS (RFC 6762, 6763), from a thread of its own: who floods it holds nobody who flies or serves. */
export class Announcer {
  readonly #warn: (sentence: string) => void;
  readonly #bus: string;
  readonly #retry = new Retry(() => this.#begin(), { firstMs: 1000, capMs: 30_000 });
  readonly #said = new Set<string>();
  #services: readonly Service[] = [];
  #thread: OwnThread<ToMdns, string> | null = null;

  /**
   * @param warn told, not often, of what an operator may want to know; without a network nobody can find this machine
   * @param address of D-Bus, `unix:path=…`; the system's unless given
   */
  constructor(warn: (sentence: string) => void, address?: string) {
    this.#warn = warn;
    this.#bus = /^unix:path=([^,;]+)/.exec(address ?? '')?.[1] ?? SYSTEM_BUS;
  }

  start(): void {
    this.#retry.start();
  }

  /** From now on these, instead of those before. */
  publish(services: readonly Service[]): void {
    this.#services = services;
    this.#thread?.post(services);
  }

  async stop(): Promise<void> {
    this.#retry.stop();
    await this.#thread?.stop('stop');
    this.#thread = null;
  }

  #begin(): void {
    const data: ThreadData = { bus: this.#bus };
    this.#thread = new OwnThread({
      file: FILE,
      data,
      heap: HEAP,
      onMessage: (sentence) => this.#tell(sentence),
      onEnd: (problem) => {
        this.#thread = null;
        this.#tell(problem);
        this.#retry.again();
      },
    });
    this.#thread.post(this.#services);
  }

  #tell(sentence: string): void {
    if (this.#said.size >= MAX_SAID || this.#said.has(sentence)) return;
    this.#said.add(sentence);
    this.#warn(`mDNS: ${sentence}`);
  }
}
