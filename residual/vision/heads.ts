import type { Tensor } from 'onnxruntime-node';
import type { Head } from '../../shared/schemas/vision.ts';

/** A box as a model gives it, pixels of the input. */
export interface Candidate {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Number of the class. */
  readonly kind: number;
  /** 0 to 1 */
  readonly score: number;
}

export type Outputs = Readonly<Record<string, Tensor>>;

export interface Reading {
  /** How many classes the output has; null: the output does not say. */
  readonly classes: number | null;
  /** All that reach a score, in no order. */
  read(outputs: Outputs, least: number): Candidate[];
}

interface HeadInput {
  readonly width: number;
  readonly height: number;
}

/** A model that is wrong, with the reason as a sentence. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
}

/**
 * How the output of a model is read, decided once by the shapes of its first output.
 * @param outputs of one run @param named how many classes have a name; 0: not known
 * @throws ModelError
 */
export function readingOf(head: Head, outputs: Outputs, input: HeadInput, named: number): Reading {
  switch (head) {
    case 'yolov5':
      return grid(outputs, 5, named);
    case 'yolov8':
      return grid(outputs, 4, named);
    case 'ssd':
      return ssd(outputs, input);
  }
}

/**
 * One output [1, values, places] or [1, places, values]; values: centre x and y, width, height, with `fixed` 5 how sure it is that
 * something is there, then a number for each class.
 */
function grid(outputs: Outputs, fixed: 4 | 5, named: number): Reading {
  const entries = Object.entries(outputs);
  // Some exports of YOLOv5 give its three scales beside the whole.
  const [name, output] = entries.find(([, { dims }]) => dims.length === 3) ?? entries[0] ?? [];
  if (name === undefined || output === undefined) throw new ModelError('The model has no output.');
  const [batch, first = 0, second = 0] = output.dims;
  const shape = `[${output.dims.join(', ')}]`;
  if (output.dims.length !== 3 || batch !== 1)
    throw new ModelError(`The output ${name} is ${shape}; a head of this kind has three sides, the first 1.`);
  if (output.type !== 'float32')
    throw new ModelError(`The output ${name} is of ${output.type}; it must be float32.`);
  const wanted = named === 0 ? null : fixed + named;
  const usual = fixed === 4 ? first : second;
  const other = fixed === 4 ? second : first;
  // Where no names tell which side has the values: there are more places than values.
  const isUsual = wanted === null ? usual <= other : usual === wanted;
  const values = isUsual ? usual : other;
  if (values <= fixed || (wanted !== null && values !== wanted))
    throw new ModelError(
      `The output ${name} is ${shape}; ${wanted === null ? `more than ${fixed}` : `${wanted}`} numbers a place were expected (${fixed} and one for each class).`,
    );
  const places = isUsual ? other : usual;
  const valuesFirst = (fixed === 4) === isUsual;
  const [nextValue, nextPlace] = valuesFirst ? [places, 1] : [1, values];
  return {
    classes: values - fixed,
    read(now, least) {
      const data = now[name]?.data;
      if (!(data instanceof Float32Array) || data.length !== values * places)
        throw new ModelError(`The output ${name} has changed its shape.`);
      const found: Candidate[] = [];
      for (let place = 0; place < places; place++) {
        const from = place * nextPlace;
        const sure = fixed === 5 ? (data[from + 4 * nextValue] ?? 0) : 1;
        if (!(sure >= least)) continue;
        let kind = -1;
        let best = 0;
        for (let value = fixed; value < values; value++) {
          const score = data[from + value * nextValue] ?? 0;
          if (!(score > best)) continue; // also what is no number
          best = score;
          kind = value - fixed;
        }
        const score = Math.min(1, best * sure);
        if (kind === -1 || score < least) continue;
        const width = data[from + 2 * nextValue] ?? 0;
        const height = data[from + 3 * nextValue] ?? 0;
        const x = (data[from] ?? 0) - width / 2;
        const y = (data[from + nextValue] ?? 0) - height / 2;
        found.push({ x, y, width, height, kind, score });
      }
      return found;
    },
  };
}

/**
 * TensorFlow: boxes [1, n, 4] (top, left, bottom, right as parts of the picture), classes, scores, and how many count.
 * torchvision: boxes [n, 4] (left, top, right, bottom in pixels), labels, scores.
 */
function ssd(outputs: Outputs, { width, height }: HeadInput): Reading {
  const names = Object.keys(outputs);
  const named = (pattern: RegExp): string | undefined => names.find((name) => pattern.test(name));
  const counts = named(/num|count/i) ?? (names.length === 4 ? names[3] : undefined);
  const boxes = named(/box/i) ?? names[0];
  const kinds = named(/class|label/i) ?? names[1];
  const scores = named(/score/i) ?? names[2];
  if (boxes === undefined || kinds === undefined || scores === undefined)
    throw new ModelError('An SSD has the outputs boxes, classes (or labels) and scores.');
  const isTorch = outputs[boxes]?.dims.length === 2;
  const check = (now: Outputs): { box: Float32Array; kind: Tensor['data']; score: Float32Array } => {
    const [box, kind, score] = [now[boxes], now[kinds], now[scores]];
    const count = score?.size ?? 0;
    if (
      !(box?.data instanceof Float32Array && score?.data instanceof Float32Array) ||
      kind === undefined ||
      box.data.length !== count * 4 ||
      kind.size !== count ||
      box.dims.at(-1) !== 4
    )
      throw new ModelError(
        `The outputs ${boxes}, ${kinds} and ${scores} are not boxes of four numbers with a class and a score each.`,
      );
    return { box: box.data, kind: kind.data, score: score.data };
  };
  check(outputs);
  return {
    classes: null,
    read(now, least) {
      const { box, kind, score } = check(now);
      const told = counts === undefined ? undefined : now[counts]?.data[0];
      const count = Math.min(score.length, told === undefined ? score.length : Number(told));
      const found: Candidate[] = [];
      for (let index = 0; index < count; index++) {
        const sure = score[index] ?? 0;
        if (!(sure >= least)) continue;
        const [a = 0, b = 0, c = 0, d = 0] = box.subarray(index * 4, index * 4 + 4);
        const [x, y, right, bottom] = isTorch ? [a, b, c, d] : [b * width, a * height, d * width, c * height];
        const number = Math.max(0, Math.round(Number(kind[index])));
        found.push({ x, y, width: right - x, height: bottom - y, kind: number, score: Math.min(1, sure) });
      }
      return found;
    },
  };
}
