/**
 * LZMA2 (the LZMA SDK's lzma-specification.txt, and the xz format's description of its chunks), decoding only. The casts of
 * reads stand for bounds that each read checks by itself: what lies outside is read as an end.
 */

const PROB_INIT = 1024;
const TOP = 0x1000000;
const STATES = 12;
const POS_STATES = 16;
const MIN_MATCH = 2;
const END_POS_MODEL = 14;
const FULL_DISTANCES = 128;
const ALIGN_BITS = 4;

const probs = (count: number): Uint16Array => new Uint16Array(count).fill(PROB_INIT);

export class LzmaError extends Error {}

class LengthCoder {
  readonly choice = probs(2);
  readonly low = probs(POS_STATES * 8);
  readonly mid = probs(POS_STATES * 8);
  readonly high = probs(256);
}

/** What a state reset makes anew. */
class Model {
  readonly isMatch = probs(STATES * POS_STATES);
  readonly isRep = probs(STATES);
  readonly isRepG0 = probs(STATES);
  readonly isRepG1 = probs(STATES);
  readonly isRepG2 = probs(STATES);
  readonly isRep0Long = probs(STATES * POS_STATES);
  readonly posSlot = probs(4 * 64);
  readonly posSpecial = probs(1 + FULL_DISTANCES - END_POS_MODEL);
  readonly align = probs(1 << ALIGN_BITS);
  readonly matchLength = new LengthCoder();
  readonly repLength = new LengthCoder();
  readonly literal: Uint16Array;
  readonly lc: number;
  readonly lp: number;
  readonly pb: number;
  state = 0;
  readonly reps: [number, number, number, number] = [0, 0, 0, 0];

  constructor(props: number) {
    if (props >= 9 * 5 * 5) throw new LzmaError('properties of no LZMA');
    this.lc = props % 9;
    this.lp = Math.floor(props / 9) % 5;
    this.pb = Math.floor(props / 45);
    this.literal = probs(0x300 << (this.lc + this.lp));
  }
}

class RangeDecoder {
  readonly #bytes: Buffer;
  #at: number;
  #range = 0xffffffff;
  #code: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    if (at + 5 > bytes.length) throw new LzmaError('cut off');
    this.#code = bytes.readUInt32BE(at + 1);
    this.#at = at + 5;
  }

  bit(table: Uint16Array, index: number): number {
    const prob = table[index] ?? PROB_INIT;
    const bound = (this.#range >>> 11) * prob;
    let bit = 0;
    if (this.#code < bound) {
      this.#range = bound;
      table[index] = prob + ((2048 - prob) >> 5);
    } else {
      this.#range -= bound;
      this.#code -= bound;
      table[index] = prob - (prob >> 5);
      bit = 1;
    }
    this.#normalize();
    return bit;
  }

  direct(count: number): number {
    let value = 0;
    for (let left = count; left > 0; left--) {
      this.#range >>>= 1;
      const bit = this.#code >= this.#range ? 1 : 0;
      if (bit === 1) this.#code -= this.#range;
      value = value * 2 + bit;
      this.#normalize();
    }
    return value;
  }

  tree(table: Uint16Array, from: number, bits: number): number {
    let node = 1;
    for (let left = bits; left > 0; left--) node = (node << 1) | this.bit(table, from + node);
    return node - (1 << bits);
  }

  reverseTree(table: Uint16Array, from: number, bits: number): number {
    let node = 1;
    let value = 0;
    for (let index = 0; index < bits; index++) {
      const bit = this.bit(table, from + node);
      node = (node << 1) | bit;
      value |= bit << index;
    }
    return value;
  }

  #normalize(): void {
    if (this.#range >= TOP) return;
    this.#range = (this.#range << 8) >>> 0;
    this.#code = ((this.#code << 8) | (this.#bytes[this.#at++] ?? 0)) >>> 0;
  }
}

/** Decodes one LZMA2 stream into memory. */
export class Lzma2 {
  readonly #limit: number;
  #out: Buffer = Buffer.alloc(64 * 1024);
  #length = 0;
  #model: Model | null = null;

  /** @param limit bytes of output at most */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get output(): Buffer {
    return this.#out.subarray(0, this.#length);
  }

