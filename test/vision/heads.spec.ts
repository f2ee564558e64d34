import { expect } from 'chai';
import { Tensor } from 'onnxruntime-node';
import { type Candidate, ModelError, type Outputs, readingOf } from '../../residual/vision/heads.ts';
import { Letterbox } from '../../residual/vision/letterbox.ts';
import { overlap, suppress } from '../../residual/vision/overlap.ts';
import type { Head, ModelMeta } from '../../shared/schemas/vision.ts';

const INPUT = { width: 100, height: 200 };
const float = (values: readonly number[], dims: readonly number[]): Tensor =>
  new Tensor('float32', Float32Array.from(values), dims);

/** Twenty places with nothing, but for the one in the third: rows of numbers a place. */
function places(something: readonly number[]): number[][] {
  return Array.from({ length: 20 }, (_, place) => (place === 2 ? [...something] : something.map(() => 0)));
}
const turned = (rows: readonly (readonly number[])[]): number[] =>
  (rows[0] ?? []).flatMap((_, column) => rows.map((row) => row[column] ?? 0));

function read(head: Head, outputs: Outputs, classes = 0): Candidate[] {
  return readingOf(head, outputs, INPUT, classes)
    .read(outputs, 0.3)
    .map((box) => {
      const rounded = Object.entries(box).map(([name, value]) => [name, Math.round(value * 100) / 100]);
      return Object.fromEntries(rounded) as typeof box;
    });
}

const BOX = { x: 20, y: 40, width: 20, height: 40, kind: 1, score: 0.6 };

describe('heads', () => {
  it('yolov8: numbers by places, or places by numbers', () => {
    const rows = places([30, 60, 20, 40, 0.1, 0.6, 0.2]);
    expect(read('yolov8', { out: float(turned(rows), [1, 7, 20]) })).to.deep.equal([BOX]);
    expect(read('yolov8', { out: float(rows.flat(), [1, 20, 7]) })).to.deep.equal([BOX]);
    expect(read('yolov8', { out: float(rows.flat(), [1, 20, 7]) }, 3)).to.deep.equal([BOX]);
    expect(() => read('yolov8', { out: float(rows.flat(), [1, 20, 7]) }, 4)).to.throw(
      ModelError,
      /8 numbers/,
    );
  });

  it('yolov5: the score is that of the class, times how sure it is that there is something', () => {
    const rows = places([30, 60, 20, 40, 0.75, 0.1, 0.8]);
    expect(read('yolov5', { out: float(rows.flat(), [1, 20, 7]) })).to.deep.equal([BOX]);
    expect(read('yolov5', { out: float(turned(rows), [1, 7, 20]) })).to.deep.equal([BOX]);
  });

  it('ssd of TensorFlow: parts of the picture, top first, and only as many as it says', () => {
    const outputs = {
      detection_boxes: float([0.2, 0.2, 0.4, 0.4, 0, 0, 1, 1], [1, 2, 4]),
      detection_classes: float([1, 1], [1, 2]),
      detection_scores: float([0.6, 0.9], [1, 2]),
      num_detections: float([1], [1]),
    };
    expect(read('ssd', outputs)).to.deep.equal([BOX]);
    const { detection_boxes: a, detection_classes: b, detection_scores: c, num_detections: d } = outputs;
    expect(read('ssd', { 'x:0': a, 'x:1': b, 'x:2': c, 'x:3': d })).to.deep.equal([BOX]);
  });

  it('ssd of torchvision: pixels, left first', () => {
    const labels = new Tensor('int64', BigInt64Array.from([1n]), [1]);
    const outputs = { boxes: float([20, 40, 40, 80], [1, 4]), labels, scores: float([0.6], [1]) };
    expect(read('ssd', outputs)).to.deep.equal([BOX]);
  });

  it('numbers that are none are no detection', () => {
    const rows = places([30, 60, 20, 40, Number.NaN, Number.NaN]);
    expect(read('yolov8', { out: float(turned(rows), [1, 6, 20]) })).to.deep.equal([]);
  });

  it('of boxes that overlap, the best of each class is kept', () => {
    const box = (x: number, kind: number, score: number): Candidate => ({ ...BOX, x, kind, score });
    const kept = suppress([box(20, 1, 0.5), box(22, 1, 0.9), box(21, 2, 0.4), box(60, 1, 0.3)], 0.45, 3);
    expect(kept.map(({ score }) => score)).to.deep.equal([0.9, 0.4, 0.3]);
  });

  it('a picture lies in the middle of the input, and grey comes back where a narrower one follows', () => {
    const input: ModelMeta['input'] = { name: 'i', width: 8, height: 6, layout: 'nhwc', type: 'uint8' };
    const letterbox = new Letterbox(input);
    const place = (width: number, height: number): ReturnType<Letterbox['place']> =>
      letterbox.place({
        header: {
          frame_id: 1,
          captured_at_ms: 0,
          at_us: 0,
          frame_width: 80,
          frame_height: 40,
          width,
          height,
        },
        pixels: Buffer.alloc(width * height * 3, 7),
      });
    expect(place(8, 4)).to.deep.equal({ x: 0, y: 1, scaleX: 0.1, scaleY: 0.1 });
    expect(place(4, 6)).to.deep.equal({ x: 2, y: 0, scaleX: 0.05, scaleY: 0.15 });
    const row = Array.from(letterbox.tensor.data.slice(0, 24), Number);
    expect(row.join()).to.equal(
      [6, 12, 6]
        .map((count, part) => `${part === 1 ? 7 : 114},`.repeat(count))
        .join('')
        .slice(0, -1),
    );
  });

  it('overlap counts what is common of all that is covered', () => {
    const box = { x: 0, y: 0, width: 10, height: 10 };
    expect(overlap(box, box)).to.equal(1);
    expect(overlap(box, { ...box, x: 5 })).to.be.closeTo(1 / 3, 1e-9);
    expect(overlap(box, { ...box, x: 12 })).to.equal(0);
    expect(overlap(box, { ...box, x: 12 }, 2)).to.be.closeTo(28 / 364, 1e-9);
  });
});
