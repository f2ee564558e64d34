import type { Param, ParamType } from './params.ts';

/** What a name after `@PARAM/` asks for. */
interface ParamFileRequest {
  readonly withDefaults: boolean;
  readonly start: number;
  /** 0: all. */
  readonly count: number;
}

const MAGIC = 0x671b;
const MAGIC_WITH_DEFAULTS = 0x671c;
const HEADER = 6;
// AP_Param's own type numbers and sizes.
const PACKED: Readonly<Record<ParamType, { readonly type: number; readonly size: number }>> = {
  2: { type: 1, size: 1 },
  4: { type: 2, size: 2 },
  6: { type: 3, size: 4 },
  9: { type: 4, size: 4 },
};

/** Understands `@PARAM/param.pck` with `?start=N&count=N&withdefaults=0|1`; undefined for any other file. */
export function paramFileRequest(path: string): ParamFileRequest | 'invalid' | undefined {
  const match = /^@PARAM\/param\.pck(?:\?(.*))?$/.exec(path);
  if (match === null) return undefined;
  const given = { start: 0, count: 0, withdefaults: 0 };
  for (const [name, text] of new URLSearchParams(match[1] ?? '')) {
    if (name !== 'start' && name !== 'count' && name !== 'withdefaults') continue;
    const value = Number.parseInt(text, 10) || 0;
    if (value < 0 || value >= (name === 'withdefaults' ? 2 : 0xffff)) return 'invalid';
    given[name] = value;
  }
  return { withDefaults: given.withdefaults === 1, start: given.start, count: given.count };
}

/**
 * ArduPilot's packed parameters (AP_Filesystem_Param): a header of three uint16 (magic, parameters here, parameters in
 * all), then for each parameter a byte of type and flags, a byte that says how much of the name is the last one's, the
 * rest of the name and the value. Zero bytes before an entry are padding: a value never lies across two reads. Where
 * they stand depends on the size of the reads, so the first read fixes it.
 */
export class ParamFile {
  readonly #params: readonly Param[];
  readonly #total: number;
  readonly #withDefaults: boolean;
  #readSize = 0;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(all: readonly Param[], request: ParamFileRequest) {
    const end = request.count > 0 ? request.start + request.count : all.length;
    this.#params = all.slice(request.start, end).map((param) => ({ ...param }));
    this.#total = all.length;
    this.#withDefaults = request.withDefaults;
  }

  /** What OpenFileRO says: ArduPilot estimates and does not know the true size before it has read the file. */
  get sizeEstimate(): number {
    return this.#total * 12;
  }

  /** @returns no bytes at the end of the file; undefined for a read of another size than the first one's */
  read(offset: number, size: number): Buffer | undefined {
    if (this.#readSize === 0) {
      this.#readSize = size;
      this.#bytes = this.#pack(size);
    }
    return size === this.#readSize ? this.#bytes.subarray(offset, offset + size) : undefined;
  }

  #pack(readSize: number): Buffer {
    const header = Buffer.alloc(HEADER);
    header.writeUInt16LE(this.#withDefaults ? MAGIC_WITH_DEFAULTS : MAGIC, 0);
    header.writeUInt16LE(this.#params.length, 2);
    header.writeUInt16LE(this.#total, 4);
    const parts: Buffer[] = [header];
    let length = HEADER;
    let last = '';
    for (const param of this.#params) {
      const entry = this.#entry(param, last);
      const { size } = PACKED[param.type];
      const over = (length + entry.length) % readSize;
      const pad = over > 0 && over < size ? size - over : 0;
      parts.push(Buffer.alloc(pad), entry);
      length += pad + entry.length;
      last = param.name;
    }
    return Buffer.concat(parts);
  }

  #entry(param: Param, last: string): Buffer {
    const { type } = PACKED[param.type];
    let common = 0;
    while (common < last.length && param.name[common] === last[common]) common++;
    if (common === param.name.length) common--; // an empty rest has no code
    const rest = Buffer.from(param.name.slice(common), 'latin1');
    const defaulted = this.#withDefaults && param.value !== param.initial;
    return Buffer.concat([
      Buffer.from([type | ((defaulted ? 1 : 0) << 4), common | ((rest.length - 1) << 4)]),
      rest,
      packed(param.type, param.value),
      ...(defaulted ? [packed(param.type, param.initial)] : []),
    ]);
  }
}

function packed(type: ParamType, value: number): Buffer {
  const { size } = PACKED[type];
  const bytes = Buffer.alloc(size);
  if (type === 9) bytes.writeFloatLE(value);
  else bytes.writeIntLE(value, 0, size);
  return bytes;
}
