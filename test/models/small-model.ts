import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import onnxProto, { type onnx } from 'onnx-proto';
import { modelFiles } from '../../shared/vision/model-files.ts';

const { onnx: proto } = onnxProto;
const FLOAT = 1;

export interface ModelParts {
  readonly input?: readonly number[];
  readonly type?: number;
  readonly inputs?: number;
  readonly nodes?: readonly onnx.INodeProto[];
  readonly constants?: readonly onnx.ITensorProto[];
  readonly functions?: readonly onnx.IFunctionProto[];
}

export const node = (
  opType: string,
  input: readonly string[],
  output: string,
  attribute: readonly onnx.IAttributeProto[] = [],
): onnx.INodeProto => ({ opType, input: [...input], output: [output], attribute: [...attribute] });

export const integers = (name: string, values: readonly number[]): onnx.ITensorProto => ({
  name,
  dataType: 7,
  dims: [values.length],
  rawData: new Uint8Array(BigInt64Array.from(values, BigInt).buffer),
});

/** An ONNX file from `images` to `out`, whose nodes are the caller's; by default a yolov8 head of one class that finds nothing. */
export function modelFile({
  input = [1, 3, 32, 32],
  type = FLOAT,
  inputs = 1,
  nodes = headNodes,
  constants = [],
  functions = [],
}: ModelParts = {}): Buffer {
  const value = (name: string, elemType: number, dims: readonly number[] | null): onnx.IValueInfoProto => ({
    name,
    type: {
      tensorType: {
        elemType,
        ...(dims === null ? {} : { shape: { dim: dims.map((dimValue) => ({ dimValue })) } }),
      },
    },
  });
  const names = ['images', 'more'].slice(0, inputs);
  return Buffer.from(
    proto.ModelProto.encode({
      irVersion: 8,
      opsetImport: [{ domain: '', version: 13 }],
      functions: [...functions],
      graph: {
        name: 'test',
        node: [...nodes],
        initializer: [...headConstants, ...constants],
        input: names.map((name) => value(name, type, input)),
        output: [value('out', FLOAT, null)],
      },
    }).finish(),
  );
}

const headConstants = [
  integers('head', [1, 5, -1]),
  integers('start', [0]),
  integers('end', [200]),
  integers('line', [-1]),
];

/** The first 200 numbers of `from` as [1, 5, 40]. */
export const headOf = (from: string): readonly onnx.INodeProto[] => [
  node('Flatten', [from], 'flat', [{ name: 'axis', type: 2, i: 0 }]),
  node('Reshape', ['flat', 'line'], 'row'),
  node('Slice', ['row', 'start', 'end'], 'part'),
  node('Reshape', ['part', 'head'], 'out'),
];

const headNodes = [node('Identity', ['images'], 'same'), ...headOf('same')];

/** Stores the model `sure`, which sees one thing in every picture. @param score how sure it is, 0 to 1 */
export async function writeSureModel(folder: string, score: number): Promise<void> {
  const floats = (name: string, dims: readonly number[], values: readonly number[]): onnx.ITensorProto => ({
    name,
    dataType: FLOAT,
    dims: [...dims],
    floatData: [...values],
  });
  const model = modelFile({
    nodes: [
      node('ReduceMin', ['images'], 'least', [{ name: 'keepdims', type: 2, i: 0 }]),
      node('Mul', ['least', 'nothing'], 'zero'),
      node('Add', ['zero', 'sure'], 'out'),
    ],
    constants: [floats('nothing', [], [0]), floats('sure', [1, 5, 1], [16, 16, 8, 8, score])],
  });
  const files = modelFiles(folder, 'sure');
  const sha256 = createHash('sha256').update(model).digest('hex');
  const meta = {
    id: 'sure',
    name: 'Sure',
    head: 'yolov8',
    classes: ['thing'],
    input_w: 32,
    input_h: 32,
    sha256,
  };
  await mkdir(folder, { recursive: true });
  await writeFile(files.model, model);
  await writeFile(files.meta, JSON.stringify(meta));
}
