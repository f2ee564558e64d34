/** Sequence parameter sets of H.264 (ITU-T H.264, 7.3.2.1.1), written by hand: with what no encoder here writes. */

interface Set264 {
  readonly profile?: number;
  /** In macroblocks. */
  readonly columns: number;
  readonly rows: number;
  /** Of `frame_mbs_only_flag`. */
  readonly fields?: boolean;
  /** chroma_format_idc, in a profile that has it. */
  readonly colours?: number;
  /** Scaling lists, each of which ends with its second number. */
  readonly lists?: number;
  /** pic_order_cnt_type, with a cycle of two for 1. */
  readonly order?: 0 | 1 | 2;
  /** left, right, top, bottom */
  readonly crop?: readonly [number, number, number, number];
}

const HIGH = 100;

/** The NAL unit of such a set, with the bytes that keep start codes out of it. */
export function sps264(set: Set264): Buffer {
  const { profile = 66, columns, rows, fields = false, colours = 1, lists = 0, order = 2, crop } = set;
  const bits: string[] = [];
  const put = (value: number, count: number): void => void bits.push(value.toString(2).padStart(count, '0'));
  const golomb = (value: number): void => {
    const text = (value + 1).toString(2);
    bits.push('0'.repeat(text.length - 1) + text);
  };
  put(0x67, 8);
  put(profile, 8);
  put(0, 8);
  put(62, 8);
  golomb(0);
  if (profile >= HIGH) {
    golomb(colours);
    if (colours === 3) put(0, 1);
    golomb(0);
    golomb(0);
    put(0, 1);
    put(lists > 0 ? 1 : 0, 1);
    const all = lists === 0 ? 0 : colours === 3 ? 12 : 8;
    for (let list = 0; list < all; list++) {
      put(list < lists ? 1 : 0, 1);
      if (list < lists) for (const delta of [3, 20]) golomb(delta); // 8 + 2 - 10: nothing more of it
    }
  }
  golomb(0);
  golomb(order);
  if (order === 0) golomb(4);
  if (order === 1) {
    put(0, 1);
    for (const value of [1, 2, 2, 5, 6]) golomb(value);
  }
  golomb(1);
  put(0, 1);
  golomb(columns - 1);
  golomb(rows - 1);
  put(fields ? 0 : 1, 1);
  if (fields) put(0, 1);
  put(1, 1);
  put(crop === undefined ? 0 : 1, 1);
  for (const margin of crop ?? []) golomb(margin);
  put(0, 1);
  put(1, 1);
  const text = bits.join('');
  const bytes = (text.match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2));
  return Buffer.from(escaped(bytes));
}

function escaped(bytes: readonly number[]): number[] {
  const written: number[] = [];
  for (const byte of bytes) {
    if (byte <= 3 && written.at(-1) === 0 && written.at(-2) === 0) written.push(3);
    written.push(byte);
  }
  return written;
}
