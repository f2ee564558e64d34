import type { Socket } from 'node:net';
import type { AccessUnit } from '../../../shared/media/picture.ts';
import type { LiveHead } from '../../../shared/rpc/live.ts';
import { fragment } from './fragmented-mp4.ts';

/** A second at 4 Mbit/s, besides what the kernel holds. */
const MAX_WAITING_BYTES = 512 * 1024;
/** A reader that takes nothing for so long is cut off, and its place is free. */
const MAX_STUCK_MS = 10_000;

/**
 * How long a picture is said to last: how long it really does is known when the next one comes. Media Source drops everything up
 * to the next key frame after a gap of more than twice that, so it is rather too long: that costs nothing.
 */
const DURATION_US = { least: 100_000, most: 1_000_000 } as const;

/** One live stream. A reader that is too slow loses the pictures up to the next key frame. */
export class LiveStream {
  readonly #socket: Socket;
  /** Time of the first picture, CLOCK_MONOTONIC, microseconds; null before the first. */
  #first: number | null = null;
  #last = -1;
  #sequence = 0;
  #skipping = false;
  /** Since when nothing fits, as `first`. */
  #stuckSince: number | null = null;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  get begun(): boolean {
    return this.#first !== null;
  }

  /** @param at of the picture that is pushed next */
  begin(head: LiveHead, init: Buffer, at: number): void {
    this.#first = at;
    this.#socket.write(`${JSON.stringify(head)}\n`);
    this.#socket.write(init);
  }

  /** @param data as `sampleOf` makes it. @param now as `at` of the picture */
  push({ at, key }: AccessUnit, data: Buffer, now: number): void {
    const socket = this.#socket;
    if (socket.writableLength > MAX_WAITING_BYTES) {
      this.#skipping = true;
      this.#stuckSince ??= now;
      if (now - this.#stuckSince > MAX_STUCK_MS * 1000) socket.destroy();
      return;
    }
    this.#stuckSince = null;
    if (this.#skipping && !key) return;
    this.#skipping = false;
    const time = Math.max(this.#last + 1, Math.round(at - (this.#first ?? at)));
    const step = this.#sequence === 0 ? 0 : time - this.#last;
    this.#last = time;
    const duration = Math.min(DURATION_US.most, Math.max(DURATION_US.least, 2 * step));
    socket.write(fragment({ sequence: ++this.#sequence, at: time, duration, key, data }));
  }

  /** After what was written, if the reader takes it. */
  end(): void {
    this.#socket.setTimeout(MAX_STUCK_MS, () => this.#socket.destroy());
    this.#socket.destroySoon();
  }

  destroy(): void {
    this.#socket.destroy();
  }
}
