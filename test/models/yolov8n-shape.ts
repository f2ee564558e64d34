import { Network } from './network.ts';

const CLASSES = 80;
/** Numbers that describe one side of a box as a distribution. */
const BINS = 16;
const STRIDES = [8, 16, 32] as const;

/** A value in the network with its channels, and its side in pixels. */
interface Map {
  readonly name: string;
  readonly channels: number;
  readonly side: number;
}

export interface Shape {
  readonly model: Uint8Array;
  readonly parameters: number;
  /** Two for a multiplication with an addition, convolutions only. */
  readonly flops: number;
  /** Places in the output, [1, 84, places]. */
  readonly places: number;
}

/**
 * YOLOv8n's layers with random weights: it costs what the real one costs and finds nothing. For measuring; the weights are the
 * same at each run.
 * @param side of the input, pixels, a multiple of 32
 */
export function yolov8nShape(side: number): Shape {
  const net = new Network();
  const random = noise(1);
  let flops = 0;

  const plain = (from: Map, channels: number, kernel: number, stride: number, bias = 0): Map => {
    const spread = Math.sqrt(3 / (from.channels * kernel * kernel));
    const weights = Float32Array.from(
      { length: channels * from.channels * kernel * kernel },
      () => (random() * 2 - 1) * spread,
    );
    const to = { channels, side: from.side / stride };
    flops += 2 * weights.length * to.side * to.side;
    const inputs = [
      from.name,
      net.floats(weights, [channels, from.channels, kernel, kernel]),
      net.floats(new Float32Array(channels).fill(bias), [channels]),
    ];
    const pad = kernel >> 1;
    const attributes = {
      kernel_shape: [kernel, kernel],
      strides: [stride, stride],
      pads: [pad, pad, pad, pad],
    };
    return { ...to, name: net.node('Conv', inputs, attributes) };
  };
  const conv = (from: Map, channels: number, kernel: number, stride = 1): Map => {
    const to = plain(from, channels, kernel, stride);
    return { ...to, name: net.node('Mul', [to.name, net.node('Sigmoid', [to.name])]) };
  };
  const concat = (...maps: readonly [Map, ...Map[]]): Map => ({
    name: net.node(
      'Concat',
      maps.map(({ name }) => name),
      { axis: 1 },
    ),
    channels: maps.reduce((sum, { channels }) => sum + channels, 0),
    side: maps[0].side,
  });
  const c2f = (from: Map, channels: number, depth: number, shortcut: boolean): Map => {
    const half = channels / 2;
    const both = conv(from, channels, 1);
    const [first = '', second = ''] = net.split(both.name, [half, half]);
    const parts: [Map, ...Map[]] = [{ ...both, name: first, channels: half }];
    let last: Map = { ...both, name: second, channels: half };
    parts.push(last);
    for (let index = 0; index < depth; index++) {
      const deep = conv(conv(last, half, 3), half, 3);
      last = shortcut ? { ...deep, name: net.node('Add', [last.name, deep.name]) } : deep;
      parts.push(last);
    }
    return conv(concat(...parts), channels, 1);
  };
  const pool = (from: Map): Map => ({
    ...from,
    name: net.node('MaxPool', [from.name], { kernel_shape: [5, 5], pads: [2, 2, 2, 2] }),
  });
  const twice = (from: Map): Map => ({
    channels: from.channels,
    side: from.side * 2,
    name: net.node('Resize', [from.name, '', net.floats([1, 1, 2, 2], [4])], {
      mode: 'nearest',
      coordinate_transformation_mode: 'asymmetric',
      nearest_mode: 'floor',
    }),
  });

  const image: Map = { name: 'images', channels: 3, side };
  const eighth = c2f(conv(c2f(conv(conv(image, 16, 3, 2), 32, 3, 2), 32, 1, true), 64, 3, 2), 64, 2, true);
  const sixteenth = c2f(conv(eighth, 128, 3, 2), 128, 2, true);
  const deepest = conv(c2f(conv(sixteenth, 256, 3, 2), 256, 1, true), 128, 1);
  const pooled = pool(deepest);
  const more = pool(pooled);
  const last = conv(concat(deepest, pooled, more, pool(more)), 256, 1);
  const middle = c2f(concat(twice(last), sixteenth), 128, 1, false);
  const small = c2f(concat(twice(middle), eighth), 64, 1, false);
  const medium = c2f(concat(conv(small, 64, 3, 2), middle), 128, 1, false);
  const large = c2f(concat(conv(medium, 128, 3, 2), last), 256, 1, false);

  const heads = [small, medium, large].map((map) => {
    const box = plain(conv(conv(map, 64, 3), 64, 3), 4 * BINS, 1, 1);
    // Nearly always "nothing", as in a real picture.
    const kind = plain(conv(conv(map, CLASSES, 3), CLASSES, 3), CLASSES, 1, 1, -6);
    const both = concat(box, kind);
    return net.node('Reshape', [both.name, net.integers([1, both.channels, map.side * map.side])]);
  });
  const places = [small, medium, large].reduce((sum, map) => sum + map.side * map.side, 0);
  const all = net.node('Concat', heads, { axis: 2 });
  const [boxes = '', kinds = ''] = net.split(all, [4 * BINS, CLASSES]);
  const sides = net.node('Reshape', [boxes, net.integers([1, 4, BINS, places])]);
  const bins = net.floats(
    Array.from({ length: BINS }, (_, bin) => bin),
    [1, 1, BINS, 1],
  );
  const weighed = net.node('Mul', [net.node('Softmax', [sides], { axis: 2 }), bins]);
  const distance = net.node('ReduceSum', [weighed, net.integers([2])], { keepdims: 0 });
  const [near = '', far = ''] = net.split(distance, [2, 2]);
  const { centres, strides } = grid(side, places);
  const centre = net.floats(centres, [1, 2, places]);
  const from = net.node('Sub', [centre, near]);
  const to = net.node('Add', [centre, far]);
  const half = net.floats([0.5], [1]);
  const box = net.node(
    'Concat',
    [net.node('Mul', [net.node('Add', [from, to]), half]), net.node('Sub', [to, from])],
    { axis: 1 },
  );
  const pixels = net.node('Mul', [box, net.floats(strides, [1, 1, places])]);
  net.node('Concat', [pixels, net.node('Sigmoid', [kinds])], { axis: 1 }, 'output0');
  const model = net.encode(['images', [1, 3, side, side]], ['output0', [1, 4 + CLASSES, places]]);
  return { model, parameters: net.weights, flops, places };
}

/** The middle of each place in units of its stride, all x, then all y; and its stride. */
function grid(side: number, places: number): { centres: Float32Array; strides: Float32Array } {
  const centres = new Float32Array(2 * places);
  const strides = new Float32Array(places);
  let place = 0;
  for (const stride of STRIDES) {
    const cells = side / stride;
    for (let cell = 0; cell < cells * cells; cell++, place++) {
      centres[place] = (cell % cells) + 0.5;
      centres[places + place] = Math.floor(cell / cells) + 0.5;
      strides[place] = stride;
    }
  }
  return { centres, strides };
}

/** Numbers from 0 to 1 that look random (mulberry32). */
function noise(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}
