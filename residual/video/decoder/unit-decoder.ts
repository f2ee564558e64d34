import type { Frame } from 'node-av/lib';
import { cloneFrame } from '../../../shared/media/av.ts';
import type { AccessUnit } from '../../../shared/media/picture.ts';
import type { VideoCodec } from '../../../shared/rpc/video.ts';
import { CODECS } from '../engine/codecs.ts';
import { DecoderProcess } from './decoder-process.ts';
import { MAX_INSIDE } from './wire.ts';

/** A picture and the unit that it came in. */
interface Decoded<Unit> {
  /** For the caller to free. */
  readonly frame: Frame;
  readonly unit: Unit;
}

/** A decoder of access units. After a damaged unit the picture before it stays. */
export class UnitDecoder<Unit extends AccessUnit = AccessUnit> {
  readonly #process = new DecoderProcess();
  #codec: VideoCodec | null = null;
  /** Units inside the decoder, by presentation time. */
  readonly #inside = new Map<number, Unit>();

  /** @returns the pictures that are ready. @throws Error as `DecoderProcess` */
  async decode(unit: Unit): Promise<Decoded<Unit>[]> {
    // Another camera may send the other codec.
    if (this.#codec !== unit.codec) await this.#open(unit.codec);
    const at = Math.round(unit.at);
    this.#inside.set(at, unit);
    for (const oldest of this.#inside.keys()) {
      if (this.#inside.size <= MAX_INSIDE) break;
      this.#inside.delete(oldest);
    }
    return this.#decode(unit.data, at);
  }

  /** @returns what is still inside; the next unit begins anew */
  async rest(): Promise<Decoded<Unit>[]> {
    if (this.#codec === null) return [];
    this.#codec = null;
    return this.#decode(null, 0);
  }

  /** The next unit begins anew, in another process. */
  close(): void {
    this.#codec = null;
    this.#process.close();
  }

  async #open(codec: VideoCodec): Promise<void> {
    this.#codec = null;
    this.#inside.clear();
    await this.#process.open(CODECS[codec].id);
    this.#codec = codec;
  }

  async #decode(data: Buffer | null, at: number): Promise<Decoded<Unit>[]> {
    const pictures: Decoded<Unit>[] = [];
    try {
      await this.#process.decode(data, at, (frame) => {
        const unit = this.#inside.get(Number(frame.pts));
        this.#inside.delete(Number(frame.pts));
        if (unit !== undefined) pictures.push({ frame: cloneFrame(frame), unit });
      });
      return pictures;
    } catch (error) {
      for (const { frame } of pictures) frame.free();
      this.close();
      throw error;
    }
  }
}
