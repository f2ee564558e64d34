import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import onnxProto, { type onnx } from 'onnx-proto';
import { ModelError } from '../../residual/vision/heads.ts';
import { inspectModel } from '../../residual/vision/inspect-model.ts';
import type { ModelCheck } from '../../shared/schemas/vision.ts';
import { headOf, integers, type ModelParts, modelFile, node } from '../models/small-model.ts';
import { ROOT } from '../support/node.ts';
import { removeDir, tempDir } from '../support/temp.ts';

const { onnx: proto } = onnxProto;
const METADATA = { id: 'test', head: 'yolov8', classes: ['thing'], input_w: 32, input_h: 32 };
const MARKER = join(ROOT, 'shared/vision/builtin/marker.onnx');
const EXTERNAL: onnx.ITensorProto = {
  name: 'far',
  dataType: 1,
  dims: [1],
  dataLocation: 1,
  externalData: [{ key: 'location', value: '../../etc/passwd' }],
};

describe('the check of a model', function () {
  this.timeout(60_000);
  let dir: string;
  before(async () => {
    dir = await tempDir();
  });
  after(async () => removeDir(dir));

  async function check(
    file: string | Buffer,
    metadata: object = METADATA,
    memoryMb = 512,
  ): Promise<ModelCheck> {
    const path = typeof file === 'string' ? file : join(dir, 'model.onnx');
    if (typeof file !== 'string') await writeFile(path, file);
    const program = join(ROOT, 'residual/vision/check-model.ts');
    const child = spawn(process.execPath, [program, path, JSON.stringify(metadata), String(memoryMb)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit') as Promise<[number | null, string | null]>;
    const line = await text(child.stdout);
    expect(await ended).to.deep.equal([0, null]);
    expect(line.split('\n')).to.have.length(2);
    return JSON.parse(line) as ModelCheck;
  }

  async function refusal(parts: ModelParts | Buffer, metadata?: object): Promise<string> {
    const result = await check(Buffer.isBuffer(parts) ? parts : modelFile(parts), metadata);
    if (result.ok) throw new Error(`accepted: ${JSON.stringify(result)}`);
    return result.reason;
  }

  it('says what a good one is', async () => {
    const marker = { ...METADATA, classes: ['marker'], input_w: 320, input_h: 320 };
    const result = await check(MARKER, marker);
    expect(result).to.deep.include({
      ok: true,
      input: { name: 'images', width: 320, height: 320, layout: 'nchw', type: 'float32' },
      outputs: [{ name: 'output0', shape: [1, 5, 1] }],
      classes: 1,
    });
    expect(result.ok && result.inference_ms).to.be.above(0);
  });

  it('takes rows of pixels and bytes, as some exports have them', async () => {
    const nodes = [node('Cast', ['images'], 'same', [{ name: 'to', type: 2, i: 1 }]), ...headOf('same')];
    const result = await check(modelFile({ input: [1, 32, 32, 3], type: 2, nodes }));
    expect(result.ok && result.input).to.include({ layout: 'nhwc', type: 'uint8' });
  });

  it('refuses what is not ONNX', async () => {
    expect(await refusal(Buffer.from('GIF89a and more'))).to.equal('The file is not an ONNX model.');
    expect(await refusal(Buffer.alloc(0))).to.equal('The file is not an ONNX model.');
    expect(await refusal(readFileSync(MARKER).subarray(0, 3000))).to.equal('The file is not an ONNX model.');
    expect(await refusal(modelFile(), { ...METADATA, head: 'detr' })).to.match(/head/);
  });

  it('refuses inputs and outputs that do not fit the metadata, in words', async () => {
    expect(await refusal({ input: [1, 3, 64, 64] })).to.match(/\[1, 3, 64, 64\].*32x32/);
    expect(await refusal({ input: [1, 4, 32, 32] })).to.match(/must be \[1, 3, height, width\]/);
    expect(await refusal({ input: [2, 3, 32, 32] })).to.match(/one picture/);
    expect(await refusal({ inputs: 2 })).to.match(/2 inputs/);
    expect(await refusal({}, { ...METADATA, classes: ['a', 'b'] })).to.match(
      /6 numbers a place were expected/,
    );
    expect(await refusal({}, { ...METADATA, head: 'ssd', classes: [] })).to.match(/SSD/);
    const unknown = [node('Nonsense', ['images'], 'same'), ...headOf('same')];
    expect(await refusal({ nodes: unknown })).to.match(/cannot be loaded.*Nonsense/);
  });

  it('refuses a model that takes 4 GB, without taking them', async () => {
    const nodes = [
      node('ConstantOfShape', ['size'], 'huge'),
      node('ReduceMax', ['huge'], 'one', [{ name: 'keepdims', type: 2, i: 0 }]),
      node('Add', ['images', 'one'], 'same'),
      ...headOf('same'),
    ];
    const reason = await refusal({ nodes, constants: [integers('size', [1024, 1024, 1024])] });
    expect(reason).to.match(/^The model (?:cannot be (?:loaded|run): .*alloc|takes \d+ MB)/i);
  });

  it('refuses data in another file, wherever it is named', () => {
    const refused = (bytes: Uint8Array): void => {
      expect(() => inspectModel(bytes)).to.throw(ModelError, /in another file/);
    };
    const value = (t: onnx.IAttributeProto): onnx.INodeProto => node('Constant', [], 'c', [t]);
    const inner: onnx.IGraphProto = { name: 'inner', initializer: [EXTERNAL] };
    const branch: onnx.IAttributeProto = { name: 'then_branch', type: 5, g: inner };
    refused(modelFile({ constants: [EXTERNAL] }));
    refused(modelFile({ nodes: [value({ name: 'value', type: 4, t: EXTERNAL })] }));
    refused(modelFile({ nodes: [value({ name: 'values', type: 9, tensors: [EXTERNAL] })] }));
    refused(modelFile({ nodes: [node('If', ['images'], 'out', [branch])] }));
    refused(modelFile({ nodes: [node('If', ['images'], 'out', [{ ...branch, g: null, graphs: [inner] }])] }));
    refused(
      modelFile({ functions: [{ name: 'f', node: [value({ name: 'value', type: 4, t: EXTERNAL })] }] }),
    );
    const sparse = { values: EXTERNAL, indices: EXTERNAL, dims: [1] };
    refused(modelFile({ nodes: [value({ name: 'value', type: 11, sparseTensor: sparse })] }));
  });

  it('refuses it also in a field that is given twice, of which a decoder keeps only the last', () => {
    const first = proto.ModelProto.encode({ graph: { name: 'a', initializer: [EXTERNAL] } }).finish();
    expect(() => inspectModel(Buffer.concat([first, modelFile()]))).to.throw(ModelError, /in another file/);
  });

  it('refuses graphs in graphs without end, and numbers of fields that are cut elsewhere', () => {
    let graph: onnx.IGraphProto = { name: 'deepest' };
    for (let depth = 0; depth < 70; depth++)
      graph = { name: 'g', node: [node('If', ['x'], 'y', [{ name: 'then_branch', type: 5, g: graph }])] };
    const deep = proto.ModelProto.encode({ graph, opsetImport: [{ version: 13 }] }).finish();
    expect(() => inspectModel(deep)).to.throw(ModelError, /too deep/);
    const cut = Buffer.from([0xba, 0x80, 0x80, 0x80, 0x10, 0]);
    expect(() => inspectModel(Buffer.concat([modelFile(), cut]))).to.throw(ModelError, /not an ONNX/);
  });
});
