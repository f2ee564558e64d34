import { messageOf } from '../../../shared/errors.ts';
import type { Armed } from '../../../shared/flight/armed.ts';
import { byteAt } from '../../../shared/mavlink/byte-at.ts';
import type { Frame } from '../../../shared/mavlink/frame.ts';
import { messageIdV2, STX_V1 } from '../../../shared/mavlink/frame-head.ts';
import { MSG } from '../../../shared/mavlink/messages.ts';
import type { Logger } from '../../../shared/process/logger.ts';
import type { TlogState } from '../../../shared/rpc/link-state.ts';
import type { Clock } from '../clock.ts';
import type { Part } from '../part.ts';
import type { TlogFile, TlogStore } from './tlog-store.ts';

/** At the latest so long after a frame its bytes are on the disk, but for what the disk itself takes. */
const FLUSH_MS = 1000;
const AFTER_DISARMING_MS = 60_000;
/** A second of a fast link, ten of a usual one: what comes while the disk is busy. */
const PAGE_BYTES = 256 * 1024;
/** Of it, what frames of one kind may take: whatever floods, the others have their place. */
const KIND_BYTES = PAGE_BYTES / 2;
const STAMP_BYTES = 8;
/** Not recorded: the first has the key; what the second brings is in a file of its own, and comes at the full speed of the line. */
const LEFT_OUT: ReadonlySet<number> = new Set([MSG.SETUP_SIGNING, MSG.LOG_DATA]);
/** A clock that was set begins a new file, with the right time. */
const STEP_MS = 1000;
const HIGH = 2 ** 32;

interface TlogOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Null: nowhere. */
  readonly store: Pick<TlogStore, 'create'> | null;
  readonly when: 'armed' | 'always' | 'off';
  /** As the armed guard sees the vehicle. */
  readonly armed: () => Armed;
}

/**
 * Every frame between vehicle and node in a file, as ground stations write them: 8 bytes of microseconds since 1970, big-endian, and the
 * frame. Frames go into one of two pages in memory while the other is written, so that a slow disk delays no frame; what finds the page
 * full, or its half full of its kind, is dropped, and counted.
 */
export class Tlog implements Part {
  readonly #options: TlogOptions;
  #page: Buffer = Buffer.alloc(0);
  #spare: Buffer = Buffer.alloc(0);
  #used = 0;
  /** Frames in the page. */
  #frames = 0;
  /** Bytes in the page by the kind of message. */
  readonly #kinds = new Map<number, number>();
  /** When recording ends unless something keeps it on. */
  #until = -Infinity;
  /** Wall clock less monotonic clock, ms, of the file: time never runs back in it. */
  #offset = 0;
  #file: TlogFile | null = null;
  #flushedAt = -Infinity;
  #busy: Promise<void> | null = null;
  #dropped = 0;
  #problem: string | null = null;

  constructor(options: TlogOptions) {
    this.#options = options;
  }

  get state(): TlogState {
    return { name: this.#file?.name ?? null, dropped: this.#dropped, problem: this.#problem };
  }

  onFrame({ id, buffer, start, end }: Frame): void {
    this.#take(id, buffer, start, end);
  }

  /** A frame that left for the vehicle. */
  left(bytes: Buffer): void {
    this.#take(idOf(bytes), bytes, 0, bytes.length);
  }

  tick(): void {
    const { clock } = this.#options;
    const now = clock.now();
    if (this.#busy !== null) return;
    const stepped = Math.abs(clock.wall() - now - this.#offset) > STEP_MS;
    const over = this.#file !== null && (!this.#isOn(now) || stepped);
    if (over || (this.#used > 0 && now - this.#flushedAt >= FLUSH_MS)) this.#flush(now, over);
  }

  async settled(): Promise<void> {
    this.#until = -Infinity;
    await this.#busy;
    this.#flush(this.#options.clock.now(), true);
    await this.#busy;
  }

  #take(id: number, bytes: Buffer, start: number, end: number): void {
    const { clock, when } = this.#options;
    if (when === 'off' || LEFT_OUT.has(id)) return;
    const now = clock.now();
    if (!this.#isOn(now)) return;
    if (this.#page.length === 0) {
      this.#page = Buffer.alloc(PAGE_BYTES);
      this.#spare = Buffer.alloc(PAGE_BYTES);
    }
    if (this.#used === 0 && this.#file === null && this.#busy === null) {
      this.#offset = clock.wall() - now;
      this.#flushedAt = now;
    }
    const size = STAMP_BYTES + end - start;
    const ofKind = (this.#kinds.get(id) ?? 0) + size;
    if (this.#used + size > PAGE_BYTES || ofKind > KIND_BYTES) {
      this.#dropped++;
      return;
    }
    this.#kinds.set(id, ofKind);
    const micros = Math.round((now + this.#offset) * 1000);
    this.#page.writeUInt32BE(Math.floor(micros / HIGH), this.#used);
    this.#page.writeUInt32BE(micros % HIGH, this.#used + 4);
    bytes.copy(this.#page, this.#used + STAMP_BYTES, start, end);
    this.#used += size;
    this.#frames++;
  }

  #isOn(now: number): boolean {
    const { when } = this.#options;
    if (when === 'always') return true;
    const armed = this.#options.armed();
    // A link that is lost in flight ends nothing; a process that has just started begins nothing.
    if (armed === true || (armed === 'unknown' && now < this.#until)) this.#until = now + AFTER_DISARMING_MS;
    return now < this.#until;
  }

  #flush(now: number, last: boolean): void {
    const [page, used, frames] = [this.#page, this.#used, this.#frames];
    [this.#page, this.#spare] = [this.#spare, page];
    this.#used = 0;
    this.#frames = 0;
    this.#kinds.clear();
    this.#flushedAt = now;
    if (last) this.#offset = this.#options.clock.wall() - now;
    this.#busy = this.#write(page.subarray(0, used), frames, last).finally(() => {
      this.#busy = null;
    });
  }

  async #write(bytes: Buffer, frames: number, last: boolean): Promise<void> {
    const { store, log } = this.#options;
    try {
      if (bytes.length > 0) {
        this.#file ??= (await store?.create(startOf(bytes))) ?? null;
        await this.#file?.append(bytes);
      }
      if (last || this.#file?.isLong === true) await this.#close();
      this.#problem = null;
    } catch (error) {
      this.#dropped += frames;
      const problem = `The telemetry log is not written: ${messageOf(error)}`;
      if (problem !== this.#problem) log.error(problem);
      this.#problem = problem;
      await this.#close().catch(() => undefined); // what is wrong with it has been said
    }
  }

  async #close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close();
  }
}

function idOf(frame: Buffer): number {
  return frame[0] === STX_V1 ? byteAt(frame, 5) : messageIdV2(frame, 0);
}

/** When its first frame came, ms since 1970. */
function startOf(bytes: Buffer): number {
  return (bytes.readUInt32BE(0) * HIGH + bytes.readUInt32BE(4)) / 1000;
}
