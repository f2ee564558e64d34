import onnxProto, { type onnx } from 'onnx-proto';

const { onnx: proto } = onnxProto;
const FLOAT = 1;
const INT64 = 7;
/** Fits onnxruntime of the last years. */
const VERSIONS = { ir: 8, opset: 13 } as const;

/** A value of an attribute: a whole number, whole numbers, a fraction with its unit of type, or a word. */
type Attribute = number | readonly number[] | { readonly f: number } | string;

/** Writes an ONNX file: constants and nodes in the order in which they are computed. */
export class Network {
  readonly #nodes: onnx.INodeProto[] = [];
  readonly #constants: onnx.ITensorProto[] = [];
  #weights = 0;

  /** Numbers in all float constants. */
  get weights(): number {
    return this.#weights;
  }

  floats(values: ArrayLike<number>, dims: readonly number[]): string {
    this.#weights += values.length;
    return this.#constant(FLOAT, Float32Array.from(values), dims);
  }

  integers(values: readonly number[]): string {
    return this.#constant(INT64, BigInt64Array.from(values, BigInt), [values.length]);
  }

  /** @returns the name of its only output, `output` if it is given */
  node(
    opType: string,
    input: readonly string[],
    attributes: Readonly<Record<string, Attribute>> = {},
    output = `v${this.#nodes.length}`,
  ): string {
    const attribute = Object.entries(attributes).map(([name, value]) => attributeOf(name, value));
    this.#nodes.push({ opType, input: [...input], output: [output], attribute });
    return output;
  }

  /** The parts of a Split, by their sizes along the channels. */
  split(input: string, sizes: readonly number[]): readonly string[] {
    const output = sizes.map((_, part) => `v${this.#nodes.length}p${part}`);
    const attribute = [attributeOf('axis', 1)];
    this.#nodes.push({ opType: 'Split', input: [input, this.integers(sizes)], output, attribute });
    return output;
  }

  /** @param input name and shape @param output name and shape */
  encode(
    input: readonly [name: string, shape: readonly number[]],
    output: readonly [name: string, shape: readonly number[]],
  ): Uint8Array {
    const value = ([name, shape]: readonly [string, readonly number[]]): onnx.IValueInfoProto => ({
      name,
      type: { tensorType: { elemType: FLOAT, shape: { dim: shape.map((dimValue) => ({ dimValue })) } } },
    });
    return proto.ModelProto.encode({
      irVersion: VERSIONS.ir,
      producerName: 'svc',
      opsetImport: [{ domain: '', version: VERSIONS.opset }],
      graph: {
        name: 'detector',
        node: this.#nodes,
        initializer: this.#constants,
        input: [value(input)],
        output: [value(output)],
      },
    }).finish();
  }

  #constant(dataType: number, data: Float32Array | BigInt64Array, dims: readonly number[]): string {
    const name = `c${this.#constants.length}`;
    const rawData = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    this.#constants.push({ name, dataType, dims: [...dims], rawData });
    return name;
  }
}

function attributeOf(name: string, value: Attribute): onnx.IAttributeProto {
  const { FLOAT: F, INT, INTS, STRING } = proto.AttributeProto.AttributeType;
  if (typeof value === 'number') return { name, type: INT, i: value };
  if (typeof value === 'string') return { name, type: STRING, s: Buffer.from(value) };
  if ('f' in value) return { name, type: F, f: value.f };
  return { name, type: INTS, ints: [...value] };
}
