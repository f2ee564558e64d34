import { ModelError } from './heads.ts';

/** The messages of ONNX in which a tensor can be, with the fields that hold another such message, by their number. */
const INSIDE = {
  model: { 7: 'graph', 20: 'training', 25: 'function' },
  graph: { 1: 'node', 5: 'tensor', 15: 'sparse' },
  node: { 5: 'attribute' },
  attribute: { 5: 'tensor', 6: 'graph', 10: 'tensor', 11: 'graph', 22: 'sparse', 23: 'sparse' },
  sparse: { 1: 'tensor', 2: 'tensor' },
  training: { 1: 'graph', 2: 'graph' },
  function: { 7: 'node', 11: 'attribute' },
  tensor: {},
} as const satisfies Readonly<Record<string, Readonly<Record<number, string>>>>;
type Message = keyof typeof INSIDE;

/** Fields of a tensor: where its data are in another file, and that they are. */
const EXTERNAL_DATA = 13;
const DATA_LOCATION = 14;
/** Of a model: which operators it needs. */
const OPSET_IMPORT = 8;
const GRAPH = 7;
const MAX_DEPTH = 64;
/** Protobuf's own limit: of a longer number it drops the upper bits. */
const MAX_FIELD = 2 ** 29 - 1;

const NOT_ONNX = 'The file is not an ONNX model.';

/**
 * Refuses a file that is not ONNX, and one that names other files: their path could be any on this machine. It reads the bytes as
 * onnxruntime's protobuf does, every occurrence of a field, since a field that is given twice is merged there, while a decoder
 * that keeps the last one would miss the first.
 * @throws ModelError
 */
export function inspectModel(bytes: Uint8Array): void {
  const fields = new Set<number>();
  walk(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), 'model', 0, fields);
  if (!fields.has(GRAPH) || !fields.has(OPSET_IMPORT)) throw new ModelError(NOT_ONNX);
}

/** @param fields gets the numbers of the fields of this message */
function walk(bytes: Buffer, message: Message, depth: number, fields: Set<number>): void {
  if (depth > MAX_DEPTH) throw new ModelError('The model has graphs in graphs, too deep.');
  const inside: Readonly<Record<number, Message>> = INSIDE[message];
  for (let at = 0; at < bytes.length; ) {
    const tag = varint(bytes, at);
    const field = Math.floor(tag.value / 8);
    at = tag.end;
    fields.add(field);
    switch (tag.value % 8) {
      case 0: {
        const { value, end } = varint(bytes, at);
        if (message === 'tensor' && field === DATA_LOCATION && value !== 0) throw external();
        at = end;
        break;
      }
      case 1:
        at += 8;
        break;
      case 2: {
        const { value, end } = varint(bytes, at);
        at = end + value;
        if (at > bytes.length) throw new ModelError(NOT_ONNX);
        if (message === 'tensor' && field === EXTERNAL_DATA) throw external();
        const next = inside[field];
        if (next !== undefined) walk(bytes.subarray(end, at), next, depth + 1, new Set());
        break;
      }
      case 5:
        at += 4;
        break;
      default:
        throw new ModelError(NOT_ONNX);
    }
    if (at > bytes.length || field === 0 || field > MAX_FIELD) throw new ModelError(NOT_ONNX);
  }
}

function varint(bytes: Buffer, from: number): { value: number; end: number } {
  let value = 0;
  for (let at = from, unit = 1; at < bytes.length && at < from + 10; at++, unit *= 128) {
    const byte = bytes[at] ?? 0;
    value += (byte & 127) * unit;
    if (byte < 128) return { value, end: at + 1 };
  }
  throw new ModelError(NOT_ONNX);
}

function external(): ModelError {
  return new ModelError(
    'The model has its data in another file. Export it as one file: onnx.save(model, path, save_as_external_data=False).',
  );
}
