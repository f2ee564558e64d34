import { Serial } from '../../../shared/async/serial.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { AccessUnit } from '../../../shared/media/picture.ts';
import { TsMuxer } from './ts-muxer.ts';

/** A second of pictures: a muxer that is later than this does not catch up. */
const MAX_QUEUED = 30;
const RETRY_US = 5_000_000;

/** One MPEG-TS stream of the main encode; every receiver gets the same packets. It begins with a key frame. */
export class MpegtsStream {
  readonly #onPiece: (piece: Buffer) => void;
  readonly #turns = new Serial();
  #muxer: TsMuxer | null = null;
  #problem: string | null = null;
  #failedAt = -Infinity;
  #stopped = false;

  constructor(onPiece: (piece: Buffer) => void) {
    this.#onPiece = onPiece;
  }

  /** Why there is no stream. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Never waits. Pictures that come too fast are left out up to the next key frame. */
  push(unit: AccessUnit): void {
    if (this.#turns.size >= MAX_QUEUED) {
      this.#drop(unit, 'the muxer is too slow');
      return;
    }
    if (this.#muxer === null && (!unit.key || unit.at - this.#failedAt < RETRY_US)) return;
    this.#turns
      .run(async () => this.#write(unit))
      .catch((error: unknown) => this.#drop(unit, messageOf(error)));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#turns.idle();
    this.#close();
  }

  async #write(unit: AccessUnit): Promise<void> {
    if (this.#muxer !== null && this.#muxer.codec !== unit.codec) this.#close(); // of another camera
    if (this.#stopped || (this.#muxer === null && !unit.key)) return;
    this.#muxer ??= await TsMuxer.open(unit.codec, this.#onPiece);
    await this.#muxer.write(unit);
    this.#problem = null;
  }

  #drop({ at }: AccessUnit, why: string): void {
    this.#problem = why;
    this.#failedAt = at;
    // In its turn: FFmpeg may be at work with it.
    void this.#turns.run(() => this.#close());
  }

  #close(): void {
    this.#muxer?.close();
    this.#muxer = null;
  }
}
