import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { every } from '../../../shared/async/every.ts';
import type { BootTime } from '../../../shared/boot-clock.ts';
import { messageOf } from '../../../shared/errors.ts';
import { writeAtomic } from '../../../shared/files/atomic-write.ts';
import { readPrivate } from '../../../shared/files/private-file.ts';
import { putAside } from '../../../shared/files/put-aside.ts';
import { asRecord, parseJson } from '../../../shared/member.ts';
import type { Logger } from '../../../shared/process/logger.ts';

/** A power cut takes this much of what was lived back. */
const SAVE_MS = 10 * 60_000;

/** A clock that nobody sets: it only goes on, over restarts too. What ends after a time of its own is measured by it. */
export interface Lived {
  /** Another one: this clock began anew, and tells nothing about times of the former one. */
  readonly id: string;
  /** ms */
  now(): number;
}

interface Moment {
  /** Lived. */
  readonly ms: number;
  /** ms since 1970 */
  readonly wall: number;
}

/** A moment when the wall clock was known to be right. */
interface Proof extends Moment {
  readonly boot_id: string;
}

interface Saved {
  readonly id: string;
  readonly ms: number;
  readonly boot: BootTime;
  readonly proof: Proof | null;
  readonly first: Moment;
}

interface LivedTimeOptions {
  readonly file: string;
  /** Monotonic clock, ms. */
  readonly monotonic: () => number;
  readonly boot: () => BootTime;
  /** Wall clock, ms. */
  readonly now: () => number;
  /** Whether the machine's clock was set by a time server since its boot. */
  readonly isSynchronized: () => boolean;
  readonly log: Logger;
}

/**
 * The time that this node has lived, in `lived-time.json` (0600): `{id, ms, boot_id, uptime, proof: {ms, wall, boot_id} | null,
 * first: {ms, wall}}`. Within one boot
 * of the machine it is the kernel's uptime. The time for which the machine was off counts where a time server has confirmed the clock
 * before and after; a clock that was never set, or set wrong, tells nothing about it.
 */
export class LivedTime implements Lived {
  readonly #options: LivedTimeOptions;
  #id = newId();
  #base = 0;
  /** What the wall clock said when this life began. */
  #first: Moment;
  #from: number;
  /** Of an earlier boot: how long the machine was off is not known yet. */
  #before: Proof | null = null;
  #timer: NodeJS.Timeout | null = null;
  #problem: string | null = null;

  constructor(options: LivedTimeOptions) {
    this.#options = options;
    this.#from = options.monotonic();
    this.#first = { ms: 0, wall: options.now() };
  }

  /** Goes on where the former process was. Never fails: a damaged file is set aside, and the clock begins anew. */
  async start(): Promise<void> {
    const { file, log, monotonic, boot } = this.#options;
    try {
      const text = await readPrivate(file);
      if (text !== null) this.#continue(parse(text), boot());
    } catch (error) {
      this.#problem = `${await putAside(file, error)} The wall clock tells once how old sessions and tokens are.`;
      log.error(`lived time: ${this.#problem}`);
    }
    this.#from = monotonic();
    await this.#save();
    this.#timer = every(SAVE_MS, 'lived time', async () => this.#save());
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    await this.#save();
  }

  /** What was wrong with the file at the start; null for nothing. */
  get problem(): string | null {
    return this.#problem;
  }

  get id(): string {
    return this.#id;
  }

  now(): number {
    return this.#base + (this.#options.monotonic() - this.#from);
  }

  /**
   * What time it is for what is kept for so many days, ms since 1970: it goes no faster than this clock, so that a wall clock that jumped
   * ahead makes nothing old at once. Off time that nobody has confirmed keeps things for longer.
   */
  believed(): number {
    return Math.min(this.#options.now(), this.#first.wall + (this.now() - this.#first.ms));
  }

  #continue({ id, ms, boot, proof, first }: Saved, present: BootTime): void {
    const same = boot.boot_id === present.boot_id && present.uptime >= boot.uptime;
    this.#id = id;
    this.#first = first;
    this.#base = ms + (present.uptime - (same ? boot.uptime : 0)) * 1000;
    this.#before = proof?.boot_id === present.boot_id ? null : proof;
  }

  /** Once a boot: later a clock that was confirmed may have been set by hand. */
  #countOffTime(wall: number): void {
    if (this.#before === null) return;
    const { ms, wall: then } = this.#before;
    this.#base += Math.max(0, ms + (wall - then) - this.now());
    this.#before = null;
  }

  async #save(): Promise<void> {
    const { file, boot, now, isSynchronized, log } = this.#options;
    const wall = isSynchronized() ? now() : null;
    if (wall !== null) this.#countOffTime(wall);
    const ms = Math.floor(this.now());
    const { boot_id, uptime } = boot();
    const proof = this.#before ?? (wall === null ? null : { ms, wall, boot_id });
    try {
      await mkdir(dirname(file), { recursive: true });
      await writeAtomic(
        file,
        `${JSON.stringify({ id: this.#id, ms, boot_id, uptime, proof, first: this.#first })}\n`,
        0o600,
      );
    } catch (error) {
      log.warn(`lived time: ${file} could not be written: ${messageOf(error)}`); // the former state goes on, with less lived
    }
  }
}

/** @throws Error if it does not have the format of this store */
function parse(text: string): Saved {
  const { id, ms, boot_id, uptime, proof, first } = asRecord(parseJson(text));
  if (typeof id !== 'string' || !/^[0-9a-f]{16}$/.test(id) || !isTime(ms))
    throw new Error('it lacks its time');
  if (typeof boot_id !== 'string' || !isTime(uptime)) throw new Error('it lacks its boot');
  return { id, ms, boot: { boot_id, uptime }, proof: parseProof(proof), first: parseMoment(first) };
}

function parseProof(value: unknown): Proof | null {
  if (value === null) return null;
  const { boot_id } = asRecord(value);
  if (typeof boot_id !== 'string') throw new Error('it has a proof that is none');
  return { ...parseMoment(value), boot_id };
}

function parseMoment(value: unknown): Moment {
  const { ms, wall } = asRecord(value);
  if (!isTime(ms) || !isTime(wall)) throw new Error('it lacks a moment');
  return { ms, wall };
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function newId(): string {
  return randomBytes(8).toString('hex');
}
