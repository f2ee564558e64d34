import { Tensor } from 'onnxruntime-node';
import type { ModelMeta } from '../../shared/schemas/vision.ts';
import type { RawPicture } from '../../shared/video/frame-client.ts';

/** What fills the input beside the picture, as in the training of YOLO; 0 to 255. */
const GREY = 114;
const UNIT = Float32Array.from({ length: 256 }, (_, value) => value / 255);

/** Where the picture lies in the input: pixels of the input = offset + pixels of the camera's picture * scale. */
export interface Placement {
  readonly x: number;
  readonly y: number;
  readonly scaleX: number;
  readonly scaleY: number;
}

/** The input tensor of a model, filled with one picture after the other: in the middle, with grey around it. */
export class Letterbox {
  readonly tensor: Tensor;
  readonly #input: ModelMeta['input'];
  readonly #data: Float32Array | Uint8Array;
  /** Size of the newest picture, as text: where it changes, the rest becomes grey again. */
  #size = '';

  constructor(input: ModelMeta['input']) {
    const { width, height, layout, type } = input;
    this.#input = input;
    this.#data = type === 'uint8' ? new Uint8Array(width * height * 3) : new Float32Array(width * height * 3);
    const dims = layout === 'nchw' ? [1, 3, height, width] : [1, height, width, 3];
    this.tensor =
      this.#data instanceof Uint8Array
        ? new Tensor('uint8', this.#data, dims)
        : new Tensor('float32', this.#data, dims);
  }

  /** @param picture not larger than the input */
  place({ header, pixels }: RawPicture): Placement {
    const { width, height, frame_width, frame_height } = header;
    const input = this.#input;
    const data = this.#data;
    const values = data instanceof Float32Array ? UNIT : null;
    const size = `${width}x${height}`;
    if (size !== this.#size) data.fill(values?.[GREY] ?? GREY);
    this.#size = size;
    const left = (input.width - width) >> 1;
    const top = (input.height - height) >> 1;
    const planar = input.layout === 'nchw';
    const step = planar ? 1 : 3;
    const channel = planar ? input.width * input.height : 1;
    for (let row = 0, from = 0; row < height; row++) {
      let to = ((top + row) * input.width + left) * step;
      for (let column = 0; column < width; column++, to += step) {
        for (let part = 0; part < 3; part++) {
          const value = pixels[from++] ?? 0;
          data[to + part * channel] = values === null ? value : (values[value] ?? 0);
        }
      }
    }
    return { x: left, y: top, scaleX: width / frame_width, scaleY: height / frame_height };
  }
}
