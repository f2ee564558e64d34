/** Values as D-Bus writes them: of its types, those that are needed here. */

export type Value = number | string | Buffer | readonly Buffer[];

const SIZES: Readonly<Record<string, number>> = { y: 1, q: 2, i: 4, u: 4, s: 4, o: 4, g: 1, a: 4 };

/** Little-endian. */
export class BusWriter {
  bytes = Buffer.alloc(0);

  /** Goes on at a multiple of that. */
  aligned(size: number): this {
    return this.#add(Buffer.alloc((size - (this.bytes.length % size)) % size));
  }

  /** @param type one of y, q, i, u, s, o, g, ay, aay */
  value(type: string, value: Value): this {
    this.aligned(SIZES[type[0] ?? ''] ?? 1);
    if (Buffer.isBuffer(value)) return this.#number(value.length, 4).#add(value);
    if (typeof value === 'object') return this.#array(value);
    switch (type) {
      case 'y':
        return this.#number(value, 1);
      case 'q':
        return this.#number(value, 2);
      case 'u':
        return this.#number(value, 4);
      case 'i':
        return this.#number(Number(value) >>> 0, 4);
      case 'g':
        return this.#number(Buffer.byteLength(String(value)), 1).#add(Buffer.from(`${String(value)}\0`));
      default:
        return this.#number(Buffer.byteLength(String(value)), 4).#add(Buffer.from(`${String(value)}\0`));
    }
  }

  /** The fields of a head: a byte, and a value with its type. */
  fields(all: readonly (readonly [number, string, Value])[]): this {
    const inner = new BusWriter();
    for (const [code, type, value] of all)
      inner.aligned(8).value('y', code).value('g', type).value(type, value);
    // They begin at a multiple of 8, as in `inner`.
    return this.value('u', inner.bytes.length).aligned(8).#add(inner.bytes);
  }

  #array(all: readonly Buffer[]): this {
    const inner = new BusWriter();
    for (const each of all) inner.value('ay', each);
    return this.value('u', inner.bytes.length).#add(inner.bytes);
  }

  #number(value: number | string, size: number): this {
    const bytes = Buffer.alloc(size);
    bytes.writeUIntLE(Number(value), 0, size);
    return this.#add(bytes);
  }

  #add(bytes: Buffer): this {
    this.bytes = Buffer.concat([this.bytes, bytes]);
    return this;
  }
}

export class BusReader {
  readonly #bytes: Buffer;
  readonly #isLittle: boolean;
  #at: number;

  constructor(bytes: Buffer, isLittle: boolean, at: number) {
    this.#bytes = bytes;
    this.#isLittle = isLittle;
    this.#at = at;
  }

  aligned(size: number): this {
    this.#at = Math.ceil(this.#at / size) * size;
    return this;
  }

  /** The fields of a head, by their codes. */
  fields(): ReadonlyMap<number, number | string> {
    const found = new Map<number, number | string>();
    const end = Number(this.value('u')) + this.aligned(8).#at;
    while (this.#at < end) {
      const code = Number(this.aligned(8).value('y'));
      found.set(code, this.value(String(this.value('g'))));
    }
    return found;
  }

  /** @param type one of y, q, i, u, s, o, g. @throws for another one, and beyond the end */
  value(type: string): number | string {
    const size = SIZES[type];
    if (size === undefined || type === 'a') throw new Error(`D-Bus answers with a "${type}"`);
    this.aligned(size);
    const number = this.#isLittle
      ? this.#bytes.readUIntLE(this.#at, size)
      : this.#bytes.readUIntBE(this.#at, size);
    this.#at += size;
    if (type === 'i') return number | 0;
    if (type !== 's' && type !== 'o' && type !== 'g') return number;
    const text = this.#bytes.toString('utf8', this.#at, this.#at + number);
    this.#at += number + 1;
    return text;
  }
}
