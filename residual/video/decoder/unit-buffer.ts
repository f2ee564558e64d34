import { Serial } from '../../../shared/async/serial.ts';
import { ApiError, messageOf } from '../../../shared/errors.ts';
import type { AccessUnit, Picture } from '../../../shared/media/picture.ts';
import { UnitDecoder } from './unit-decoder.ts';

// A key frame a second at 60 pictures a second, with room for a late one.
const MAX_UNITS = 180;
const MAX_BYTES = 8 * 1024 * 1024;
/** Who has asked for a picture may soon ask for the next; a decoder needs a moment to start. */
const LINGER_MS = 5000;
const MAX_ASKING = 4;

/** The pictures since the newest key frame, so that the present picture can be decoded on request. */
export class UnitBuffer {
  readonly #decoder = new UnitDecoder();
  readonly #work = new Serial();
  #units: AccessUnit[] = [];
  #bytes = 0;
  #rest: NodeJS.Timeout | null = null;

  push(unit: AccessUnit): void {
    if (unit.key) this.#clear();
    else if (this.#units.length === 0) return;
    this.#units.push(unit);
    this.#bytes += unit.data.length;
    if (this.#units.length > MAX_UNITS || this.#bytes > MAX_BYTES) this.#clear();
  }

  /**
   * @returns the newest picture, its frame for the caller to free; null before the first key frame
   * @throws ApiError E_NO_FRAME with what is wrong with the decoder, E_BUSY
   */
  async decode(): Promise<Picture | null> {
    if (this.#work.size >= MAX_ASKING) throw new ApiError('E_BUSY', 'Others wait for a picture already.');
    return this.#work.run(async () => this.#decode());
  }

  /** Ends the decoder; it starts again when it is needed. */
  close(): void {
    if (this.#rest !== null) clearTimeout(this.#rest);
    this.#rest = null;
    this.#decoder.close();
  }

  async #decode(): Promise<Picture | null> {
    if (this.#rest !== null) clearTimeout(this.#rest);
    const pictures: Picture[] = [];
    const keep = (decoded: Awaited<ReturnType<UnitDecoder['rest']>>): void => {
      for (const { frame, unit } of decoded) {
        pictures.pop()?.frame.free();
        pictures.push({ frame, capturedAt: unit.capturedAt, at: unit.at });
      }
    };
    try {
      for (const unit of this.#units.slice()) keep(await this.#decoder.decode(unit));
      keep(await this.#decoder.rest());
      this.#rest = setTimeout(() => this.close(), LINGER_MS);
      return pictures[0] ?? null;
    } catch (error) {
      pictures[0]?.frame.free();
      throw new ApiError('E_NO_FRAME', `The picture cannot be decoded: ${messageOf(error)}.`);
    }
  }

  #clear(): void {
    this.#units = [];
    this.#bytes = 0;
  }
}
