import type { AccessUnit, Picture, Size } from './picture.ts';
import { UnitDecoder } from './unit-decoder.ts';

// A key frame a second at 60 pictures a second, with room for a late one.
const MAX_UNITS = 180;
const MAX_BYTES = 8 * 1024 * 1024;

/** The pictures since the newest key frame, so that the present picture can be decoded on request. */
export class UnitBuffer {
  #units: AccessUnit[] = [];
  #bytes = 0;

  push(unit: AccessUnit): void {
    if (unit.key) this.clear();
    else if (this.#units.length === 0) return;
    this.#units.push(unit);
    this.#bytes += unit.data.length;
    if (this.#units.length > MAX_UNITS || this.#bytes > MAX_BYTES) this.clear();
  }

  clear(): void {
    this.#units = [];
    this.#bytes = 0;
  }

  /** @returns the newest picture, its frame for the caller to free; null before the first key frame */
  async decode(): Promise<Picture | null> {
    const units = this.#units.slice();
    const [key] = units;
    if (key === undefined) return null;
    const decoder = await UnitDecoder.open(key.codec);
    let newest: Picture | null = null;
    try {
      for (const unit of [...units, null]) {
        for (const { frame, unit: from } of await decoder.decode(unit)) {
          newest?.frame.free();
          newest = { frame, capturedAt: from.capturedAt, at: from.at };
        }
      }
      return newest;
    } finally {
      decoder.close();
    }
  }
}

/**
 * The size of a key frame's picture. Decoded: `parseExtradata` of node-av reads the SPS without removing its emulation
 * prevention, and so refuses some as invalid (160x90).
 * @returns null if it is damaged
 */
export async function sizeOf(key: AccessUnit): Promise<Size | null> {
  const buffer = new UnitBuffer();
  buffer.push(key);
  const picture = await buffer.decode();
  if (picture === null) return null;
  const { width, height } = picture.frame;
  picture.frame.free();
  return { width, height };
}