  /**
   * @returns where the stream ends in `bytes`
   * @throws LzmaError for what is damaged, cut off or too large
   */
  decode(bytes: Buffer, from: number): number {
    let at = from;
    for (;;) {
      const control = byteAt(bytes, at++);
      if (control === 0) return at;
      if (control < 0x80) {
        if (control > 2) throw new LzmaError('no LZMA2');
        const size = wordAt(bytes, at) + 1;
        at += 2;
        if (at + size > bytes.length) throw new LzmaError('cut off');
        this.#room(size);
        bytes.copy(this.#out, this.#length, at, at + size);
        this.#length += size;
        at += size;
        continue;
      }
      const size = ((control & 0x1f) << 16) + wordAt(bytes, at) + 1;
      const packed = wordAt(bytes, at + 2) + 1;
      at += 4;
      const reset = (control >> 5) & 3;
      if (reset >= 2) this.#model = new Model(byteAt(bytes, at++));
      else if (reset === 1) this.#model = new Model(propsOf(this.#model));
      if (this.#model === null || at + packed > bytes.length) throw new LzmaError('cut off');
      this.#room(size);
      this.#chunk(this.#model, new RangeDecoder(bytes.subarray(0, at + packed), at), this.#length + size);
      at += packed;
    }
  }

  #chunk(model: Model, range: RangeDecoder, end: number): void {
    const { reps } = model;
    while (this.#length < end) {
      const posState = this.#length & ((1 << model.pb) - 1);
      if (range.bit(model.isMatch, model.state * POS_STATES + posState) === 0) {
        this.#literal(model, range);
        continue;
      }
      let length: number;
      if (range.bit(model.isRep, model.state) === 0) {
        reps[3] = reps[2];
        reps[2] = reps[1];
        reps[1] = reps[0];
        length = this.#matchLength(range, model.matchLength, posState);
        model.state = model.state < 7 ? 7 : 10;
        reps[0] = distance(model, range, length);
      } else {
        if (range.bit(model.isRepG0, model.state) === 0) {
          if (range.bit(model.isRep0Long, model.state * POS_STATES + posState) === 0) {
            model.state = model.state < 7 ? 9 : 11;
            this.#copy(reps[0], 1, end);
            continue;
          }
        } else {
          let found: number;
          if (range.bit(model.isRepG1, model.state) === 0) found = reps[1];
          else {
            if (range.bit(model.isRepG2, model.state) === 0) found = reps[2];
            else {
              found = reps[3];
              reps[3] = reps[2];
            }
            reps[2] = reps[1];
          }
          reps[1] = reps[0];
          reps[0] = found;
        }
        length = this.#matchLength(range, model.repLength, posState);
        model.state = model.state < 7 ? 8 : 11;
      }
      this.#copy(reps[0], length + MIN_MATCH, end);
    }
  }

  #literal(model: Model, range: RangeDecoder): void {
    const { lc, lp, literal, state } = model;
    const before = this.#length === 0 ? 0 : (this.#out[this.#length - 1] ?? 0);
    const place = ((this.#length & ((1 << lp) - 1)) << lc) + (before >> (8 - lc));
    const from = 0x300 * place;
    let symbol = 1;
    if (state >= 7) {
      let match = this.#out[this.#length - model.reps[0] - 1] ?? 0;
      do {
        const matchBit = (match >> 7) & 1;
        match = (match << 1) & 0xff;
        const bit = range.bit(literal, from + ((1 + matchBit) << 8) + symbol);
        symbol = (symbol << 1) | bit;
        if (matchBit !== bit) break;
      } while (symbol < 0x100);
    }
    while (symbol < 0x100) symbol = (symbol << 1) | range.bit(literal, from + symbol);
    this.#out[this.#length++] = symbol & 0xff;
    model.state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
  }

  #matchLength(range: RangeDecoder, coder: LengthCoder, posState: number): number {
    if (range.bit(coder.choice, 0) === 0) return range.tree(coder.low, posState * 8, 3);
    if (range.bit(coder.choice, 1) === 0) return 8 + range.tree(coder.mid, posState * 8, 3);
    return 16 + range.tree(coder.high, 0, 8);
  }

  #copy(back: number, count: number, end: number): void {
    const from = this.#length - back - 1;
    if (from < 0 || this.#length + count > end) throw new LzmaError('damaged');
    for (let index = 0; index < count; index++) this.#out[this.#length++] = this.#out[from + index] ?? 0;
  }

  #room(size: number): void {
    const needed = this.#length + size;
    if (needed > this.#limit) throw new LzmaError('too large');
    if (needed <= this.#out.length) return;
    const larger = Buffer.alloc(Math.min(this.#limit, Math.max(needed, this.#out.length * 2)));
    this.#out.copy(larger, 0, 0, this.#length);
    this.#out = larger;
  }
}

function distance(model: Model, range: RangeDecoder, length: number): number {
  const slot = range.tree(model.posSlot, Math.min(length, 3) * 64, 6);
  if (slot < 4) return slot;
  const bits = (slot >> 1) - 1;
  const base = (2 | (slot & 1)) * 2 ** bits;
  if (slot < END_POS_MODEL) return base + range.reverseTree(model.posSpecial, base - slot, bits);
  return base + range.direct(bits - ALIGN_BITS) * 16 + range.reverseTree(model.align, 0, ALIGN_BITS);
}

function propsOf(model: Model | null): number {
  if (model === null) throw new LzmaError('damaged');
  return (model.pb * 5 + model.lp) * 9 + model.lc;
}

function byteAt(bytes: Buffer, at: number): number {
  const byte = bytes[at];
  if (byte === undefined) throw new LzmaError('cut off');
  return byte;
}

function wordAt(bytes: Buffer, at: number): number {
  return byteAt(bytes, at) * 256 + byteAt(bytes, at + 1);
}
