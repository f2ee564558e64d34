import { atRate } from '../../../shared/media/at-rate.ts';
import { blankFrame } from '../../../shared/media/av.ts';
import { instant, type VideoClock } from '../../../shared/media/picture.ts';
import type { SourceSink, VideoSource } from './source.ts';
import { TestPicture } from './test-picture.ts';

/** The moving test picture with its clock, at a steady rate, instead of a camera. */
export class TestSource implements VideoSource {
  readonly name = 'bars';
  readonly #clock: VideoClock;
  readonly #size: { readonly width: number; readonly height: number; readonly fps: number };

  constructor(
    clock: VideoClock,
    size: { readonly width: number; readonly height: number; readonly fps: number },
  ) {
    this.#clock = clock;
    this.#size = size;
  }

  async run(sink: SourceSink, signal: AbortSignal): Promise<void> {
    const { width, height, fps } = this.#size;
    const picture = new TestPicture(width, height);
    await atRate(this.#clock, fps, signal, (number) => {
      const now = instant(this.#clock);
      if (!sink.wants(now.at)) return;
      using frame = blankFrame(this.#size);
      const [y, u, v] = frame.data ?? [];
      if (y === undefined || u === undefined || v === undefined)
        throw new Error('no memory for the test picture');
      const [strideY = 0, strideU = 0, strideV = 0] = frame.linesize;
      picture.draw({ y, u, v, strides: [strideY, strideU, strideV] }, now.capturedAt, number);
      sink.onPicture({ frame, ...now });
    });
  }
}
