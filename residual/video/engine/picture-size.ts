import { NAL, nalType, splitNals } from '../../../shared/media/h264.ts';
import { HEADER_BYTES_265, NAL265, nalType265 } from '../../../shared/media/h265.ts';
import type { Size } from '../../../shared/media/picture.ts';
import type { VideoCodec } from '../../../shared/rpc/video.ts';

/** The size of the pictures, as the sequence parameter set says it (ITU-T H.264, 7.3.2.1.1; H.265, 7.3.2.2). */

/** Profiles of H.264 whose sets name the colours. */
const WITH_COLOURS: readonly number[] = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135];
const SIDE = { least: 2, most: 16_384 } as const;
const MAX_REFERENCES = 255;

/**
 * Of a key frame's pictures, as they are shown. Not by FFmpeg: what strangers send is decoded elsewhere.
 * @returns null if the set is missing or damaged
 */
export function sizeOf(codec: VideoCodec, key: Buffer): Size | null {
  const type = codec === 'h264' ? NAL.sps : NAL265.sps;
  const typeOf = codec === 'h264' ? nalType : nalType265;
  const sps = splitNals(key).find((nal) => typeOf(nal) === type);
  if (sps === undefined) return null;
  const bits = new Bits(sps.subarray(codec === 'h264' ? 1 : HEADER_BYTES_265));
  const size = codec === 'h264' ? size264(bits) : size265(bits);
  const sides = [size.width, size.height];
  return !bits.over && sides.every((side) => side >= SIDE.least && side <= SIDE.most) ? size : null;
}

function size264(bits: Bits): Size {
  const profile = bits.read(8);
  bits.skip(16); // constraints, level
  bits.golomb();
  let colours = 1;
  let separate = false;
  if (WITH_COLOURS.includes(profile)) {
    colours = bits.golomb();
    if (colours === 3) separate = bits.flag();
    bits.golomb();
    bits.golomb();
    bits.skip(1);
    if (bits.flag())
      for (let list = 0; list < (colours === 3 ? 12 : 8); list++) if (bits.flag()) skipList(bits, list);
  }
  bits.golomb();
  const order = bits.golomb();
  if (order === 0) bits.golomb();
  else if (order === 1) {
    bits.skip(1);
    bits.golomb();
    bits.golomb();
    for (let left = Math.min(MAX_REFERENCES, bits.golomb()); left > 0; left--) bits.golomb();
  }
  bits.golomb();
  bits.skip(1);
  const width = 16 * (bits.golomb() + 1);
  const rows = bits.golomb() + 1;
  const frames = bits.flag();
  if (!frames) bits.skip(1);
  const height = 16 * rows * (frames ? 1 : 2);
  bits.skip(1);
  return cropped(bits, { width, height }, separate ? 0 : colours, frames ? 1 : 2);
}

/** A scaling list (7.3.2.1.1.1). */
function skipList(bits: Bits, list: number): void {
  let last = 8;
  for (let left = list < 6 ? 16 : 64; left > 0; left--) {
    const coded = bits.golomb();
    last = (last + (coded % 2 === 1 ? (coded + 1) / 2 : -coded / 2) + 256) % 256;
    if (last === 0) return;
  }
}

function size265(bits: Bits): Size {
  bits.skip(4);
  const layers = bits.read(3);
  bits.skip(1 + 88 + 8); // general profile and level
  const sub = Array.from({ length: layers }, () => ({ profile: bits.flag(), level: bits.flag() }));
  if (layers > 0) bits.skip(2 * (8 - layers));
  for (const { profile, level } of sub) bits.skip((profile ? 88 : 0) + (level ? 8 : 0));
  bits.golomb();
  const colours = bits.golomb();
  const separate = colours === 3 && bits.flag();
  const size = { width: bits.golomb(), height: bits.golomb() };
  return cropped(bits, size, separate ? 0 : colours, 1);
}

/** Without the margins that follow, counted in samples of colour. @param colours chroma_format_idc. @param rows of a field in a frame's */
function cropped(bits: Bits, { width, height }: Size, colours: number, rows: number): Size {
  if (!bits.flag()) return { width, height };
  const [left, right, top, bottom] = [bits.golomb(), bits.golomb(), bits.golomb(), bits.golomb()];
  const across = colours === 1 || colours === 2 ? 2 : 1;
  const down = (colours === 1 ? 2 : 1) * rows;
  return { width: width - across * (left + right), height: height - down * (top + bottom) };
}

/** The bits of a NAL unit, without the bytes that keep start codes out of it; zeros behind its end. */
class Bits {
  readonly #bytes: readonly number[];
  #at = 0;

  constructor(nal: Buffer) {
    this.#bytes = [...nal].filter((byte, at) => byte !== 3 || nal[at - 1] !== 0 || nal[at - 2] !== 0);
  }

  /** More was read than there is. */
  get over(): boolean {
    return this.#at > this.#bytes.length * 8;
  }

  flag(): boolean {
    return this.read(1) === 1;
  }

  /** @param count at most 32 */
  read(count: number): number {
    let value = 0;
    for (let left = count; left > 0; left--, this.#at++)
      value = value * 2 + (((this.#bytes[this.#at >> 3] ?? 0) >> (7 - (this.#at & 7))) & 1);
    return value;
  }

  skip(count: number): void {
    this.#at += count;
  }

  /** An unsigned Exp-Golomb code (H.264, 9.1). */
  golomb(): number {
    let zeros = 0;
    while (zeros < 32 && !this.over && !this.flag()) zeros++;
    return 2 ** zeros - 1 + this.read(zeros);
  }
}
