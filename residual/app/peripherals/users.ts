import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { codeOf } from '../../../shared/errors.ts';
import { plainText } from '../../../shared/plain-text.ts';
import type { Made } from '../../../shared/schemas/made.ts';
import type { peripheral } from '../../../shared/schemas/peripherals.ts';

export type User = NonNullable<Made<typeof peripheral>['used_by']>[number];

interface Look {
  /** By the path of the device itself. */
  readonly users: ReadonlyMap<string, readonly User[]>;
  /** Whether every process could be read in time. */
  readonly complete: boolean;
}

interface UsersOptions {
  /** `/proc`. */
  readonly proc: string;
  /** `/dev`: only what is below it is kept. */
  readonly dev: string;
  /** The processes of the node, by their number. */
  readonly own: () => ReadonlyMap<number, string>;
  /** Monotonic, ms. */
  readonly now: () => number;
}

const KEPT_MS = 3000;
const MAX_MS = 1000;
const MAX_DESCRIPTORS = 4096;

/** Which process has a device open, by the descriptors in /proc. A process sees those of its own user; root sees all. */
export class Users {
  readonly #options: UsersOptions;
  #look: Promise<Look> | null = null;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(options: UsersOptions) {
    this.#options = options;
  }

  /** @returns null where it is not known: there is no device file, or not every process could be read */
  async of(paths: readonly string[]): Promise<readonly User[] | null> {
    if (paths.length === 0) return null;
    const { users, complete } = await this.#fresh();
    const devices = new Set(await Promise.all(paths.map(async (path) => realpath(path).catch(() => path))));
    const found = [...devices].flatMap((device) => users.get(device) ?? []);
    return found.length > 0 || complete ? found : null;
  }

  /** The next question is answered by a new look. */
  forget(): void {
    this.#look = null;
  }

  async #fresh(): Promise<Look> {
    const now = this.#options.now();
    if (this.#look === null || now - this.#lookedAt > KEPT_MS) {
      this.#lookedAt = now;
      this.#look = this.#read(now);
    }
    return this.#look;
  }

  async #read(at: number): Promise<Look> {
    const { proc, dev, own, now } = this.#options;
    const users = new Map<string, User[]>();
    const ours = own();
    let complete = true;
    const below = join(await realpath(dev).catch(() => dev), '/');
    const processes = pidsIn(proc);
    if (processes === null) complete = false;
    for (const name of processes ?? []) {
      if (now() - at > MAX_MS) {
        complete = false;
        break;
      }
      const folder = join(proc, name);
      const opened = devicesOf(folder, below);
      if (opened === null) complete = false;
      if (opened !== null && opened.size > 0) {
        const pid = Number(name);
        const user = { pid, process: commOf(folder), ours: ours.get(pid) ?? null };
        for (const device of opened) {
          const others = users.get(device);
          if (others === undefined) users.set(device, [user]);
          else others.push(user);
        }
      }
      await setImmediate(); // requests come between two processes
    }
    return { users, complete };
  }
}

/** Null if there is no such tree, or none that may be read. */
function pidsIn(proc: string): readonly string[] | null {
  try {
    return readdirSync(proc).filter((name) => /^\d+$/.test(name));
  } catch {
    return null;
  }
}

/** The device files that a process has open; empty if it has ended, null if it may not be read. */
function devicesOf(folder: string, below: string): ReadonlySet<string> | null {
  let descriptors: string[];
  try {
    descriptors = readdirSync(join(folder, 'fd'));
  } catch (error) {
    return isGone(error) ? new Set() : null;
  }
  if (descriptors.length > MAX_DESCRIPTORS) return null;
  const devices = new Set<string>();
  for (const descriptor of descriptors) {
    try {
      const target = readlinkSync(join(folder, 'fd', descriptor));
      if (target.startsWith(below)) devices.add(target);
    } catch (error) {
      if (!isGone(error)) return null;
    }
  }
  return devices;
}

/** Empty if it has ended meanwhile. */
function commOf(folder: string): string {
  try {
    return plainText(readFileSync(join(folder, 'comm'), 'utf8')).trim();
  } catch {
    return '';
  }
}

/** A process may end at any moment; ESRCH is what the kernel then says of its files. */
function isGone(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ENOENT' || code === 'ESRCH';
}
