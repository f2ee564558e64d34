import { randomFillSync } from 'node:crypto';
import { InferenceSession } from 'onnxruntime-node';
import { messageOf } from '../../shared/errors.ts';
import type { ModelMeta, ModelMetadata } from '../../shared/schemas/vision.ts';
import type { RawPicture } from '../../shared/video/frame-client.ts';
import { type Candidate, ModelError, type Outputs, type Reading, readingOf } from './heads.ts';
import { Letterbox, type Placement } from './letterbox.ts';
import { suppress } from './overlap.ts';
import type { DetectedBox } from './tracker.ts';

/** Boxes of one class that share more than this are one thing. */
const SAME = 0.45;
const FATAL = 4;

type ModelShape = Pick<ModelMetadata, 'head' | 'classes' | 'input_w' | 'input_h'>;

/** A network that is loaded, and how its output is read. One run at a time. */
export class Model {
  readonly input: ModelMeta['input'];
  readonly outputs: ModelMeta['outputs'];
  readonly #session: InferenceSession;
  readonly #letterbox: Letterbox;
  readonly #reading: Reading;
  /** The outputs of the first run, filled again by each other one; null where their size may change. */
  readonly #fetches: Outputs | null;

  private constructor(
    session: InferenceSession,
    input: ModelMeta['input'],
    letterbox: Letterbox,
    first: Outputs,
    wanted: ModelShape,
  ) {
    this.#session = session;
    this.input = input;
    this.#letterbox = letterbox;
    this.#reading = readingOf(wanted.head, first, input, wanted.classes?.length ?? 0);
    this.outputs = session.outputMetadata.map((output) => ({
      name: output.name,
      shape: output.isTensor
        ? output.shape.map((side) => (typeof side === 'number' && side >= 0 ? side : null))
        : [],
    }));
    const isFixed = this.outputs.every(({ shape }) => shape.length > 0 && !shape.includes(null));
    this.#fetches = isFixed ? first : null;
  }

  /**
   * Loads it and runs it once, on noise.
   * @param bytes the ONNX file; from memory, so that nothing beside it can be read
   * @throws ModelError in words, whatever is wrong with it
   */
  static async open(bytes: Uint8Array, wanted: ModelShape, threads: number): Promise<Model> {
    const session = await InferenceSession.create(bytes, {
      executionProviders: ['cpu'],
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      // Its own messages are in the error that it throws.
      logSeverityLevel: FATAL,
      // A thread that waits by spinning takes a core from the others.
      extra: { session: { intra_op: { allow_spinning: '0' }, inter_op: { allow_spinning: '0' } } },
    }).catch((error: unknown) => refuse('The model cannot be loaded', error));
    try {
      const input = inputOf(session.inputMetadata, wanted);
      const letterbox = new Letterbox(input);
      letterbox.place(noise(input.width, input.height));
      const first = await runOf(session, { [input.name]: letterbox.tensor }, null);
      return new Model(session, input, letterbox, first, wanted);
    } catch (error) {
      await session.release();
      throw error;
    }
  }

  /** How many classes the output has; null: it does not say. */
  get classes(): number | null {
    return this.#reading.classes;
  }

  /** The inference alone, on the picture that was filled in last. */
  async infer(): Promise<Outputs> {
    return runOf(this.#session, { [this.input.name]: this.#letterbox.tensor }, this.#fetches);
  }

  /** @returns where the picture lies in the input */
  place(picture: RawPicture): Placement {
    return this.#letterbox.place(picture);
  }

  /**
   * What is in the picture, best first, in pixels of the camera's picture and within it.
   * @param least score @param limit how many
   */
  read(
    outputs: Outputs,
    { x, y, scaleX, scaleY }: Placement,
    picture: RawPicture,
    least: number,
    limit: number,
  ): DetectedBox[] {
    const { frame_width, frame_height } = picture.header;
    const candidates = this.#reading.read(outputs, least).filter(isBox);
    return suppress(candidates, SAME, limit).flatMap((box) => {
      const left = clip((box.x - x) / scaleX, frame_width);
      const top = clip((box.y - y) / scaleY, frame_height);
      const width = clip((box.x + box.width - x) / scaleX, frame_width) - left;
      const height = clip((box.y + box.height - y) / scaleY, frame_height) - top;
      return width > 0 && height > 0 ? [{ ...box, x: left, y: top, width, height }] : [];
    });
  }

  async release(): Promise<void> {
    await this.#session.release();
  }
}

/** A picture of random pixels. */
export function noise(width: number, height: number): RawPicture {
  return {
    header: {
      frame_id: 0,
      captured_at_ms: 0,
      at_us: 0,
      frame_width: width,
      frame_height: height,
      width,
      height,
    },
    pixels: randomFillSync(Buffer.allocUnsafe(width * height * 3)),
  };
}

async function runOf(
  session: InferenceSession,
  feeds: InferenceSession.FeedsType,
  fetches: Outputs | null,
): Promise<Outputs> {
  const run = fetches === null ? session.run(feeds) : session.run(feeds, fetches);
  // All tensors: sequences and maps are refused by `readingOf`, as they have no sides.
  return run.catch((error: unknown) => refuse('The model cannot be run', error));
}

function refuse(what: string, error: unknown): never {
  // onnxruntime repeats the place in its own source first.
  const words = messageOf(error)
    .replace(/^.*?\.(?:cc|h):\d+ /s, '')
    .replace(/\s+/g, ' ')
    .slice(0, 300);
  throw new ModelError(`${what}: ${words}`, { cause: error });
}

function inputOf(inputs: readonly InferenceSession.ValueMetadata[], wanted: ModelShape): ModelMeta['input'] {
  const [input] = inputs;
  if (input === undefined || inputs.length !== 1)
    throw new ModelError(`The model has ${inputs.length} inputs; it must have one, the picture.`);
  if (!input.isTensor) throw new ModelError(`The input ${input.name} is not a tensor.`);
  const { name, type, shape } = input;
  const words = `[${shape.join(', ')}]`;
  if (type !== 'float32' && type !== 'uint8')
    throw new ModelError(`The input ${name} is of ${type}; it must be float32 or uint8.`);
  const layout = shape[1] === 3 ? 'nchw' : shape[3] === 3 ? 'nhwc' : null;
  if (shape.length !== 4 || layout === null)
    throw new ModelError(
      `The input ${name} is ${words}; it must be [1, 3, height, width] or [1, height, width, 3].`,
    );
  const fits = (side: number | string | undefined, expected: number): boolean =>
    typeof side !== 'number' || side < 0 || side === expected;
  const [height, width] = layout === 'nchw' ? shape.slice(2) : shape.slice(1);
  if (!fits(shape[0], 1) || !fits(width, wanted.input_w) || !fits(height, wanted.input_h))
    throw new ModelError(
      `The input ${name} is ${words}; the metadata say one picture of ${wanted.input_w}x${wanted.input_h}.`,
    );
  return { name, width: wanted.input_w, height: wanted.input_h, layout, type };
}

function isBox({ x, y, width, height }: Candidate): boolean {
  return Number.isFinite(x + y) && width > 0 && height > 0 && Number.isFinite(width * height);
}

function clip(value: number, most: number): number {
  return Math.min(most, Math.max(0, value));
}
