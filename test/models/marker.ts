import { Network } from './network.ts';

/** Of the input, pixels. */
export const MARKER_SIDE = 320;
/** The white cells of the clock and the letters are lower than this in a picture that fits the input; the marker is not. */
const TALL = 19;
// Red + green + blue of white is 3, of the grey bar 2.25: half-way, as a pixel at the edge is half of each.
const WHITE = 2.62;

/**
 * A network that finds the white bar of the test picture: which pixels are white, which of them belong to something tall (the
 * opening of morphology: a minimum, then a maximum over a column), and the first and last row and column of those. Output as
 * YOLOv8's, with one place: [1, 5, 1], centre x and y, width, height in pixels of the input, and 1 or 0.
 */
export function markerModel(): Uint8Array {
  const side = MARKER_SIDE;
  const net = new Network();
  const sum = net.node('Conv', ['images', net.floats([1, 1, 1], [1, 3, 1, 1])]);
  const isWhite = net.node('Cast', [net.node('Greater', [sum, net.floats([WHITE], [1])])], { to: 1 });
  const column = { kernel_shape: [TALL, 1], pads: [TALL >> 1, 0, TALL >> 1, 0] };
  const least = net.node('Neg', [net.node('MaxPool', [net.node('Neg', [isWhite])], column)]);
  const tall = net.node('MaxPool', [least], column);

  const most = (of: string): string => net.node('ReduceMax', [of], { axes: [2, 3], keepdims: 0 });
  const count = Array.from({ length: side }, (_, index) => index + 1);
  /** First and one past the last place along an axis, [1, 1] each. */
  const ends = (shape: readonly number[]): readonly [string, string] => {
    const up = net.floats(count, shape);
    const down = net.floats(count.toReversed(), shape);
    const last = most(net.node('Mul', [tall, up]));
    const fromEnd = most(net.node('Mul', [tall, down]));
    return [net.node('Sub', [net.floats([side], [1]), fromEnd]), last];
  };
  const half = net.floats([0.5], [1]);
  const middle = ([first, last]: readonly [string, string]): string =>
    net.node('Mul', [net.node('Add', [first, last]), half]);
  const extent = ([first, last]: readonly [string, string]): string => net.node('Sub', [last, first]);
  const across = ends([1, 1, 1, side]);
  const down = ends([1, 1, side, 1]);
  const parts = [middle(across), middle(down), extent(across), extent(down), most(tall)];
  const row = net.node('Concat', parts, { axis: 1 });
  net.node('Reshape', [row, net.integers([1, 5, 1])], {}, 'output0');
  return net.encode(['images', [1, 3, side, side]], ['output0', [1, 5, 1]]);
}
