import { Serial } from '../../../shared/async/serial.ts';
import { within } from '../../../shared/async/within.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { Made } from '../../../shared/schemas/made.ts';
import {
  PERIPHERAL_KINDS,
  type PeripheralKind,
  type peripheralList,
} from '../../../shared/schemas/peripherals.ts';
import type { Manifests } from './manifests.ts';
import type { FoundPeripheral } from './sources/found.ts';
import { SOURCES } from './sources/sources.ts';
import type { Trees } from './sources/sysfs.ts';
import { UsbNames } from './sources/usb-names.ts';

/** One peripheral as it is remembered. */
export interface Entry {
  readonly id: string;
  readonly found: FoundPeripheral;
  readonly connected: boolean;
  /** The id of the USB device that it is a part of. */
  readonly partOf: string | null;
  /** Wall clock, ms. */
  readonly firstSeen: number;
  readonly lastSeen: number;
}

type SourceState = Made<typeof peripheralList>['sources'][number];

interface PeripheralsOptions {
  readonly trees: Trees;
  readonly manifests: Manifests;
  /** Wall clock, ms. */
  readonly wall: () => number;
  /** Tells extensions of a change. */
  readonly publish: (topic: string, payload: unknown) => void;
  readonly log: Logger;
}

const SOURCE_MS = 3000;
const MAX_OF_A_KIND = 256;
/** Unplugged ones; the longest gone are forgotten first. */
const MAX_GONE = 128;
const MAX_ID = 120;

/** What is connected, and what was since this process started. */
export class Peripherals {
  readonly #options: PeripheralsOptions;
  readonly #names = new UsbNames();
  readonly #scans = new Serial();
  #waiting: Promise<void> | null = null;
  #entries = new Map<string, Entry>();
  #sources: readonly SourceState[] = [];
  #scanned = false;

  constructor(options: PeripheralsOptions) {
    this.#options = options;
  }

  get sources(): readonly SourceState[] {
    return this.#sources;
  }

  /** By name. */
  get all(): readonly Entry[] {
    return [...this.#entries.values()].toSorted(
      (a, b) =>
        PERIPHERAL_KINDS.indexOf(a.found.kind) - PERIPHERAL_KINDS.indexOf(b.found.kind) ||
        (a.id < b.id ? -1 : 1),
    );
  }

  of(id: string): Entry | null {
    return this.#entries.get(id) ?? null;
  }

  /** Looks at everything anew, from the moment of the call; whoever asks while a scan waits gets that one. */
  async scan(): Promise<void> {
    this.#waiting ??= this.#scans.run(async () => {
      this.#waiting = null;
      await this.#scan();
    });
    return this.#waiting;
  }

  async #scan(): Promise<void> {
    const { manifests, wall } = this.#options;
    const looks = await Promise.all(PERIPHERAL_KINDS.map(async (kind) => this.#look(kind)));
    const problem = await manifests.load().catch((error: unknown) => messageOf(error));
    const now = wall();
    const seen = named(looks.flatMap(({ found }) => found ?? []));
    const usbIds = new Map(
      [...seen].flatMap(([id, { kind, where }]) => (kind === 'usb' ? [[where, id]] : [])),
    );
    const next = new Map<string, Entry>();
    for (const [id, found] of seen) {
      const before = this.#entries.get(id);
      const whole = found.usbPath === null ? undefined : usbIds.get(found.usbPath);
      const partOf = whole === undefined || whole === id ? null : whole;
      const firstSeen = before?.firstSeen ?? now;
      next.set(id, { id, found, connected: true, partOf, firstSeen, lastSeen: now });
    }
    const failed = new Set(looks.flatMap(({ kind, found }) => (found === null ? [kind] : [])));
    const changes: (readonly [topic: 'peripheral.added' | 'peripheral.removed', entry: Entry])[] = [];
    for (const entry of next.values())
      if (this.#entries.get(entry.id)?.connected !== true) changes.push(['peripheral.added', entry]);
    for (const [id, entry] of this.#entries) {
      if (next.has(id)) continue;
      // Whoever cannot look does not know that it has gone.
      const stays = !entry.connected || failed.has(entry.found.kind);
      const kept = stays ? entry : { ...entry, connected: false, lastSeen: now };
      if (!stays) changes.push(['peripheral.removed', kept]);
      next.set(id, kept);
    }
    forget(next);
    this.#entries = next;
    this.#sources = [
      ...looks.map(({ kind, error }) => ({ name: kind, ok: error === null, error })),
      { name: 'manifests', ok: problem === null, error: problem },
    ];
    if (this.#scanned) for (const [topic, entry] of changes) this.#tell(topic, entry);
    this.#scanned = true;
  }

  async #look(kind: PeripheralKind): Promise<{
    readonly kind: PeripheralKind;
    readonly found: readonly FoundPeripheral[] | null;
    readonly error: string | null;
  }> {
    try {
      const found = await within(
        SOURCES[kind](this.#options.trees, this.#names),
        SOURCE_MS,
        () => new Error(`it took longer than ${SOURCE_MS} ms`),
      );
      const over = found.length > MAX_OF_A_KIND;
      return {
        kind,
        found: found.slice(0, MAX_OF_A_KIND),
        error: over ? `there are ${found.length}; the first ${MAX_OF_A_KIND} are shown` : null,
      };
    } catch (error) {
      return { kind, found: null, error: messageOf(error) };
    }
  }

  #tell(topic: 'peripheral.added' | 'peripheral.removed', { id, found }: Entry): void {
    const { log, publish } = this.#options;
    const { kind, name } = found;
    log.info(`${topic === 'peripheral.added' ? 'plugged in' : 'unplugged'}: ${name}`, {
      event: topic,
      peripheral: id,
      kind,
    });
    publish(topic, { id, kind, name });
  }
}

/** The ids. Of several with the same identity (a maker who gives all the same serial number) the later ones say where they are. */
function named(found: readonly FoundPeripheral[]): ReadonlyMap<string, FoundPeripheral> {
  const byId = new Map<string, FoundPeripheral>();
  for (const each of found) {
    const id = plainId(`${each.kind}-${each.identity}`);
    byId.set(byId.has(id) ? plainId(`${id}-${each.where}`) : id, each);
  }
  return byId;
}

/** As it may stand in a path and be the name of a file. */
function plainId(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9._~-]+/g, '_').slice(0, MAX_ID);
}

function forget(entries: Map<string, Entry>): void {
  const gone = [...entries.values()]
    .filter(({ connected }) => !connected)
    .toSorted((a, b) => b.lastSeen - a.lastSeen);
  for (const { id } of gone.slice(MAX_GONE)) entries.delete(id);
}
